import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CorrelationMatrix, correlationMatrix } from '#core/figures/correlation.ts'
import { diversification, effectiveBetsAlternatives, usedSeries } from '#core/figures/diversification.ts'
import { isUndefined, undefinedBecause } from '#core/figures/figure.ts'
import { bookOf } from './arbitraries.ts'

const TOO_FEW = undefinedBecause('too_few_points')
const NONE = Number.NaN

const matrixOf = (...rows: number[][]): CorrelationMatrix => ({
  size: rows.length,
  rho: Float64Array.from(rows.flat()),
  overlap: new Int32Array(rows.length ** 2).fill(100),
})

describe('diversification', () => {
  test('mean, extremes and effective bets are over all pairs', () => {
    const figures = diversification(matrixOf([1, 0.5, -0.25], [0.5, 1, 0.5], [-0.25, 0.5, 1]))
    expect(figures).toEqual({
      n_strategies: 3,
      n_strategies_used: 3,
      mean_pairwise: 0.25,
      most_correlated: { a: 0, b: 1, rho: 0.5, overlap: 100 }, // a tie: the first pair in order
      least_correlated: { a: 0, b: 2, rho: -0.25, overlap: 100 },
      effective_bets: 2,
    })
  })

  test('a negative mean leaves as many bets as strategies', () => {
    expect(diversification(matrixOf([1, -0.5], [-0.5, 1])).effective_bets).toBe(2)
  })

  test('a flat strategy does not take the others out, but a pair without overlap takes out both of it', () => {
    const flat = matrixOf([1, NONE, 0.5], [NONE, NONE, NONE], [0.5, NONE, 1])
    expect(usedSeries(flat)).toEqual([0, 2])
    expect(diversification(flat).mean_pairwise).toBe(0.5)
    const apart = matrixOf([1, NONE, 0.5, 0.1], [NONE, 1, 0.5, 0.1], [0.5, 0.5, 1, 0.2], [0.1, 0.1, 0.2, 1])
    expect(usedSeries(apart)).toEqual([2, 3])
    expect(diversification(apart)).toMatchObject({
      n_strategies: 4,
      n_strategies_used: 2,
      mean_pairwise: 0.2,
    })
  })

  test('fewer than two usable strategies have no figures; a book of one is one bet', () => {
    const two = diversification(matrixOf([1, NONE], [NONE, NONE]))
    expect(two).toMatchObject({
      n_strategies_used: 1,
      mean_pairwise: TOO_FEW,
      most_correlated: TOO_FEW,
      least_correlated: TOO_FEW,
      effective_bets: TOO_FEW,
    })
    expect(diversification(matrixOf([NONE])).effective_bets).toBe(1)
    expect(diversification(matrixOf()).effective_bets).toEqual(TOO_FEW)
    expect(effectiveBetsAlternatives(matrixOf([1, NONE], [NONE, NONE])).min_eigenvalue).toEqual(TOO_FEW)
  })

  test('effective bets lie between 1 and the number of strategies used', () => {
    fc.assert(
      fc.property(bookOf(2, 8), series => {
        const { effective_bets, n_strategies_used } = diversification(correlationMatrix(series))
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

describe('alternatives to effective bets', () => {
  test('of independent strategies all say N, of identical ones all say 1', () => {
    const independent = effectiveBetsAlternatives(matrixOf([1, 0, 0], [0, 1, 0], [0, 0, 1]))
    expect(independent.raw_uncapped).toBe(3)
    expect(independent.participation_ratio).toBe(3)
    expect(independent.effective_rank_entropy).toBeCloseTo(3, 12)
    expect(independent.min_eigenvalue).toBeCloseTo(1, 14)
    const identical = effectiveBetsAlternatives(matrixOf([1, 1], [1, 1]))
    expect(identical.raw_uncapped).toBe(1)
    expect(identical.participation_ratio).toBe(1)
    expect(identical.effective_rank_entropy).toBeCloseTo(1, 12)
    expect(identical.min_eigenvalue).toBeCloseTo(0, 14)
  })

  test('opposite strategies have no uncapped number, and overlaps that contradict each other a negative eigenvalue', () => {
    expect(effectiveBetsAlternatives(matrixOf([1, -1], [-1, 1])).raw_uncapped).toEqual(
      undefinedBecause('zero_denominator'),
    )
    const impossible = matrixOf([1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1])
    expect(effectiveBetsAlternatives(impossible).min_eigenvalue).toBeLessThan(-0.5)
  })
})
