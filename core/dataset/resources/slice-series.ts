import type { EpochDay } from '#core/calendar.ts'
import { type Series, STEP_DAYS } from '#core/figures/series.ts'

/** The points of a series from `from` to `to`, both inclusive, null for no bound; a view, not a copy. */
export function sliceSeries(series: Series, from: EpochDay | null, to: EpochDay | null): Series {
  const step = STEP_DAYS[series.period]
  const { length } = series.values
  const begin = from === null ? 0 : clamp(Math.ceil((from - series.first) / step), length)
  const end = to === null ? length : clamp(Math.floor((to - series.first) / step) + 1, length)
  return {
    ...series,
    first: series.first + begin * step,
    values: series.values.subarray(begin, Math.max(begin, end)),
  }
}

const clamp = (index: number, length: number): number => Math.min(Math.max(index, 0), length)
