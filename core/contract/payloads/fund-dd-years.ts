// The groups `annual` and `exposure` of `fund_dd`.
import { z } from 'zod'
import { convention } from './figure-rule.ts'
import { countOrNull, PAINLESS, pct, ratioOrNull, TOO_FEW, UPLESS } from './fund-dd-units.ts'

const UNTRADED = ['no_trades', 'too_few_points'] as const

export const annual = z
  .looseObject({
    table: z
      .array(
        z.looseObject({
          year: z.int().describe('UTC calendar year.'),
          return_pct: z.number().describe('Compounded return. Percent.'),
          max_drawdown_pct: z
            .number()
            .describe('Deepest fall within the year; the equity at its start is a peak. Percent.'),
          sharpe: z.number().nullable().describe('Annualised Sharpe ratio of its days.'),
          volatility_pct: z.number().nullable().describe('Annualised volatility of its days. Percent.'),
          trade_count: z.int().describe('Trades closed in the year.'),
          days: z.int().describe('Days of the series in the year.'),
          partial: z.boolean().describe('True where the series has not every day of the year.'),
        }),
      )
      .nullable()
      .describe('Every year that the series touches.'),
    complete_count: countOrNull('Complete years; the statistics are over these.', 'n'),
    best_year_pct: pct('Best year.', '100 × max(y)', TOO_FEW),
    worst_year_pct: pct('Worst year.', '100 × min(y)', TOO_FEW),
    average_year_pct: pct('Mean year.', '100 × mean(y)', TOO_FEW),
    median_year_pct: pct('Median year.', '100 × median(y)', TOO_FEW),
    std_pct: pct('Sample standard deviation.', '100 × sd(y)', TOO_FEW),
    positive_years_pct: pct('Share of years with a gain.', '100 × n(y > 0) / n', TOO_FEW),
    average_up_year_pct: pct('Mean of the years with a gain.', '100 × mean(y > 0)', UPLESS),
    average_down_year_pct: pct('Mean of the years with a loss.', '100 × mean(y < 0)', PAINLESS),
    longest_up_streak_years: countOrNull('Longest run of years with a gain.', 'longest run of y > 0'),
    longest_down_streak_years: countOrNull('Longest run of years with a loss.', 'longest run of y < 0'),
    trailing_30d_return_pct: pct('Return of the last 30 days.', '100 × (E_N / E_(N-30) - 1)', TOO_FEW),
    trailing_90d_return_pct: pct('Return of the last 90 days.', '100 × (E_N / E_(N-90) - 1)', TOO_FEW),
    trailing_180d_return_pct: pct('Return of the last 180 days.', '100 × (E_N / E_(N-180) - 1)', TOO_FEW),
    trailing_365d_return_pct: pct('Return of the last 365 days.', '100 × (E_N / E_(N-365) - 1)', TOO_FEW),
    trailing_1095d_cagr_pct: pct(
      'Compound annual growth rate of the last 1095 days.',
      '100 × ((E_N / E_(N-1095))^(1/3) - 1)',
      TOO_FEW,
    ),
    mtd_pct: pct(
      'Return of the month that the series ends in.',
      '100 × (E_N / E before the month - 1)',
      TOO_FEW,
    ),
    ytd_pct: pct(
      'Return of the year that the series ends in.',
      '100 × (E_N / E before the year - 1)',
      TOO_FEW,
    ),
  })
  .describe('UTC calendar years.')
  .meta(
    convention(
      'y: returns of the n complete years; E: equity compounded from 1, N days. A year is complete when the series has ' +
        'each of its days. Trailing windows are calendar days that end with the last one, and exist only where the ' +
        'series is as long. The Sharpe ratio and the volatility of a row need two days and no ruin. The table of a ' +
        'ruined account ends with the year of its ruin.',
    ),
  )

export const exposure = z
  .looseObject({
    time_in_market_pct: pct(
      'Share of the window in which any position was open.',
      '100 × time in which any is open / T',
      UNTRADED,
    ),
    active_days_pct: pct('Share of days whose return is not 0.', '100 × n(r ≠ 0) / N', ['too_few_points']),
    average_concurrent_positions: ratioOrNull(
      'Time in positions / time of the window.',
      'sum(time of each position) / T',
      UNTRADED,
    ),
    max_concurrent_positions: countOrNull(
      'Most positions open at one time.',
      'largest number open at one instant',
      UNTRADED,
    ),
    long_time_pct: pct(
      'Share of the window in which a long position was open.',
      '100 × time in which a long one is open / T',
      UNTRADED,
    ),
    short_time_pct: pct(
      'Share of the window in which a short position was open.',
      '100 × time in which a short one is open / T',
      UNTRADED,
    ),
  })
  .describe('How much of the time the account was in the market.')
  .meta(
    convention(
      'T: the window, from the midnight before the first day of the series to the midnight after the last; time ' +
        'outside it does not count. r: daily returns, N of them. Ruin changes nothing here: these speak of the ledger.',
    ),
  )
