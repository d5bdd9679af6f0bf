import { z } from 'zod'
import {
  dateWindow,
  isoDate,
  number,
  percent,
  ratio,
  record,
  recordOrNull,
  strategyId,
  whole,
} from '#core/contract/payloads/field.ts'
import { count, figureRule, undefinedReasons } from '#core/contract/payloads/figure-rule.ts'
import { removedStrategies } from '#core/contract/payloads/strategy.ts'
import { toCorrelation, toPercent } from '#core/contract/rounding.ts'
import type { FigureValue } from '#core/figures/figure.ts'
import type { Json } from '../render/json.ts'
import type { Snapshot } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { datasetRoute, pick } from './resource.ts'

const pair = () =>
  z
    .looseObject({
      pair: z.array(strategyId).length(2).describe('The two strategies.'),
      correlation: number('Their correlation, 8 decimals.'),
    })
    .nullable()

export const summaryData = () =>
  record('The book in one page.', {
    strategy_count: whole('Strategies in the book.'),
    removed: removedStrategies(),
    coverage: dateWindow('Earliest and latest day of any series.'),
    mean_pairwise_correlation: number(
      'Mean correlation of daily returns over the pairs that have one, 8 decimals.',
    ),
    equal_weight_book: record(
      'Equal parts of the strategies alive on each day, at base risk and rebalanced daily, from the first to the ' +
        'last day of any strategy.',
      {
        n_days: count('Days from the first to the last of any strategy.', 'N'),
        net_return_pct: percent('Net return.').meta(figureRule('100 × (E_N - 1)')),
        cagr_pct: percent('Compound annual growth rate.')
          .nullable()
          .meta(figureRule('100 × (E_N^(365 / N) - 1)', ['less_than_one_year'])),
        max_drawdown_pct: percent('Deepest fall from a peak, negative.').meta(
          figureRule('100 × min(E_i / max(E_0 … E_(i-1)) - 1, 0)'),
        ),
        sharpe_daily_annualized: ratio(
          'Sharpe ratio of daily returns, annualised by the square root of 365; 90 days or more.',
        )
          .nullable()
          .meta(figureRule('mean(b) / sd(b) × √365', ['too_few_points', 'zero_variance', 'ruin'])),
        coverage: recordOrNull(
          'Of how many strategies the book consists; null in versions that did not count them.',
          {
            from: isoDate('First day of the book.').nullable(),
            to: isoDate('Last day of the book.').nullable(),
            fewest_strategies: whole('Strategies alive on the day with the fewest.'),
            most_strategies: whole('Strategies alive on the day with the most.'),
            days_with_all: whole('Days on which all strategies are alive.'),
            days_without_any: whole('Days between two strategies without any; the book returns 0 on them.'),
          },
        ),
        undefined: undefinedReasons,
      },
    ).meta({
      'x-convention':
        'b: on each day the mean of the base returns of the strategies alive on it, those whose series has the day, and ' +
        '0 on a day without any; N days; E: equity compounded from b and E_0 = 1. Risk-free rate 0, sample ' +
        'deviation (n - 1).',
    }),
    diversification: record('How far the strategies are different bets.', {
      mean_correlation: number('The same as `mean_pairwise_correlation`; 0 without a pair.').meta(
        figureRule('mean(rho)'),
      ),
      most_correlated: pair().describe('The pair with the highest correlation, or null.'),
      least_correlated: pair().describe('The pair with the lowest correlation, or null.'),
      effective_bets: ratio(
        'Number of independent strategies that would spread risk as well; without a pair the number of strategies used.',
      ).meta(figureRule('n / (1 + (n - 1) × max(mean(rho), 0))')),
      n_strategies_used: count(
        'Strategies in at least one pair that has a correlation; without a pair those that are neither flat nor too short.',
        'n',
      ),
      coverage: recordOrNull(
        'How many pairs the figures are taken over; null in versions that did not count them.',
        {
          pairs: whole('Pairs of strategies.'),
          pairs_defined: whole('Pairs that have a correlation.'),
        },
      ),
    }).meta({
      'x-convention':
        'rho: correlations of daily returns at base risk, over the pairs that have one: at least 30 common days, and ' +
        'neither strategy flat over them. A strategy that shares too few days with another costs this pair and no more.',
    }),
  }).meta({ id: 'Summary' })

export const summary = datasetRoute({
  id: 'summary',
  path: '/v1/summary',
  title: 'Summary of the book',
  about: 'Coverage, the equal-weight book and how far the strategies are different bets.',
  data: summaryData,
  handler: snapshot => {
    const spread = diversification(snapshot)
    const book = equalWeightBook(snapshot)
    return {
      data: {
        strategy_count: snapshot.strategies.length,
        removed: snapshot.dataset.removed,
        coverage: snapshot.dataset.window,
        mean_pairwise_correlation: spread.mean_correlation,
        equal_weight_book: book,
        diversification: spread,
      },
      meta: book.coverage === null ? {} : { note: SUMMARY_NOTE }, // without it the figures have older definitions
    }
  },
})

const SUMMARY_NOTE =
  'The book of a day consists of the strategies alive on that day, equally weighted at base risk; mean correlation, extreme pairs and effective bets are taken over the pairs that have a correlation. Each coverage says how many they are.'

const BOOK_FIELDS = [
  'n_days',
  'net_return_pct',
  'cagr_pct',
  'max_drawdown_pct',
  'sharpe_daily_annualized',
] as const

function equalWeightBook({ book: { values, undefined: reasons } }: Snapshot) {
  return {
    ...publishFigures(pick(values, ...BOOK_FIELDS)),
    coverage: values.coverage ?? null,
    undefined: pick(reasons, ...BOOK_FIELDS),
  }
}

/** Without a pair that has a correlation the mean is 0, the pairs are null and each strategy is a bet of its own. */
function diversification({ diversification: { values } }: Snapshot) {
  const used = numberOr(values.n_strategies_used, 0)
  return {
    mean_correlation: toCorrelation(numberOr(values.mean_correlation, 0)),
    most_correlated: pairOrNull(values.most_correlated),
    least_correlated: pairOrNull(values.least_correlated),
    effective_bets: toPercent(numberOr(values.effective_bets, used)),
    n_strategies_used: used,
    coverage: values.coverage ?? null,
  } satisfies Json
}

const numberOr = (value: FigureValue | undefined, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise

function pairOrNull(value: FigureValue | undefined): Json {
  if (typeof value !== 'object' || value === null || !('pair' in value)) return null
  return { pair: value.pair as Json, correlation: toCorrelation(numberOr(value.correlation, 0)) } // ids, by construction
}
