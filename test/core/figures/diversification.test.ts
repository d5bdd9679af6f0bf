import { expect, test } from 'vitest'
import { type CorrelationMatrix, correlationMatrix } from '#core/figures/correlation.ts'
import { diversification } from '#core/figures/diversification.ts'
import { isUndefined, undefinedBecause } from '#core/figures/figure.ts'
import { forAll } from '#test/support/for-all.ts'
import { bookOf } from './arbitraries.ts'

const TOO_FEW = undefinedBecause('too_few_points')
const NONE = Number.NaN

const IDS = ['oak', 'elm', 'ash', 'fir', 'yew', 'bay', 'box', 'may']

const diversify = (...rows: number[][]) => diversification(matrixOf(rows), IDS)

const matrixOf = (rows: number[][]): CorrelationMatrix => ({
  size: rows.length,
  rho: Float64Array.from(rows.flat()),
  overlap: new Int32Array(rows.length ** 2).fill(100),
})

test('mean correlation, extreme pairs and effective bets are over all pairs', () => {
  const figures = diversify([1, 0.5, -0.25], [0.5, 1, 0.5], [-0.25, 0.5, 1])
  expect(figures).toEqual({
    n_strategies_used: 3,
    mean_correlation: 0.25,
    most_correlated: { pair: ['oak', 'elm'], correlation: 0.5, overlap: 100 }, // a tie: the first pair in order
    least_correlated: { pair: ['oak', 'ash'], correlation: -0.25, overlap: 100 },
    effective_bets: 2,
    coverage: { pairs: 3, pairs_defined: 3 },
  })
})

test('a negative mean correlation leaves as many bets as strategies', () => {
  expect(diversify([1, -0.5], [-0.5, 1]).effective_bets).toBe(2)
})

test('a flat strategy costs the diversification its own pairs alone', () => {
  const flat = diversify([1, NONE, 0.5], [NONE, NONE, NONE], [0.5, NONE, 1])
  expect(flat).toMatchObject({
    n_strategies_used: 2,
    mean_correlation: 0.5,
    coverage: { pairs: 3, pairs_defined: 1 },
  })
  expect(flat.most_correlated).toMatchObject({ pair: ['oak', 'ash'] })
})

test('a pair without overlap costs the diversification that pair alone', () => {
  const apart = diversify([1, NONE, 0.5, 0.1], [NONE, 1, 0.5, 0.1], [0.5, 0.5, 1, 0.2], [0.1, 0.1, 0.2, 1])
  expect(apart).toMatchObject({ n_strategies_used: 4, coverage: { pairs: 6, pairs_defined: 5 } })
  expect(apart.mean_correlation).toBeCloseTo((0.5 + 0.1 + 0.5 + 0.1 + 0.2) / 5, 15)
  expect(apart.most_correlated).toMatchObject({ pair: ['oak', 'ash'] })
})

test('a strategy that shares no days with the others changes none of their figures of diversification', () => {
  const { coverage: _, ...three } = diversify([1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1])
  const { coverage, ...four } = diversify(
    [1, 0.5, 0.2, NONE],
    [0.5, 1, 0.1, NONE],
    [0.2, 0.1, 1, NONE],
    [NONE, NONE, NONE, 1],
  )
  expect(four).toEqual(three)
  expect(coverage).toEqual({ pairs: 6, pairs_defined: 3 })
})

test('a book without a pair has no figures of diversification, and a book of one is one bet', () => {
  const nothing = {
    mean_correlation: TOO_FEW,
    most_correlated: TOO_FEW,
    least_correlated: TOO_FEW,
    effective_bets: TOO_FEW,
    coverage: { pairs: 1, pairs_defined: 0 },
  }
  expect(diversify([1, NONE], [NONE, NONE])).toEqual({ ...nothing, n_strategies_used: 1 })
  expect(diversify([1, NONE], [NONE, 1])).toEqual({ ...nothing, n_strategies_used: 2 })
  expect(diversify([NONE]).effective_bets).toBe(1)
  expect(diversify().effective_bets).toEqual(TOO_FEW)
})

test('effective bets are between 1 and the number of strategies used', () => {
  forAll(60, bookOf(2, 8), series => {
    const { effective_bets, n_strategies_used, coverage } = diversification(correlationMatrix(series), IDS)
    if (isUndefined(effective_bets)) expect(coverage.pairs_defined).toBe(0)
    else {
      expect(effective_bets).toBeGreaterThanOrEqual(1 - 1e-12)
      expect(effective_bets).toBeLessThanOrEqual(n_strategies_used)
    }
  })
})
