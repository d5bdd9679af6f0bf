import { assertFinite } from './finite-series.ts'
import { lastDay, type Series } from './series.ts'

/**
 * The equal-weight book: on every day that all series have, the mean of their returns, as if equal parts were held and
 * rebalanced daily. Its weeks are the complete weeks of the result. Without a common day, or without series, the book
 * has no points. Throws on a return that is not finite.
 *
 * @param series gapless daily series, in any order
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
