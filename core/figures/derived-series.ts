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

/**
 * The equal-weight book: on every day common to all series, the mean of their returns, as if equal parts were
 * held and rebalanced daily. Without a common day it has no points. Throws if a return is not finite.
 *
 * @param series daily series, in any order
 */
export function equalWeightBook(series: readonly Series[]): Series {
  series.forEach(assertFinite)
  const first = series.reduce((latest, each) => Math.max(latest, each.first), -Infinity)
  const last = series.reduce((earliest, each) => Math.min(earliest, lastDay(each)), Infinity)
  if (series.length === 0 || last < first) return { period: 'daily', first: 0, values: new Float64Array(0) }
  const values = new Float64Array(last - first + 1)
  for (const each of series) addTo(values, each.values, first - each.first)
  for (let i = 0; i < values.length; i++) values[i] = values[i]! / series.length
  return { period: 'daily', first, values }
}

function addTo(sums: Float64Array, values: Float64Array, from: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] = sums[i]! + values[from + i]!
}
