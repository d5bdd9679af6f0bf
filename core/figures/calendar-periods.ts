import { max, mean, median, min, sampleStandardDeviation } from 'simple-statistics'
import { DAY_MS, type EpochDay, toEpochDay } from '#core/calendar.ts'
import { type AccountPath, trailingReturn, unlessRuined } from './account-path.ts'
import { drawdowns, maxDrawdown } from './drawdown.ts'
import {
  type Figure,
  isUndefined,
  mapFigure,
  percent,
  percentFigure,
  share,
  type UndefinedReason,
  undefinedBecause,
} from './figure.ts'
import { longestRun, sampleDeviation } from './moments.ts'
import { DAYS_PER_YEAR } from './series.ts'
import { annualized, sharpe } from './sharpe.ts'
import type { TradeOutcome } from './trade-statistics.ts'

/** The part of a calendar month or year that a series covers. */
type CalendarPeriod = {
  readonly year: number
  /** 1 to 12; of a year, its first month. */
  readonly month: number
  /** Index of its first day in the series. */
  readonly from: number
  readonly days: number
  /** True if the series does not cover all its days: only the first and the last period can be partial. */
  readonly partial: boolean
}

/**
 * The `monthly` block, of UTC months: a table of all, and statistics of the complete ones. The table of a
 * ruined account ends with the month of its ruin, and its statistics are undefined (`ruin`).
 */
export function monthlyFigures(path: AccountPath) {
  const months = livingPeriods(path, 1)
  const returns = periodReturns(path.curve, months)
  const complete = completeOf(months)
  const rolling = { ...rollingFigures(path.curve, complete, 3), ...rollingFigures(path.curve, complete, 12) }
  return {
    table: months.map(({ year, month, partial }, i) => ({
      year,
      month,
      return_pct: percent(returns[i]!),
      partial,
    })),
    ...completeFigures(path, complete, 'month'),
    ...unlessRuined(path, rolling),
  }
}

/** Of the returns over every `count` consecutive complete months. */
function rollingFigures<Count extends 3 | 12>(
  curve: Float64Array,
  complete: readonly CalendarPeriod[],
  count: Count,
) {
  const last = complete.slice(count - 1)
  const returns = last.map(({ from, days }, i) => curve[from + days]! / curve[complete[i]!.from]! - 1)
  return {
    [`best_rolling_${count}m_pct`]: percentOf(returns, max),
    [`worst_rolling_${count}m_pct`]: percentOf(returns, min),
    [`positive_rolling_${count}m_pct`]: positiveShare(returns),
  } as Record<`${'best' | 'worst' | 'positive'}_rolling_${Count}m_pct`, Figure>
}

/**
 * The `annual` block, of UTC years: a table of all, statistics of the complete ones, and returns up to the
 * last day. The table of a ruined account ends with the year of its ruin, and all else is undefined (`ruin`).
 */
export function annualFigures(path: AccountPath, trades: readonly TradeOutcome[]) {
  const years = livingPeriods(path, 12)
  return {
    table: years.map(year => toRow(year, path, trades)),
    ...completeFigures(path, completeOf(years), 'year'),
    ...unlessRuined(path, { ...trailing(path), ...toDate(path) }),
  }
}

