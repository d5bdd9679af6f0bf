import type { CorrelationMatrix } from './correlation.ts'
import { type Figure, mapFigure, undefinedBecause } from './figure.ts'

/**
 * To what extent the strategies of a book are different bets, from their correlation matrix, whose rows are
 * the strategies of `ids` in this order.
 *
 * Mean and extremes are taken over the pairs that have a correlation, so that a strategy that shares no days with some
 * others costs its own pairs with them and no more. `N`, the number of strategies used, counts those in at least one
 * such pair. Effective bets, `N / (1 + (N - 1) * max(mean correlation, 0))`, are the number of independent strategies
 * that would spread risk as well. The extremes are those of the signed correlation; of equal ones, the first pair in
 * the order of the matrix. Without such a pair all are undefined (`too_few_points`), except that a matrix of one is one
 * bet, and `N` counts the strategies that are neither flat nor too short.
 */
export function diversification(matrix: CorrelationMatrix, ids: readonly string[]) {
  const { size } = matrix
  const { defined, sum, used, most, least } = passOverPairs(matrix)
  const mean_correlation: Figure = defined === 0 ? undefinedBecause('too_few_points') : sum / defined
  const n_strategies_used = defined === 0 ? countSound(matrix) : used
  const betsOf = (mean: number) => n_strategies_used / (1 + (n_strategies_used - 1) * Math.max(mean, 0))
  return {
    n_strategies_used,
    mean_correlation,
    most_correlated: pairOf(matrix, ids, most),
    least_correlated: pairOf(matrix, ids, least),
    effective_bets: size === 1 ? 1 : mapFigure(mean_correlation, betsOf),
    coverage: { pairs: (size * (size - 1)) / 2, pairs_defined: defined },
  }
}

/**
 * What one pass over the pairs that have a correlation finds, in the order of the matrix: their number and sum, the strategies
 * in them, and the cells of the extremes, -1 without any. A large book has too many pairs for an object each.
 */
function passOverPairs({ size, rho }: CorrelationMatrix) {
  const isUsed = new Uint8Array(size)
  let [defined, sum, most, least] = [0, 0, -1, -1]
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) {
      const cell = a * size + b
      const correlation = rho[cell]!
      if (Number.isNaN(correlation)) continue
      defined++
      sum += correlation
      isUsed[a] = 1
      isUsed[b] = 1
      if (most < 0 || correlation > rho[most]!) most = cell
      if (least < 0 || correlation < rho[least]!) least = cell
    }
  }
  return { defined, sum, most, least, used: isUsed.reduce((count, is) => count + is, 0) }
}

/** A pair of strategies by their ids, and in `overlap` the points that both have. */
function pairOf({ size, rho, overlap }: CorrelationMatrix, ids: readonly string[], cell: number) {
  if (cell < 0) return undefinedBecause('too_few_points')
  const pair = [ids[Math.floor(cell / size)]!, ids[cell % size]!] as const
  return { pair, correlation: rho[cell]!, overlap: overlap[cell]! }
}

/** On the diagonal, NaN means that the series is flat or too short. */
function countSound({ size, rho }: CorrelationMatrix): number {
  let count = 0
  for (let i = 0; i < size; i++) if (!Number.isNaN(rho[i * size + i]!)) count++
  return count
}
