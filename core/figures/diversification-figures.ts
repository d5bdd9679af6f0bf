import type { CorrelationMatrix } from './correlation.ts'
import { type CorrelatedPair, diversification } from './diversification.ts'
import { type Figure, isUndefined, type Undefined } from './figure.ts'

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
