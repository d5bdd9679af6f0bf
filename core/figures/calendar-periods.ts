import { DAY_MS, type EpochDay } from '#core/calendar.ts'

/** A calendar month or year as far as a series covers it. */
export type CalendarPeriod = {
  readonly year: number
  /** 1 to 12; of a year, its first month. */
  readonly month: number
  /** Index of its first day in the series. */
  readonly from: number
  /** How many of its days the series has. */
  readonly days: number
  /** True where the calendar has more: only the first and the last period can be partial. */
  readonly partial: boolean
}

/** The UTC months of a gapless daily series of `length` days, in order. */
export const calendarMonths = (first: EpochDay, length: number): CalendarPeriod[] =>
  calendarPeriods(first, length, 1)

/** The UTC years of a gapless daily series of `length` days, in order. */
export const calendarYears = (first: EpochDay, length: number): CalendarPeriod[] =>
  calendarPeriods(first, length, 12)

/**
 * Returns of consecutive periods, fractions.
 *
 * @param curve equity with its baseline, so that the day of index `i` starts from point `i`; without ruin
 */
export const periodReturns = (curve: Float64Array, periods: readonly CalendarPeriod[]): number[] =>
  periods.map(({ from, days }) => curve[from + days]! / curve[from]! - 1)

function calendarPeriods(first: EpochDay, length: number, monthsEach: 1 | 12): CalendarPeriod[] {
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
