import { toCorrelation } from '#core/contract/rounding.ts'
import type { FigureValue } from '#core/figures/split-figures.ts'
import type { Json } from '../render/json.ts'
import type { Snapshot } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { bookLinks, type Resource } from './resource.ts'

/** `/v1/summary`: the book in one page. */
export const summary: Resource = (snapshot, params) => {
  const spread = diversification(snapshot)
  return {
    data: {
      strategy_count: snapshot.strategies.length,
      coverage: snapshot.dataset.window,
      mean_pairwise_correlation: spread.mean_correlation,
      equal_weight_book: equalWeightBook(snapshot),
      diversification: spread,
    },
    meta: {},
    links: bookLinks('summary', params),
  }
}

/** Figures of the book that the summary shows. */
const BOOK_FIELDS = [
  'n_days',
  'net_return_pct',
  'cagr_pct',
  'max_drawdown_pct',
  'sharpe_daily_annualized',
] as const

function equalWeightBook({ book }: Snapshot): Json {
  const shown = BOOK_FIELDS.map(field => [field, book.values[field] ?? null] as const)
  const reasons = BOOK_FIELDS.flatMap(field => {
    const reason = book.undefined[field]
    return reason === undefined ? [] : [[field, reason] as const]
  })
  return { ...publishFigures(Object.fromEntries(shown)), undefined: Object.fromEntries(reasons) }
}

/** With fewer than two usable strategies the mean is 0, the pairs are null and each strategy is a bet of its own. */
function diversification({ diversification: { values } }: Snapshot) {
  const used = numberOr(values.n_strategies_used, 0)
  return {
    mean_correlation: toCorrelation(numberOr(values.mean_correlation, 0)),
    most_correlated: pairOrNull(values.most_correlated),
    least_correlated: pairOrNull(values.least_correlated),
    effective_bets: publishFigures({ bets: numberOr(values.effective_bets, used) }).bets ?? 0,
    n_strategies_used: used,
  } satisfies Json
}

const numberOr = (value: FigureValue | undefined, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise

function pairOrNull(value: FigureValue | undefined): Json {
  if (typeof value !== 'object' || value === null || !('pair' in value)) return null
  return { pair: value.pair as Json, correlation: toCorrelation(numberOr(value.correlation, 0)) } // ids, by construction
}
