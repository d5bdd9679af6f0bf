// Payloads that speak of the whole book: `/v1/summary`, `/v1/dataset`, the infrastructure endpoints and the index.
import { z } from 'zod'
import { dateWindow, fraction, percent, ratio, strategyId } from './field.ts'
import { convention, figureRule, undefinedReasons } from './figure-rule.ts'
import { VERIFICATION_STATES } from './strategy.ts'

const pair = z
  .looseObject({
    pair: z.tuple([z.string(), z.string()]).describe('The two strategies.'),
    correlation: z.number().describe('Their correlation, 8 decimals.'),
  })
  .nullable()

export const summary = z
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
        sharpe_daily_annualized: ratio('Sharpe ratio of daily returns, annualised by the square root of 365.')
          .nullable()
          .meta(figureRule('mean(b) / sd(b) × √365', ['too_few_points', 'zero_variance', 'ruin'])),
        undefined: undefinedReasons,
      })
      .describe('Equal parts of every strategy at base risk, rebalanced daily, over the days that all have.')
      .meta(
        convention(
          'b: on each day the mean of the base returns of all strategies, N days; E: equity compounded from b and ' +
            'E_0 = 1. Risk-free rate 0, sample deviation (n - 1).',
        ),
      ),
    diversification: z
      .looseObject({
        mean_correlation: z.number().describe('The same as `mean_pairwise_correlation`.'),
        most_correlated: pair.describe('The pair with the highest correlation, or null.'),
        least_correlated: pair.describe('The pair with the lowest correlation, or null.'),
        effective_bets: ratio('N / (1 + (N - 1) x max(mean correlation, 0)).'),
        n_strategies_used: z
          .int()
          .describe('N of the formula: strategies that are neither flat nor too short.'),
      })
      .describe('How far the strategies are different bets.'),
  })
  .describe('The book in one page.')

export const dataset = z
  .looseObject({
    version: z.string().describe('The dataset version, a UTC instant.'),
    generated_utc: z.string().describe('When the version was made: the same instant.'),
    history_restated: z
      .boolean()
      .describe('Whether this version alters history that the one before had published.'),
    name: z.string().describe('Display name of the service.'),
    window: dateWindow('Earliest and latest day of any series.'),
    strategy_count: z.int().describe('Strategies in the dataset.'),
    engine: z.string().describe('What computed the history.'),
    data_source: z.string().describe('Where the prices come from.'),
    methodology_url: z.string().describe('Where the method is described.'),
    embargo_days: z
      .int()
      .describe('Days by which the published window ends before the last complete day of the data.'),
    strategies: z
      .array(
        z.looseObject({
          id: strategyId,
          name: z.string().describe('Display name.'),
          verification_state: z.enum(VERIFICATION_STATES).describe('Depth of the internal validation.'),
        }),
      )
      .describe('The strategies, in catalogue order.'),
  })
  .describe('What the dataset is made of.')

export const health = z
  .looseObject({
    status: z.string().describe('`ok` when the process answers.'),
    strategy_count: z.int().describe('Strategies served; 0 without a dataset.'),
  })
  .describe('Liveness.')

export const readiness = z
  .looseObject({
    ready: z.boolean().describe('True when every check holds.'),
    checks: z
      .looseObject({
        manifest_loaded: z.boolean().describe('The manifest is the one that was published.'),
        count_matches: z.boolean().describe('The dataset has as many strategies as the manifest names.'),
        per_strategy_loaded: z.boolean().describe('Every strategy has its series and all its answers.'),
        correlation_dims: z.boolean().describe('The correlation matrices have a row for every strategy.'),
      })
      .describe('The four integrity checks.'),
    dataset_age_seconds: z
      .number()
      .nullable()
      .describe('Age of the dataset version; it never makes the answer a 503.'),
    unfit_version: z
      .string()
      .nullable()
      .describe('The newest version where it fails its checks, so that an older one is served; else null.'),
  })
  .describe('Readiness.')

export const version = z
  .looseObject({
    api_version: z.string().describe('Version of this interface.'),
    stability: z.string().describe('`stable`: removals and renames come under a new major path only.'),
    dataset_version: z.string().nullable().describe('The dataset version served now.'),
    history_restated: z
      .boolean()
      .nullable()
      .describe('Whether that version alters history that the one before had published.'),
    generated_utc: z.string().nullable().describe('When that version was made.'),
    window: dateWindow('Earliest and latest day of any series.'),
    max_modelled_risk_pct: fraction('The cap of `risk_pct`.').nullable(),
  })
  .describe('Versions of the interface and of the data.')

export const versionList = z
  .array(
    z.looseObject({
      version: z.string().describe('The dataset version, a UTC instant; `?dataset_version=` pins to it.'),
      published: z.string().describe('When it was first served, a UTC instant.'),
      manifest_sha256: z.string().describe('Digest of its manifest.'),
      is_served: z.boolean().describe('Whether the newest entry of the pointer log names it.'),
      is_removed: z
        .boolean()
        .describe('Whether its files were removed: they answer 410. Known within an hour of the removal.'),
      history_restated: z
        .boolean()
        .describe('Whether it alters history that the version before had published.'),
    }),
  )
  .describe('Every version that was published, newest first.')

export const index = z
  .looseObject({
    service: z.string().describe('Name of the service.'),
    endpoints: z
      .array(z.looseObject({ path: z.string(), about: z.string() }))
      .describe('The endpoints and what they answer.'),
  })
  .describe('What there is.')
