import { parseIsoDate } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'

/** Daily values from a date, or an epoch day, on. */
export const dailyFrom = (first: string | number, values: Iterable<number>): Series => ({
  period: 'daily',
  first: typeof first === 'string' ? parseIsoDate(first)! : first,
  values: Float64Array.from(values),
})
