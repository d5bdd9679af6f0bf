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
 * A strategy counts if it is neither flat nor too short and has a correlation with every other such strategy;
 * so one flat strategy does not exclude the others. Mean, extremes and effective bets are taken over the
 * strategies that count; effective bets, `N / (1 + (N - 1) * max(mean correlation, 0))`, are the number of
 * independent strategies that would spread risk as well. The extremes are those of the signed correlation; of
 * equal ones, the first pair in the order of the matrix. With fewer than two such strategies all are
 * undefined (`too_few_points`), except that a matrix of one is one bet.
 */
export function diversification(matrix: CorrelationMatrix, ids: readonly string[]) {
  const used = usedStrategies(matrix)
  const pairs = pairsOf(matrix, used, ids)
  const mean_correlation = meanOf(pairs)
  return {
    n_strategies_used: used.length,
    mean_correlation,
    most_correlated: extreme(pairs, (rho, best) => rho > best),
    least_correlated: extreme(pairs, (rho, best) => rho < best),
    effective_bets:
      matrix.size === 1
        ? 1
        : mapFigure(mean_correlation, mean => used.length / (1 + (used.length - 1) * Math.max(mean, 0))),
  }
}

function usedStrategies({ size, rho }: CorrelationMatrix): number[] {
  const sound = Array.from({ length: size }, (_, i) => i).filter(i => !Number.isNaN(rho[i * size + i]!))
  return sound.filter(i => sound.every(j => !Number.isNaN(rho[i * size + j]!)))
}

/** The pairs of the used strategies, in the order of the matrix. */
function pairsOf(
  { size, rho, overlap }: CorrelationMatrix,
  used: readonly number[],
  ids: readonly string[],
): NamedPair[] {
  const pair = (a: number, b: number): NamedPair => ({
    pair: [ids[a]!, ids[b]!],
    correlation: rho[a * size + b]!,
    overlap: overlap[a * size + b]!,
  })
  return used.flatMap((a, position) => used.slice(position + 1).map(b => pair(a, b)))
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
