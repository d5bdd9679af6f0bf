// Payload of `/v1/strategies/{sid}/stats`.
import { z } from 'zod'
import { isoDate, percent, ratio } from './field.ts'
import { convention, figureRule, type NullRule, undefinedReasons } from './figure-rule.ts'
import { fundDueDiligence } from './fund-dd.ts'

const ratioOrNull = (about: string, formula: string, nulls: NullRule) =>
  ratio(about).nullable().meta(figureRule(formula, nulls))

export const stats = z
  .looseObject({
    ccy: z.string().describe('Settlement currency.'),
    net_return_pct: percent('Net return over the window.').meta(figureRule('100 × (E_N - 1)', [])),
    cagr_pct: percent('Compound annual growth rate, 365 days a year; null below one year.')
      .nullable()
      .meta(figureRule('100 × (E_N^(365 / N) - 1)', ['less_than_one_year'])),
    max_drawdown_pct: percent(
      'Deepest fall of the equity from a peak, negative; the opening equity is a peak.',
    ).meta(figureRule('100 × min(E_i / max(E_0 … E_(i-1)) - 1, 0)', [])),
    sharpe_daily_annualized: ratioOrNull(
      'Mean / sample standard deviation of daily returns x the square root of 365; risk-free rate 0.',
      'mean(r) / sd(r) × √365',
      ['too_few_points', 'zero_variance', 'ruin'],
    ),
    sortino_daily_annualized: ratioOrNull(
      'Mean of daily returns / root mean square of the negative ones over all days, x the square root of 365.',
      'mean(r) / √mean(min(r, 0)²) × √365',
      ['too_few_points', 'no_losses', 'ruin'],
    ),
    sharpe_weekly_annualized: ratioOrNull(
      'Mean / sample standard deviation of the returns of complete ISO weeks x the square root of 52.',
      'mean(w) / sd(w) × √52',
      ['too_few_points', 'zero_variance', 'ruin'],
    ),
    time_underwater: z
      .looseObject({
        longest_days: z
          .int()
          .describe('Longest run of days under water, an open one included.')
          .meta(figureRule('longest run of E_i < max(E_0 … E_(i-1))', [])),
        total_days: z
          .int()
          .describe('All days under water.')
          .meta(figureRule('n(E_i < max(E_0 … E_(i-1)))', [])),
      })
      .describe('Days on which the equity stands strictly below its earlier peak.'),
    trade_count: z.int().describe('Closed trades.').meta(figureRule('n', [])),
    win_rate_pct: percent('Share of closed trades with a gain; 0 without trades.').meta(
      figureRule('100 × n(x > 0) / n', []),
    ),
    profit_factor: ratioOrNull(
      'Gains / losses of the closed trades on account equity, at base risk.',
      'sum(x > 0) / |sum(x < 0)|',
      ['no_trades', 'no_losses'],
    ),
    n_days: z.int().describe('Days in the series.').meta(figureRule('N', [])),
    n_weeks: z.int().describe('Complete ISO weeks in the series.').meta(figureRule('n(w)', [])),
    start: isoDate('First day of the series.').nullable(),
    end: isoDate('Last day of the series.').nullable(),
    ruined: z.boolean().describe('True when the risk level takes the whole equity.'),
    ruin_t: isoDate('The day of ruin.').nullable(),
    undefined: undefinedReasons,
    fund_dd: fundDueDiligence,
  })
  .describe('The statistics of a strategy; `fund_dd` is always at base risk.')
  .meta(
    convention(
      'r: daily returns at base risk, N of them; w: returns of complete ISO weeks; E: equity compounded from E_0 = 1 at ' +
        'the risk level asked for; x: net results of the n closed trades on account equity at entry. Risk-free rate 0, ' +
        'sample deviation (n - 1), 365 days and 52 weeks a year. The ratios and the trades ignore the risk level, which ' +
        'multiplies every return alike. Under water is below the peak by more than 1e-12 of it; losses up to 1e-12 are ' +
        'none. Without trades `win_rate_pct` is 0 and `undefined` says why.',
    ),
  )
