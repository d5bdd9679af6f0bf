import { toEpochDay } from '#core/calendar.ts'
import { type AccountPath, trailingReturn, unlessRuined } from './account-path.ts'
import {
  type CalendarPeriod,
  completeOf,
  livingPeriods,
  periodReturns,
  periodStatistics,
} from './calendar-periods.ts'
import { drawdowns, maxDrawdown } from './drawdown.ts'
import { type Figure, isUndefined, mapFigure, percent, percentFigure, undefinedBecause } from './figure.ts'
import { longestRun, sampleDeviation } from './moments.ts'
import { DAYS_PER_YEAR } from './series.ts'
import { annualized, sharpe } from './sharpe.ts'
import type { TradeOutcome } from './trade-statistics.ts'

/**
 * The `annual` block, of UTC years: a table of all, statistics of the complete ones, and returns up to the
 * last day. The table of a ruined account ends with the year of its ruin, and all else is undefined (`ruin`).
 */
export function annualFigures(path: AccountPath, trades: readonly TradeOutcome[]) {
  const years = livingPeriods(path, 12)
  const complete = completeOf(years)
  const returns = periodReturns(path.curve, complete)
  return {
    table: years.map(year => toRow(year, path, trades)),
    complete_count: complete.length,
    longest_up_streak_years: longestRun(returns, 1),
    longest_down_streak_years: longestRun(returns, -1),
    ...unlessRuined(path, { ...statistics(returns), ...trailing(path), ...toDate(path) }),
  }
}

/** The first peak of a year is the equity before it. An undefined ratio is null: tables give no reasons. */
function toRow(year: CalendarPeriod, path: AccountPath, trades: readonly TradeOutcome[]) {
  const { from, days, partial } = year
  const { daily, curve, k, ruinDay } = path
  const returns = daily.values.subarray(from, from + days)
  const isRatioDefined = ruinDay === null && days > 1
  return {
    year: year.year,
    return_pct: percent(curve[from + days]! / curve[from]! - 1),
    max_drawdown_pct: percent(maxDrawdown(drawdowns(curve.subarray(from, from + days + 1)))),
    sharpe: isRatioDefined ? valueOrNull(annualized(returns, DAYS_PER_YEAR, sharpe)) : null,
    volatility_pct: isRatioDefined ? percent(k * sampleDeviation(returns) * Math.sqrt(DAYS_PER_YEAR)) : null,
    trade_count: trades.filter(({ exit_time }) => isWithin(exit_time, daily.first + from, days)).length,
    days,
    partial,
  }
}

const valueOrNull = (figure: Figure): number | null => (isUndefined(figure) ? null : figure)

function isWithin(instant: number, firstDay: number, days: number): boolean {
  const day = toEpochDay(instant) - firstDay
  return day >= 0 && day < days
}

function statistics(returns: readonly number[]) {
  const { best, worst, average, median, std, positive, averageUp, averageDown } = periodStatistics(returns)
  return {
    best_year_pct: best,
    worst_year_pct: worst,
    average_year_pct: average,
    median_year_pct: median,
    std_pct: std,
    positive_years_pct: positive,
    average_up_year_pct: averageUp,
    average_down_year_pct: averageDown,
  }
}

/** Over so many calendar days up to the last; the last figure is per year. */
const trailing = ({ curve }: AccountPath) => ({
  trailing_30d_return_pct: percentFigure(trailingReturn(curve, 30)),
  trailing_90d_return_pct: percentFigure(trailingReturn(curve, 90)),
  trailing_180d_return_pct: percentFigure(trailingReturn(curve, 180)),
  trailing_365d_return_pct: percentFigure(trailingReturn(curve, 365)),
  trailing_1095d_cagr_pct: mapFigure(trailingReturn(curve, 1095), total => percent(Math.cbrt(1 + total) - 1)),
})

/** The month and the year of the last day, so far. */
function toDate(path: AccountPath) {
  const soFar = (periods: readonly CalendarPeriod[]): Figure => {
    const [last] = periodReturns(path.curve, periods.slice(-1))
    return last === undefined ? undefinedBecause('too_few_points') : percent(last)
  }
  return { mtd_pct: soFar(livingPeriods(path, 1)), ytd_pct: soFar(livingPeriods(path, 12)) }
}
