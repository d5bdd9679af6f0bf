import type { EpochDay } from '#core/calendar.ts'

export type Period = 'daily' | 'weekly'

/** Days from one point of a series to the next. */
export const STEP_DAYS: Record<Period, number> = { daily: 1, weekly: 7 }

/**
 * A gapless series of simple fractional returns (0.01 = +1 %). Point `i` belongs to the day
 * `first + i * STEP_DAYS[period]`; a week is dated by its Sunday.
 */
export type Series = {
  readonly period: Period
  readonly first: EpochDay
  readonly values: Float64Array
}

/** The day of point `i`. */
export const dayOf = (series: Pick<Series, 'period' | 'first'>, i: number): EpochDay =>
  series.first + i * STEP_DAYS[series.period]

/** The day of the last point; for an empty series, the one before the first. */
export const lastDay = (series: Series): EpochDay => dayOf(series, series.values.length - 1)
