import { sundayOf, toWeek } from '#core/calendar.ts'
import { assertFinite, lastDay, type Series } from './series.ts'

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
