import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CorrelationMatrix, correlationMatrix } from '#core/figures/correlation.ts'
import { diversification } from '#core/figures/diversification.ts'
import { isUndefined, undefinedBecause } from '#core/figures/figure.ts'
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

describe('diversification', () => {
  test('mean, extremes and effective bets are over all pairs', () => {
    const figures = diversify([1, 0.5, -0.25], [0.5, 1, 0.5], [-0.25, 0.5, 1])
    expect(figures).toEqual({
      n_strategies_used: 3,
      mean_correlation: 0.25,
      most_correlated: { pair: ['oak', 'elm'], correlation: 0.5, overlap: 100 }, // a tie: the first pair in order
      least_correlated: { pair: ['oak', 'ash'], correlation: -0.25, overlap: 100 },
      effective_bets: 2,
    })
  })

  test('a negative mean leaves as many bets as strategies', () => {
    expect(diversify([1, -0.5], [-0.5, 1]).effective_bets).toBe(2)
  })

  test('a flat strategy does not exclude the others, but a pair without overlap excludes both', () => {
    const flat = diversify([1, NONE, 0.5], [NONE, NONE, NONE], [0.5, NONE, 1])
    expect(flat).toMatchObject({ n_strategies_used: 2, mean_correlation: 0.5 })
    expect(flat.most_correlated).toMatchObject({ pair: ['oak', 'ash'] })
    const apart = diversify([1, NONE, 0.5, 0.1], [NONE, 1, 0.5, 0.1], [0.5, 0.5, 1, 0.2], [0.1, 0.1, 0.2, 1])
    expect(apart).toMatchObject({ n_strategies_used: 2, mean_correlation: 0.2 })
    expect(apart.most_correlated).toMatchObject({ pair: ['ash', 'fir'] })
  })

  test('fewer than two usable strategies have no figures; a book of one is one bet', () => {
    const two = diversify([1, NONE], [NONE, NONE])
    expect(two).toMatchObject({
      n_strategies_used: 1,
      mean_correlation: TOO_FEW,
      most_correlated: TOO_FEW,
      least_correlated: TOO_FEW,
      effective_bets: TOO_FEW,
    })
    expect(diversify([NONE]).effective_bets).toBe(1)
    expect(diversify().effective_bets).toEqual(TOO_FEW)
  })

  test('effective bets are between 1 and the number of strategies used', () => {
    fc.assert(
      fc.property(bookOf(2, 8), series => {
        const { effective_bets, n_strategies_used } = diversification(correlationMatrix(series), IDS)
        if (isUndefined(effective_bets)) expect(n_strategies_used).toBeLessThan(2)
        else {
          expect(effective_bets).toBeGreaterThanOrEqual(1 - 1e-12)
          expect(effective_bets).toBeLessThanOrEqual(n_strategies_used)
        }
      }),
      { numRuns: 60 },
    )
  })
})
