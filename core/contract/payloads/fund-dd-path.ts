// The groups `drawdowns` and `monthly` of `fund_dd`.
import { z } from 'zod'
import { isoDate } from './field.ts'
import { convention } from './figure-rule.ts'
import { countOrNull, days, PAINLESS, pct, TOO_FEW, UPLESS } from './fund-dd-units.ts'

const DRY = ['too_few_points', 'no_drawdown', 'ruin'] as const

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
    count: countOrNull('Drawdowns, however shallow.', 'number of episodes'),
    average_depth_pct: pct('Mean depth of the drawdowns.', '100 × mean(depth of an episode)', DRY),
    average_underwater_days: days('Mean length of the drawdowns.', 'mean(days of an episode)', DRY),
    current_drawdown_pct: pct('Distance of the last equity from its peak.', '100 × d_N'),
    current_underwater_days: days(
      'Length of the drawdown that is still open.',
      'days of the episode that is open, else 0',
    ),
    pct_time_underwater: pct('Share of days strictly below an earlier peak.', '100 × n(d < 0) / N', [
      'too_few_points',
    ]),
    longest_days: days('Longest drawdown.', 'max(days of an episode)'),
    total_days: days('All days under water.', 'n(d < 0)'),
    cdar_95_pct: pct(
      'Mean of the worst 5 % of the daily drawdowns.',
      '100 × mean of the floor((N - 1) / 20) + 1 smallest d',
      TOO_FEW,
    ),
    cdar_99_pct: pct(
      'Mean of the worst 1 % of the daily drawdowns.',
      '100 × mean of the floor((N - 1) / 100) + 1 smallest d',
      TOO_FEW,
    ),
    worst_7d_return_pct: pct('Worst return of 7 consecutive days.', '100 × min(E_i / E_(i-7) - 1)', TOO_FEW),
    worst_30d_return_pct: pct(
      'Worst return of 30 consecutive days.',
      '100 × min(E_i / E_(i-30) - 1)',
      TOO_FEW,
    ),
    worst_90d_return_pct: pct(
      'Worst return of 90 consecutive days.',
      '100 × min(E_i / E_(i-90) - 1)',
      TOO_FEW,
    ),
    worst_365d_return_pct: pct(
      'Worst return of 365 consecutive days.',
      '100 × min(E_i / E_(i-365) - 1)',
      TOO_FEW,
    ),
  })
  .describe('Falls of the equity from its peaks; the opening equity is a peak.')
  .meta(
    convention(
      'E: equity compounded from 1, N days; d: daily drawdowns E / peak - 1 where E is below the peak by more than 1e-12 ' +
        'of it, else 0. An episode is a run of days with d < 0, its depth the smallest d in it. Windows are of ' +
        'consecutive calendar days and may begin at the opening equity; the tails need 20 days at 5 % and 100 at 1 %.',
    ),
  )

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
    complete_count: countOrNull('Complete months; all statistics below are over these.', 'n'),
    best_month_pct: pct('Best month.', '100 × max(m)', TOO_FEW),
    worst_month_pct: pct('Worst month.', '100 × min(m)', TOO_FEW),
    average_month_pct: pct('Mean month.', '100 × mean(m)', TOO_FEW),
    median_month_pct: pct('Median month.', '100 × median(m)', TOO_FEW),
    std_pct: pct('Sample standard deviation.', '100 × sd(m)', TOO_FEW),
    positive_months_pct: pct('Share of months with a gain.', '100 × n(m > 0) / n', TOO_FEW),
    average_up_month_pct: pct('Mean of the months with a gain.', '100 × mean(m > 0)', UPLESS),
    average_down_month_pct: pct('Mean of the months with a loss.', '100 × mean(m < 0)', PAINLESS),
    longest_up_streak_months: countOrNull('Longest run of months with a gain.', 'longest run of m > 0'),
    longest_down_streak_months: countOrNull('Longest run of months with a loss.', 'longest run of m < 0'),
    best_rolling_3m_pct: pct('Best 3 consecutive months.', '100 × max(q3)', TOO_FEW),
    worst_rolling_3m_pct: pct('Worst 3 consecutive months.', '100 × min(q3)', TOO_FEW),
    positive_rolling_3m_pct: pct(
      'Share of the runs of 3 months with a gain.',
      '100 × n(q3 > 0) / n(q3)',
      TOO_FEW,
    ),
    best_rolling_12m_pct: pct('Best 12 consecutive months.', '100 × max(q12)', TOO_FEW),
    worst_rolling_12m_pct: pct('Worst 12 consecutive months.', '100 × min(q12)', TOO_FEW),
    positive_rolling_12m_pct: pct(
      'Share of the runs of 12 months with a gain.',
      '100 × n(q12 > 0) / n(q12)',
      TOO_FEW,
    ),
  })
  .describe('UTC calendar months.')
  .meta(
    convention(
      'm: returns of the n complete months, E at the end of the last day / E before the first day - 1; q3 and q12: the ' +
        'same over every 3 and 12 consecutive complete months. A month is complete when the series has each of its ' +
        'days. Sample deviation (n - 1); a month of exactly 0 is no gain, and ends a run. The table of a ruined ' +
        'account ends with the month of its ruin.',
    ),
  )
