// The groups `drawdowns` and `monthly` of `fund_dd`.
import { z } from 'zod'
import { isoDate } from './field.ts'
import { countOrNull, days, pct } from './fund-dd-units.ts'

const worst = z
  .array(
    z.looseObject({
      peak_t: isoDate('Day of the peak; it may be the day before the first.'),
      trough_t: isoDate('Day of the lowest equity.'),
      recovery_t: isoDate('Day on which the peak was reached again, null while it was not.').nullable(),
      depth_pct: z.number().describe('Fall from the peak to the trough. Percent.'),
      days_to_trough: z.int().describe('From peak to trough.'),
      days_to_recovery: z.int().nullable().describe('From trough to recovery.'),
      underwater_days: z.int().describe('Days strictly below the peak.'),
    }),
  )
  .nullable()
  .describe('The five deepest drawdowns.')

export const drawdowns = z
  .looseObject({
    worst,
    count: countOrNull('Drawdowns, however shallow.'),
    average_depth_pct: pct('Mean depth of the drawdowns.'),
    average_underwater_days: days('Mean length of the drawdowns.'),
    current_drawdown_pct: pct('Distance of the last equity from its peak.'),
    current_underwater_days: days('Length of the drawdown that is still open.'),
    pct_time_underwater: pct('Share of days strictly below an earlier peak.'),
    longest_days: days('Longest drawdown.'),
    total_days: days('All days under water.'),
    cdar_95_pct: pct('Mean of the worst 5 % of the daily drawdowns.'),
    cdar_99_pct: pct('Mean of the worst 1 % of the daily drawdowns.'),
    worst_7d_return_pct: pct('Worst return of 7 consecutive days.'),
    worst_30d_return_pct: pct('Worst return of 30 consecutive days.'),
    worst_90d_return_pct: pct('Worst return of 90 consecutive days.'),
    worst_365d_return_pct: pct('Worst return of 365 consecutive days.'),
  })
  .describe('Falls of the equity from its peaks; the opening equity is a peak.')

export const monthly = z
  .looseObject({
    table: z
      .array(
        z.looseObject({
          year: z.int().describe('UTC calendar year.'),
          month: z.int().describe('1 to 12.'),
          return_pct: z.number().describe('Compounded return. Percent.'),
          partial: z.boolean().describe('True where the series has not every day of the month.'),
        }),
      )
      .nullable()
      .describe('Every month that the series touches.'),
    complete_count: countOrNull('Complete months; all statistics below are over these.'),
    best_month_pct: pct('Best month.'),
    worst_month_pct: pct('Worst month.'),
    average_month_pct: pct('Mean month.'),
    median_month_pct: pct('Median month.'),
    std_pct: pct('Sample standard deviation.'),
    positive_months_pct: pct('Share of months with a gain.'),
    average_up_month_pct: pct('Mean of the months with a gain.'),
    average_down_month_pct: pct('Mean of the months with a loss.'),
    longest_up_streak_months: countOrNull('Longest run of months with a gain.'),
    longest_down_streak_months: countOrNull('Longest run of months with a loss.'),
    best_rolling_3m_pct: pct('Best 3 consecutive months.'),
    worst_rolling_3m_pct: pct('Worst 3 consecutive months.'),
    positive_rolling_3m_pct: pct('Share of the runs of 3 months with a gain.'),
    best_rolling_12m_pct: pct('Best 12 consecutive months.'),
    worst_rolling_12m_pct: pct('Worst 12 consecutive months.'),
    positive_rolling_12m_pct: pct('Share of the runs of 12 months with a gain.'),
  })
  .describe('UTC calendar months.')
