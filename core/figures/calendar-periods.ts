import { max, mean, median, min, sampleStandardDeviation } from 'simple-statistics'
import { DAY_MS, type EpochDay } from '#core/calendar.ts'
import type { AccountPath } from './account-path.ts'
import { type Figure, percent, share, type UndefinedReason, undefinedBecause } from './figure.ts'

/** The part of a calendar month or year that a series covers. */
export type CalendarPeriod = {
  readonly year: number
  /** 1 to 12; of a year, its first month. */
  readonly month: number
  /** Index of its first day in the series. */
  readonly from: number
  /** Number of its days in the series. */
  readonly days: number
  /** True if the series does not cover all its days: only the first and the last period can be partial. */
  readonly partial: boolean
}

/**
 * Returns of consecutive periods, fractions.
 *
 * @param curve equity with its baseline, so that day `i` starts at point `i`; without ruin
 */
export const periodReturns = (curve: Float64Array, periods: readonly CalendarPeriod[]): number[] =>
  periods.map(({ from, days }) => curve[from + days]! / curve[from]! - 1)

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

/** The months or the years of a path, up to and including the one of its ruin. */
export const livingPeriods = ({ daily, ruinDay }: AccountPath, monthsEach: 1 | 12): CalendarPeriod[] =>
  calendarPeriods(daily.first, daily.values.length, monthsEach).filter(
    ({ from }) => ruinDay === null || from <= ruinDay,
  )

/** The periods that the series covers wholly; they are consecutive. */
export const completeOf = (periods: readonly CalendarPeriod[]): CalendarPeriod[] =>
  periods.filter(({ partial }) => !partial)

/** Returns of the complete months, fractions. */
export const completeMonthReturns = (path: AccountPath): number[] =>
  periodReturns(path.curve, completeOf(livingPeriods(path, 1)))

/**
 * The distribution of the returns of complete periods, in percent: `std` is the sample standard deviation,
 * `positive` the share above 0, and `averageUp` and `averageDown` are the means of those above and below 0.
 * Without a period all are undefined, with one the deviation is (`too_few_points`); the means need a gain
 * (`no_wins`) or a loss (`no_losses`).
 *
 * @param returns fractions
 */
export function periodStatistics(returns: readonly number[]) {
  return {
    best: percentOf(returns, max),
    worst: percentOf(returns, min),
    average: percentOf(returns, mean),
    median: percentOf(returns, median),
    std:
      returns.length < 2 ? undefinedBecause('too_few_points') : percentOf(returns, sampleStandardDeviation),
    positive: share(returns.filter(value => value > 0).length, returns.length),
    averageUp: averageAmong(returns, value => value > 0, 'no_wins'),
    averageDown: averageAmong(returns, value => value < 0, 'no_losses'),
  }
}

const percentOf = (
  returns: readonly number[],
  statistic: (values: number[]) => number,
  ifNone: UndefinedReason = 'too_few_points',
): Figure => (returns.length === 0 ? undefinedBecause(ifNone) : percent(statistic([...returns])))

function averageAmong(
  returns: readonly number[],
  isMember: (value: number) => boolean,
  ifNone: UndefinedReason,
): Figure {
  return percentOf(returns.filter(isMember), mean, returns.length === 0 ? 'too_few_points' : ifNone)
}