/** The first peak of a year is the equity before it. An undefined ratio is null: tables give no reasons. */
function toRow(year: CalendarPeriod, path: AccountPath, trades: readonly TradeOutcome[]) {
  const { from, days, partial } = year
  const { daily, curve, k, ruinDay } = path
  const returns = daily.values.subarray(from, from + days)
  const isRatioDefined = ruinDay === null && days > 1
  const ratio = annualized(returns, DAYS_PER_YEAR, sharpe)
  const exits = trades.map(({ exit_time }) => toEpochDay(exit_time) - daily.first)
  return {
    year: year.year,
    return_pct: percent(curve[from + days]! / curve[from]! - 1),
    max_drawdown_pct: percent(maxDrawdown(drawdowns(curve.subarray(from, from + days + 1)))),
    sharpe: isRatioDefined && !isUndefined(ratio) ? ratio : null,
    volatility_pct: isRatioDefined ? percent(k * sampleDeviation(returns) * Math.sqrt(DAYS_PER_YEAR)) : null,
    trade_count: exits.filter(day => day >= from && day < from + days).length,
    days,
    partial,
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

function toDate(path: AccountPath) {
  const soFar = (monthsEach: 1 | 12): Figure =>
    percentOf(periodReturns(path.curve, livingPeriods(path, monthsEach).slice(-1)), max)
  return { mtd_pct: soFar(1), ytd_pct: soFar(12) }
}

/**
 * Statistics of complete periods, those in percent undefined for a ruined account: `std` is the sample standard
 * deviation, `positive` the share above 0, and `average_up` and `average_down` are the means of those above and below
 * 0. Without a period all are undefined, with one the deviation is (`too_few_points`); the means need a gain
 * (`no_wins`) or a loss (`no_losses`).
 */
function completeFigures<Unit extends 'month' | 'year'>(
  path: AccountPath,
  complete: readonly CalendarPeriod[],
  unit: Unit,
) {
  const returns = periodReturns(path.curve, complete)
  const averageAmong = (isMember: (value: number) => boolean, ifNone: UndefinedReason): Figure =>
    percentOf(returns.filter(isMember), mean, returns.length === 0 ? 'too_few_points' : ifNone)
  type Name = 'best' | 'worst' | 'average' | 'median' | 'average_up' | 'average_down'
  return {
    complete_count: complete.length,
    ...({
      [`longest_up_streak_${unit}s`]: longestRun(returns, 1),
      [`longest_down_streak_${unit}s`]: longestRun(returns, -1),
    } as Record<`longest_${'up' | 'down'}_streak_${Unit}s`, number>),
    ...unlessRuined(path, {
      [`best_${unit}_pct`]: percentOf(returns, max),
      [`worst_${unit}_pct`]: percentOf(returns, min),
      [`average_${unit}_pct`]: percentOf(returns, mean),
      [`median_${unit}_pct`]: percentOf(returns, median),
      std_pct:
        returns.length < 2 ? undefinedBecause('too_few_points') : percentOf(returns, sampleStandardDeviation),
      [`positive_${unit}s_pct`]: positiveShare(returns),
      [`average_up_${unit}_pct`]: averageAmong(value => value > 0, 'no_wins'),
      [`average_down_${unit}_pct`]: averageAmong(value => value < 0, 'no_losses'),
    } as Record<`${Name}_${Unit}_pct` | `positive_${Unit}s_pct` | 'std_pct', Figure>),
  }
}

const percentOf = (
  returns: readonly number[],
  statistic: (values: number[]) => number,
  ifNone: UndefinedReason = 'too_few_points',
): Figure => (returns.length === 0 ? undefinedBecause(ifNone) : percent(statistic([...returns])))

const positiveShare = (returns: readonly number[]): Figure =>
  share(returns.filter(value => value > 0).length, returns.length)

/** Returns of the complete months, fractions. */
export const completeMonthReturns = (path: AccountPath): number[] =>
  periodReturns(path.curve, completeOf(livingPeriods(path, 1)))

/**
 * Returns of consecutive periods, fractions.
 *
 * @param curve equity with its baseline, so that day `i` starts at point `i`; without ruin
 */
const periodReturns = (curve: Float64Array, periods: readonly CalendarPeriod[]): number[] =>
  periods.map(({ from, days }) => curve[from + days]! / curve[from]! - 1)

/** The periods that the series covers wholly; they are consecutive. */
const completeOf = (periods: readonly CalendarPeriod[]): CalendarPeriod[] =>
  periods.filter(({ partial }) => !partial)

/** The months or the years of a path, up to and including the one of its ruin. */
const livingPeriods = ({ daily, ruinDay }: AccountPath, monthsEach: 1 | 12): CalendarPeriod[] =>
  calendarPeriods(daily.first, daily.values.length, monthsEach).filter(
    ({ from }) => ruinDay === null || from <= ruinDay,
  )

/** The UTC months, or the years, of a gapless daily series of `length` days, in order. */
export function calendarPeriods(first: EpochDay, length: number, monthsEach: 1 | 12): CalendarPeriod[] {
  const periods: CalendarPeriod[] = []
  for (let from = 0; from < length; ) {
    const date = new Date((first + from) * DAY_MS)
    const year = date.getUTCFullYear()
    const month = monthsEach === 12 ? 0 : date.getUTCMonth()
    const begin = Date.UTC(year, month) / DAY_MS
    const end = Date.UTC(year, month + monthsEach) / DAY_MS
    const days = Math.min(end - first, length) - from
    periods.push({ year, month: month + 1, from, days, partial: days < end - begin })
    from += days
  }
  return periods
}
