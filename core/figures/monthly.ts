import { type AccountPath, unlessRuined } from './account-path.ts'
import {
  type CalendarPeriod,
  completeOf,
  livingPeriods,
  periodReturns,
  periodStatistics,
} from './calendar-periods.ts'
import { percent } from './figure.ts'
import { longestRun } from './moments.ts'

/**
 * The `monthly` block, of UTC months: a table of all, and statistics of the complete ones. The table of a
 * ruined account ends with the month of its ruin, and its statistics are undefined (`ruin`).
 */
export function monthlyFigures(path: AccountPath) {
  const months = livingPeriods(path, 1)
  const complete = completeOf(months)
  const returns = periodReturns(path.curve, complete)
  return {
    table: toTable(months, path.curve),
    complete_count: complete.length,
    longest_up_streak_months: longestRun(returns, 1),
    longest_down_streak_months: longestRun(returns, -1),
    ...unlessRuined(path, { ...statistics(returns), ...rolling(complete, path.curve) }),
  }
}

function toTable(months: readonly CalendarPeriod[], curve: Float64Array) {
  const returns = periodReturns(curve, months)
  return months.map(({ year, month, partial }, i) => ({
    year,
    month,
    return_pct: percent(returns[i]!),
    partial,
  }))
}

function statistics(returns: readonly number[]) {
  const { best, worst, average, median, std, positive, averageUp, averageDown } = periodStatistics(returns)
  return {
    best_month_pct: best,
    worst_month_pct: worst,
    average_month_pct: average,
    median_month_pct: median,
    std_pct: std,
    positive_months_pct: positive,
    average_up_month_pct: averageUp,
    average_down_month_pct: averageDown,
  }
}

function rolling(complete: readonly CalendarPeriod[], curve: Float64Array) {
  const quarters = periodStatistics(rollingReturns(complete, curve, 3))
  const years = periodStatistics(rollingReturns(complete, curve, 12))
  return {
    best_rolling_3m_pct: quarters.best,
    worst_rolling_3m_pct: quarters.worst,
    positive_rolling_3m_pct: quarters.positive,
    best_rolling_12m_pct: years.best,
    worst_rolling_12m_pct: years.worst,
    positive_rolling_12m_pct: years.positive,
  }
}

/** Returns over every `count` consecutive complete months, fractions. */
const rollingReturns = (complete: readonly CalendarPeriod[], curve: Float64Array, count: number): number[] =>
  complete.slice(count - 1).map(({ from, days }, i) => curve[from + days]! / curve[complete[i]!.from]! - 1)
