import type { CorrelationMatrix } from './correlation.ts'
import { symmetricEigenvalues } from './eigenvalues.ts'
import {
  type Figure,
  isUndefined,
  mapFigure,
  NEGLIGIBLE,
  type Undefined,
  undefinedBecause,
} from './figure.ts'

/** A pair of strategies by their ids. */
export type NamedPair = {
  readonly pair: readonly [string, string]
  readonly correlation: number
  /** Points that both have. */
  readonly overlap: number
}

/** How far the strategies of a book are different bets; the pairs by id. */
export type DiversificationFigures = {
  readonly n_strategies_used: number
  readonly mean_correlation: Figure
  readonly most_correlated: NamedPair | Undefined
  readonly least_correlated: NamedPair | Undefined
  readonly effective_bets: Figure
}

/** The diversification of a matrix, whose rows are the strategies of `ids` in this order. */
export function diversificationFigures(
  matrix: CorrelationMatrix,
  ids: readonly string[],
): DiversificationFigures {
  const { n_strategies_used, mean_pairwise, most_correlated, least_correlated, effective_bets } =
    diversification(matrix)
  return {
    n_strategies_used,
    mean_correlation: mean_pairwise,
    most_correlated: toNamed(most_correlated, ids),
    least_correlated: toNamed(least_correlated, ids),
    effective_bets,
  }
}

const toNamed = (found: CorrelatedPair | Undefined, ids: readonly string[]): NamedPair | Undefined =>
  isUndefined(found)
    ? found
    : { pair: [ids[found.a]!, ids[found.b]!], correlation: found.rho, overlap: found.overlap }

/** A pair of a matrix by the positions of its two series, `a < b`. */
export type CorrelatedPair = {
  readonly a: number
  readonly b: number
  readonly rho: number
  readonly overlap: number
}

export type Diversification = {
  readonly n_strategies: number
  /** The N of the formulas: see `usedSeries`. */
  readonly n_strategies_used: number
  readonly mean_pairwise: Figure
  readonly most_correlated: CorrelatedPair | Undefined
  readonly least_correlated: CorrelatedPair | Undefined
  readonly effective_bets: Figure
}

/** Other measures of the same thing. */
export type EffectiveBetsAlternatives = {
  /** `N / (1 + (N - 1) * mean rho)`: without the cap at N that a negative mean would break. */
  readonly raw_uncapped: Figure
  /** `N^2 / sum(C_ij^2)`: the number of equal eigenvalues with the same concentration. */
  readonly participation_ratio: Figure
  /** `exp(-sum(p ln p))` over `p = eigenvalue / N`. Source: Roy and Vetterli, The Effective Rank, 2007. */
  readonly effective_rank_entropy: Figure
  /** May be negative: overlaps differ from pair to pair, so the matrix need not be positive semidefinite. */
  readonly min_eigenvalue: Figure
}

/**
 * How far the series of a matrix are different bets. Mean, extremes and effective bets,
 * `N / (1 + (N - 1) * max(mean rho, 0))`, are taken over the used series; extremes are those of the signed
 * correlation, at a tie the first pair in the order of the matrix. With fewer than two used series all are undefined
 * (`too_few_points`), but a matrix of one series is one bet.
 */
export function diversification(matrix: CorrelationMatrix): Diversification {
  const used = usedSeries(matrix)
  const pairs = pairsOf(matrix, used)
  const mean_pairwise = meanOf(pairs)
  return {
    n_strategies: matrix.size,
    n_strategies_used: used.length,
    mean_pairwise,
    most_correlated: extreme(pairs, (rho, best) => rho > best),
    least_correlated: extreme(pairs, (rho, best) => rho < best),
    effective_bets:
      matrix.size === 1 ? 1 : mapFigure(mean_pairwise, mean => bets(used.length, Math.max(mean, 0))),
  }
}

/** The alternatives, over the same used series and undefined with it. Cost: that of all eigenvalues. */
export function effectiveBetsAlternatives(matrix: CorrelationMatrix): EffectiveBetsAlternatives {
  const used = usedSeries(matrix)
  const mean = meanOf(pairsOf(matrix, used))
  if (isUndefined(mean)) {
    return {
      raw_uncapped: mean,
      participation_ratio: mean,
      effective_rank_entropy: mean,
      min_eigenvalue: mean,
    }
  }
  const cells = Float64Array.from(used.flatMap(i => used.map(j => matrix.rho[i * matrix.size + j]!)))
  const eigenvalues = symmetricEigenvalues(cells, used.length)
  return {
    raw_uncapped: bets(used.length, mean),
    participation_ratio: used.length ** 2 / sumOf(cells.map(rho => rho * rho)),
    effective_rank_entropy: Math.exp(entropy(eigenvalues.map(value => value / used.length))),
    min_eigenvalue: eigenvalues[0]!,
  }
}

/**
 * The positions of the series that count: those neither flat nor too short, less those that have an undefined
 * correlation with another of these. So one flat series does not take the others out.
 */
export function usedSeries({ size, rho }: CorrelationMatrix): number[] {
  const sound = Array.from({ length: size }, (_, i) => i).filter(i => !Number.isNaN(rho[i * size + i]!))
  return sound.filter(i => sound.every(j => !Number.isNaN(rho[i * size + j]!)))
}

/** The pairs of the used series, in the order of the matrix. */
function pairsOf({ size, rho, overlap }: CorrelationMatrix, used: readonly number[]): CorrelatedPair[] {
  return used.flatMap((a, position) =>
    used.slice(position + 1).map(b => ({ a, b, rho: rho[a * size + b]!, overlap: overlap[a * size + b]! })),
  )
}

function meanOf(pairs: readonly CorrelatedPair[]): Figure {
  if (pairs.length === 0) return undefinedBecause('too_few_points')
  let sum = 0
  for (const { rho } of pairs) sum += rho
  return sum / pairs.length
}

function extreme(
  pairs: readonly CorrelatedPair[],
  isBetter: (rho: number, best: number) => boolean,
): CorrelatedPair | Undefined {
  let best = pairs[0]
  for (const pair of pairs) if (best !== undefined && isBetter(pair.rho, best.rho)) best = pair
  return best ?? undefinedBecause('too_few_points')
}

function bets(count: number, meanRho: number): Figure {
  const denominator = 1 + (count - 1) * meanRho
  return Math.abs(denominator) <= NEGLIGIBLE ? undefinedBecause('zero_denominator') : count / denominator
}

/** In nats; an eigenvalue that rounding or missing overlap made negative carries no weight. */
function entropy(shares: Float64Array): number {
  return sumOf(shares.map(share => (share > 0 ? -share * Math.log(share) : 0)))
}

function sumOf(values: Float64Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return sum
}
