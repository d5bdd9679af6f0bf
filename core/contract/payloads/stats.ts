// Payload of `/v1/strategies/{sid}/stats`.
import { z } from 'zod'
import { isoDate, percent, ratio, undefinedReasons } from './field.ts'
import { fundDueDiligence } from './fund-dd.ts'

export const stats = z
  .looseObject({
    ccy: z.string().describe('Settlement currency.'),
    net_return_pct: percent('Net return over the window.'),
    cagr_pct: percent('Compound annual growth rate, 365 days a year; null below one year.').nullable(),
    max_drawdown_pct: percent(
      'Deepest fall of the equity from a peak, negative; the opening equity is a peak.',
    ),
    sharpe_daily_annualized: ratio(
      'Mean / sample standard deviation of daily returns x the square root of 365; risk-free rate 0.',
    ).nullable(),
    sortino_daily_annualized: ratio(
      'Mean of daily returns / root mean square of the negative ones over all days, x the square root of 365.',
    ).nullable(),
    sharpe_weekly_annualized: ratio(
      'Mean / sample standard deviation of the returns of complete ISO weeks x the square root of 52.',
    ).nullable(),
    time_underwater: z
      .looseObject({
        longest_days: z.int().describe('Longest run of days under water, an open one included.'),
        total_days: z.int().describe('All days under water.'),
      })
      .describe('Days on which the equity stands strictly below its earlier peak.'),
    trade_count: z.int().describe('Closed trades.'),
    win_rate_pct: percent('Share of closed trades with a gain; 0 without trades.'),
    profit_factor: ratio('Gains / losses of the closed trades on account equity, at base risk.').nullable(),
    n_days: z.int().describe('Days in the series.'),
    n_weeks: z.int().describe('Complete ISO weeks in the series.'),
    start: isoDate('First day of the series.').nullable(),
    end: isoDate('Last day of the series.').nullable(),
    ruined: z.boolean().describe('True when the risk level takes the whole equity.'),
    ruin_t: isoDate('The day of ruin.').nullable(),
    undefined: undefinedReasons,
    fund_dd: fundDueDiligence,
  })
  .describe('The statistics of a strategy; `fund_dd` is always at base risk.')
