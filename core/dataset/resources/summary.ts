import { z } from 'zod'
import { dateWindow, percent, ratio } from '#core/contract/payloads/field.ts'
import { convention, figureRule, undefinedReasons } from '#core/contract/payloads/figure-rule.ts'
import { toCorrelation } from '#core/contract/rounding.ts'
import type { FigureValue } from '#core/figures/split-figures.ts'
import type { Json } from '../render/json.ts'
import type { Snapshot } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { datasetRoute } from './resource.ts'

const pair = () =>
  z
    .looseObject({
      pair: z.tuple([z.string(), z.string()]).describe('The two strategies.'),
      correlation: z.number().describe('Their correlation, 8 decimals.'),
    })
    .nullable()

export const summaryData = () =>
  z
    .looseObject({
      strategy_count: z.int().describe('Strategies in the book.'),
      coverage: dateWindow('Earliest and latest day of any series.'),
      mean_pairwise_correlation: z
        .number()
        .describe('Mean correlation of daily returns over all pairs that have one, 8 decimals.'),
      equal_weight_book: z
        .looseObject({
          n_days: z.int().describe('Days that all strategies have.').meta(figureRule('N', [])),
          net_return_pct: percent('Net return.').meta(figureRule('100 × (E_N - 1)', [])),
          cagr_pct: percent('Compound annual growth rate.')
            .nullable()
            .meta(figureRule('100 × (E_N^(365 / N) - 1)', ['less_than_one_year'])),
          max_drawdown_pct: percent('Deepest fall from a peak, negative.').meta(
            figureRule('100 × min(E_i / max(E_0 … E_(i-1)) - 1, 0)', []),
          ),
          sharpe_daily_annualized: ratio(
            'Sharpe ratio of daily returns, annualised by the square root of 365.',
          )
            .nullable()
            .meta(figureRule('mean(b) / sd(b) × √365', ['too_few_points', 'zero_variance', 'ruin'])),
          undefined: undefinedReasons,
        })
        .describe(
          'Equal parts of every strategy at base risk, rebalanced daily, over the days that all have.',
        )
        .meta(
          convention(
            'b: on each day the mean of the base returns of all strategies, N days; E: equity compounded from b and ' +
              'E_0 = 1. Risk-free rate 0, sample deviation (n - 1).',
          ),
        ),
      diversification: z
        .looseObject({
          mean_correlation: z.number().describe('The same as `mean_pairwise_correlation`.'),
          most_correlated: pair().describe('The pair with the highest correlation, or null.'),
          least_correlated: pair().describe('The pair with the lowest correlation, or null.'),
          effective_bets: ratio('N / (1 + (N - 1) x max(mean correlation, 0)).'),
          n_strategies_used: z
            .int()
            .describe('N of the formula: strategies that are neither flat nor too short.'),
        })
        .describe('How far the strategies are different bets.'),
    })
    .describe('The book in one page.')
    .meta({ id: 'Summary' })

export const summary = datasetRoute({
  id: 'summary',
  path: '/v1/summary',
  title: 'Summary of the book',
  about: 'Coverage, the equal-weight book and how far the strategies are different bets.',
  data: summaryData,
  handler: snapshot => {
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
    }
  },
})

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

/** With fewer than two usable strategies the mean is 0, the pairs are null and each strategy is one bet. */
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
