import { DAY_MS, type EpochDay, toEpochDay, toIsoInstant } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import type { Bars } from './bars.ts'

/** The daily returns of an account. */
export type DailyMarks = {
  readonly daily: Series
  /** Days of `daily` on which no bar opened: return 0; the next day with a bar catches up. */
  readonly days_without_bars: EpochDay[]
}

/** For each UTC day from the first bar on, the factor of the equity since the last day with bars; NaN on a day without. */
export type DailyGrowth = { readonly first: EpochDay; readonly growth: Float64Array }

export function createDailyGrowth({ t }: Bars): DailyGrowth {
  const first = toEpochDay(t[0]!)
  return { first, growth: new Float64Array(toEpochDay(t.at(-1)!) - first + 1).fill(Number.NaN) }
}

/** The first UTC day that the bars cover from its midnight on. */
export const firstCompleteDay = ({ t }: Bars): EpochDay => toEpochDay(t[0]! - 1) + 1

/** Daily returns from the day `from` on: the growth of each day since the last one with bars, less 1. */
export function toDailyMarks({ first, growth }: DailyGrowth, from: EpochDay): DailyMarks {
  const days = growth.subarray(from - first)
  return {
    daily: { period: 'daily', first: from, values: days.map(by => (Number.isNaN(by) ? 0 : by - 1)) },
    days_without_bars: [...days.keys()].filter(i => Number.isNaN(days[i])).map(i => from + i),
  }
}

/**
 * The first day of a series over these bars: `from` or, if it is not given, the first that they cover from its midnight. Throws
 * unless there are bars from that day on. `subject` names the strategy.
 */
export function inceptionOf(subject: string, bars: Bars, from: EpochDay | null | undefined): EpochDay {
  const [first, last] = [firstCompleteDay(bars), toEpochDay(bars.t.at(-1)!)]
  const day = from ?? first
  if (day >= first && day <= last) return day
  throw new Error(
    `${subject}: the inception must be a day that the bars cover from its midnight, ${describeDay(first)} to ` +
      `${describeDay(last)}; it is ${describeDay(day)}: change the inception or provide more bars`,
  )
}

const describeDay = (day: EpochDay): string => toIsoInstant(day * DAY_MS)
