import type { CorrelationMatrix } from './correlation.ts'
import { type Figure, mapFigure, type Undefined, undefinedBecause } from './figure.ts'

/** A pair of strategies by their ids. */
export type NamedPair = {
  readonly pair: readonly [string, string]
  readonly correlation: number
  /** Points that both have. */
  readonly overlap: number
}

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
  const pairs = definedPairs(matrix, ids)
  const mean_correlation = meanOf(pairs)
  const used = pairs.length === 0 ? countSound(matrix) : countNamed(pairs)
  return {
    n_strategies_used: used,
    mean_correlation,
    most_correlated: extreme(pairs, (rho, best) => rho > best),
    least_correlated: extreme(pairs, (rho, best) => rho < best),
    effective_bets:
      size === 1 ? 1 : mapFigure(mean_correlation, mean => used / (1 + (used - 1) * Math.max(mean, 0))),
    coverage: { pairs: (size * (size - 1)) / 2, pairs_defined: pairs.length },
  }
}

/** The pairs that have a correlation, in the order of the matrix. */
function definedPairs({ size, rho, overlap }: CorrelationMatrix, ids: readonly string[]): NamedPair[] {
  const pairs: NamedPair[] = []
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) {
      const cell = a * size + b
      const correlation = rho[cell]!
      if (Number.isNaN(correlation)) continue
      pairs.push({ pair: [ids[a]!, ids[b]!], correlation, overlap: overlap[cell]! })
    }
  }
  return pairs
}

const countNamed = (pairs: readonly NamedPair[]): number => new Set(pairs.flatMap(({ pair }) => pair)).size

/** On the diagonal, NaN means that the series is flat or too short. */
function countSound({ size, rho }: CorrelationMatrix): number {
  let count = 0
  for (let i = 0; i < size; i++) if (!Number.isNaN(rho[i * size + i]!)) count++
  return count
}

function meanOf(pairs: readonly NamedPair[]): Figure {
  if (pairs.length === 0) return undefinedBecause('too_few_points')
  let sum = 0
  for (const { correlation } of pairs) sum += correlation
  return sum / pairs.length
}

function extreme(
  pairs: readonly NamedPair[],
  isBetter: (rho: number, best: number) => boolean,
): NamedPair | Undefined {
  let best = pairs[0]
  for (const pair of pairs) {
    if (best !== undefined && isBetter(pair.correlation, best.correlation)) best = pair
  }
  return best ?? undefinedBecause('too_few_points')
}
