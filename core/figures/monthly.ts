import { type AccountPath, unlessRuined } from './account-path.ts'
import {
  type CalendarPeriod,
  completeOf,
  livingMonths,
  periodReturns,
  periodStatistics,
} from './calendar-periods.ts'
import { type Figure, percent } from './figure.ts'
import { longestRun } from './longest-run.ts'

export type MonthRow = {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly return_pct: number
  /** True where the series does not cover the whole month. */
  readonly partial: boolean
}

/** UTC months; the statistics are those of complete months. */
export type MonthlyFigures = {
  readonly table: readonly MonthRow[]
  readonly complete_count: number
  readonly longest_up_streak_months: number
  readonly longest_down_streak_months: number
  readonly best_month_pct: Figure
  readonly worst_month_pct: Figure
  readonly average_month_pct: Figure
  readonly median_month_pct: Figure
  readonly std_pct: Figure
  readonly positive_months_pct: Figure
  readonly average_up_month_pct: Figure
  readonly average_down_month_pct: Figure
  readonly best_rolling_3m_pct: Figure
  readonly worst_rolling_3m_pct: Figure
  readonly positive_rolling_3m_pct: Figure
  readonly best_rolling_12m_pct: Figure
  readonly worst_rolling_12m_pct: Figure
  readonly positive_rolling_12m_pct: Figure
}

/** The `monthly` block. The table of a ruined account ends with the month of its ruin, and its statistics are `ruin`. */
export function monthlyFigures(path: AccountPath): MonthlyFigures {
  const months = livingMonths(path)
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

function toTable(months: readonly CalendarPeriod[], curve: Float64Array): MonthRow[] {
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
