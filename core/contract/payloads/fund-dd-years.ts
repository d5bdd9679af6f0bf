// The groups `annual` and `exposure` of `fund_dd`.
import { z } from 'zod'
import { countOrNull, pct, ratioOrNull } from './fund-dd-units.ts'

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
    complete_count: countOrNull('Complete years; the statistics are over these.'),
    best_year_pct: pct('Best year.'),
    worst_year_pct: pct('Worst year.'),
    average_year_pct: pct('Mean year.'),
    median_year_pct: pct('Median year.'),
    std_pct: pct('Sample standard deviation.'),
    positive_years_pct: pct('Share of years with a gain.'),
    average_up_year_pct: pct('Mean of the years with a gain.'),
    average_down_year_pct: pct('Mean of the years with a loss.'),
    longest_up_streak_years: countOrNull('Longest run of years with a gain.'),
    longest_down_streak_years: countOrNull('Longest run of years with a loss.'),
    trailing_30d_return_pct: pct('Return of the last 30 days.'),
    trailing_90d_return_pct: pct('Return of the last 90 days.'),
    trailing_180d_return_pct: pct('Return of the last 180 days.'),
    trailing_365d_return_pct: pct('Return of the last 365 days.'),
    trailing_1095d_cagr_pct: pct('Compound annual growth rate of the last 1095 days.'),
    mtd_pct: pct('Return of the month that the series ends in.'),
    ytd_pct: pct('Return of the year that the series ends in.'),
  })
  .describe('UTC calendar years.')

export const exposure = z
  .looseObject({
    time_in_market_pct: pct('Share of the window in which any position was open.'),
    active_days_pct: pct('Share of days whose return is not 0.'),
    average_concurrent_positions: ratioOrNull('Time in positions / time of the window.'),
    max_concurrent_positions: countOrNull('Most positions open at one time.'),
    long_time_pct: pct('Share of the window in which a long position was open.'),
    short_time_pct: pct('Share of the window in which a short position was open.'),
  })
  .describe('How much of the time the account was in the market.')
