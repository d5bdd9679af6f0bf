import { type EpochDay, sundayOf, toIsoDate, toWeek } from '#core/calendar.ts'

export type Period = 'daily' | 'weekly'

/** Days from one point of a series to the next. */
export const STEP_DAYS: Record<Period, number> = { daily: 1, weekly: 7 }

/**
 * A series of simple returns without gaps, as fractions (0.01 = +1 %). Point `i` belongs to the day
 * `first + i * STEP_DAYS[period]`; a week is dated by its Sunday.
 */
export type Series = {
  readonly period: Period
  readonly first: EpochDay
  readonly values: Float64Array
}

export const NO_DAYS: Series = { period: 'daily', first: 0, values: new Float64Array(0) }

/** The day of point `i`. */
export const dayOf = (series: Pick<Series, 'period' | 'first'>, i: number): EpochDay =>
  series.first + i * STEP_DAYS[series.period]

/** The day of the last point; of an empty series, the day before the first. */
export const lastDay = (series: Series): EpochDay => dayOf(series, series.values.length - 1)

/** Throws, naming the first day, if a return is not a finite number: it is never filled in or skipped. */
export function assertFinite(series: Series): void {
  const { values } = series
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) throw notFinite(series, i)
}

const notFinite = (series: Series, i: number): RangeError =>
  new RangeError(
    `the ${series.period} return of ${toIsoDate(dayOf(series, i))} must be a finite number, got ` +
      `${series.values[i]}; correct the source of the series; returns are never filled in or skipped`,
  )

// A year has 365 days, leap years included, because the assets trade every day: the same length for CAGR, for
// the annualisation of daily ratios and for trades per year.

export const DAYS_PER_YEAR = 365
export const WEEKS_PER_YEAR = 52
export const MONTHS_PER_YEAR = 12

/** Fewer daily returns make no figure of a year. */
export const FEWEST_DAYS = 90

/** The points of a series from `from` to `to`, both inclusive, null for no bound; a view, not a copy. */
export function sliceSeries(series: Series, from: EpochDay | null, to: EpochDay | null): Series {
  const { begin, end } = pointsBetween(series, from, to)
  return { ...series, first: dayOf(series, begin), values: series.values.subarray(begin, end) }
}

/** The indices of those points: from `begin` to before `end`. */
export function pointsBetween(series: Series, from: EpochDay | null, to: EpochDay | null) {
  const { length } = series.values
  const indexOf = (day: EpochDay): number => (day - series.first) / STEP_DAYS[series.period]
  const begin = from === null ? 0 : clamp(Math.ceil(indexOf(from)), length)
  const end = to === null ? length : clamp(Math.floor(indexOf(to)) + 1, length)
  return { begin, end: Math.max(begin, end) }
}

const clamp = (index: number, length: number): number => Math.min(Math.max(index, 0), length)

/**
 * The complete ISO weeks of a daily series, Monday to Sunday UTC, each the compounded return of its seven
 * days, dated by its Sunday. An incomplete week at either end has no point, so a published week never
 * changes. A day of ruin makes its week -1. Throws if a return is not finite.
 */
export function completeWeeks(daily: Series): Series {
  assertFinite(daily)
  // The day six days after the first, or before the last, belongs to a week that is wholly inside.
  const firstWeek = toWeek(daily.first + 6)
  const lastWeek = toWeek(lastDay(daily) - 6)
  const values = new Float64Array(Math.max(lastWeek - firstWeek + 1, 0))
  const monday = sundayOf(firstWeek) - 6 - daily.first
  for (let week = 0; week < values.length; week++) values[week] = weekReturn(daily.values, monday + 7 * week)
  return { period: 'weekly', first: sundayOf(firstWeek), values }
}

function weekReturn(days: Float64Array, monday: number): number {
  let level = 1
  for (let i = monday; i < monday + 7; i++) level *= Math.max(1 + days[i]!, 0)
  return level - 1
}
