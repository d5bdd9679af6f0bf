import { toIsoDate } from '#core/calendar.ts'
import { performanceFigures } from './performance.ts'
import { assertFinite, completeWeeks, dayOf, lastDay, NO_DAYS, type Series } from './series.ts'

/** The equal-weight book, and for each of its days the number of strategies that it consists of. */
export type Book = { readonly daily: Series; readonly alive: Uint32Array }

/**
 * The equal-weight book from the first to the last day of any series: on each day the mean of the returns of the
 * strategies that are alive on it, whose series has the day, as if equal parts of them were held and rebalanced daily.
 * On a day without any, between the end of one strategy and the start of the next, it holds cash and returns 0. Without
 * series it has no points. Throws if a return is not finite.
 *
 * @param series daily series, in any order
 */
export const equalWeightBook = (series: readonly Series[]): Book => weightedBook(series, () => 1)

/**
 * The same with a positive weight for each series: the mean of a day is weighted by those of the strategies that are alive
 * on it, so that weights need not add up to 1. With equal weights of 1 it is the equal-weight book, bit for bit.
 *
 * @param weightOf the weight of a series, by its position
 */
export function weightedBook(series: readonly Series[], weightOf: (position: number) => number): Book {
  series.forEach(assertFinite)
  const live = series.filter(({ values }) => values.length > 0)
  if (live.length === 0) return { daily: NO_DAYS, alive: new Uint32Array(0) }
  const first = live.reduce((earliest, each) => Math.min(earliest, each.first), Infinity)
  const last = live.reduce((latest, each) => Math.max(latest, lastDay(each)), -Infinity)
  const values = new Float64Array(last - first + 1)
  const weights = new Float64Array(values.length)
  const alive = new Uint32Array(values.length)
  series.forEach((each, position) => {
    const weight = weightOf(position)
    each.values.forEach((value, i) => {
      const day = each.first - first + i
      values[day] = values[day]! + weight * value
      weights[day] = weights[day]! + weight
      alive[day] = alive[day]! + 1
    })
  })
  for (let i = 0; i < values.length; i++) if (alive[i]! > 0) values[i] = values[i]! / weights[i]!
  return { daily: { period: 'daily', first, values }, alive }
}

/**
 * An equal-weight book without one of its series, over the same days; on a day on which no other strategy is alive it
 * returns 0.
 */
export function bookWithout({ daily, alive }: Book, own: Series): Series {
  const shift = daily.first - own.first
  const values = daily.values.map((value, i) => {
    const member = own.values[i + shift]
    if (member === undefined) return value
    return alive[i]! === 1 ? 0 : (value * alive[i]! - member) / (alive[i]! - 1)
  })
  return { ...daily, values }
}

/** The performance of the equal-weight book of these daily series, at base risk, and what it consists of. */
export function bookFigures(series: readonly Series[]) {
  const book = equalWeightBook(series)
  const { daily } = book
  return { ...performanceFigures(daily, completeWeeks(daily), 1), coverage: coverageOf(book, series.length) }
}

/** From when to when the book goes, and of how many of the strategies it consists. Dates are null without days. */
function coverageOf({ daily, alive }: Book, strategies: number) {
  const n = alive.length
  return {
    from: n === 0 ? null : toIsoDate(daily.first),
    to: n === 0 ? null : toIsoDate(dayOf(daily, n - 1)),
    fewest_strategies: n === 0 ? 0 : alive.reduce((fewest, count) => Math.min(fewest, count)),
    most_strategies: alive.reduce((most, count) => Math.max(most, count), 0),
    days_with_all: alive.filter(count => count === strategies).length,
    days_without_any: alive.filter(count => count === 0).length,
  }
}
