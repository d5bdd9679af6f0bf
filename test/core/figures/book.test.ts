import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bookFigures, bookWithout, equalWeightBook, weightedBook } from '#core/figures/book.ts'
import { lastDay } from '#core/figures/series.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { dailySeries } from './arbitraries.ts'

const dailyOn = (first: number, ...values: number[]) => dailyFrom(first, values)

test('the equal-weight book is on each day the mean of the strategies alive on it', () => {
  const book = equalWeightBook([dailyOn(10, 0.5, 0.25, 0.75), dailyOn(11, 0.75, 0.25, 1)])
  expect(book.daily).toEqual(dailyOn(10, 0.5, 0.5, 0.5, 1))
  expect([...book.alive]).toEqual([1, 2, 2, 1])
})

test('the equal-weight book without series, or with empty ones alone, has no points', () => {
  expect(equalWeightBook([]).daily.values).toHaveLength(0)
  expect(equalWeightBook([dailyOn(10)]).daily.values).toHaveLength(0)
  expect(equalWeightBook([dailyOn(10), dailyOn(50, 0.1)]).daily).toEqual(dailyOn(50, 0.1))
})

test('the equal-weight book of one series is that series', () => {
  forAll(dailySeries(1, 50), series => {
    const { daily } = equalWeightBook([series])
    expect(daily.first).toBe(series.first)
    expect(daily.values).toEqual(series.values.map(value => value + 0)) // the sum makes 0 of -0
  })
})

test('the equal-weight book spans all days, stays on each between the smallest and the largest return of those alive, and is 0 where none is', () => {
  forAll(30, fc.array(dailySeries(1, 200), { minLength: 2, maxLength: 5 }), all => {
    const { daily, alive } = equalWeightBook(all)
    expect(daily.first).toBe(Math.min(...all.map(series => series.first)))
    expect(lastDay(daily)).toBe(Math.max(...all.map(lastDay)))
    daily.values.forEach((value, i) => {
      const returns = all.flatMap(series => series.values[daily.first + i - series.first] ?? [])
      expect(alive[i]).toBe(returns.length)
      expect(value).toBeGreaterThanOrEqual(Math.min(...returns, 0) - 1e-15)
      expect(value).toBeLessThanOrEqual(Math.max(...returns, 0) + 1e-15)
    })
  })
})

test('a strategy that ended before the others began changes none of the days that the book has with them', () => {
  forAll(30, fc.array(dailySeries(1, 200), { minLength: 1, maxLength: 4 }), all => {
    const without = equalWeightBook(all).daily
    const { first, values } = equalWeightBook([...all, dailyOn(without.first - 5, 0.1, 0.2)]).daily
    expect(values.subarray(without.first - first)).toEqual(without.values)
  })
})

test('the book without a strategy is that of the others on each of their days, and 0 on days without another', () => {
  forAll(30, fc.array(dailySeries(1, 200), { minLength: 2, maxLength: 5 }), ([own, ...others]) => {
    const { daily } = equalWeightBook(others)
    const without = bookWithout(equalWeightBook([own!, ...others]), own!)
    without.values.forEach((value, i) => {
      const expected = daily.values[without.first - daily.first + i] ?? 0
      expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-12)
    })
  })
})

test('a book with weights is the weighted mean of those alive, whatever the weights add up to', () => {
  const series = [dailyOn(10, 0.5, 0.25), dailyOn(11, 0.75, 0.25)]
  for (const total of [4, 1]) {
    const { daily } = weightedBook(series, position => total * [0.75, 0.25][position]!)
    expect(daily).toEqual(dailyOn(10, 0.5, 0.375, 0.25))
  }
})

test('a book says of how many strategies it consists', () => {
  const all = [dailyOn(0, 0.1), dailyOn(3, 0.1, 0.1, 0.1), dailyOn(4, 0.1)]
  expect(bookFigures(all)).toMatchObject({
    n_days: 6,
    coverage: {
      ...{ from: '1970-01-01', to: '1970-01-06', fewest_strategies: 0, most_strategies: 2 },
      ...{ days_with_all: 0, days_without_any: 2 },
    },
  })
  expect(bookFigures(all.slice(1)).coverage).toMatchObject({ days_with_all: 1, days_without_any: 0 })
  expect(bookFigures([]).coverage).toEqual({
    ...{ from: null, to: null, fewest_strategies: 0, most_strategies: 0, days_with_all: 0 },
    ...{ days_without_any: 0 },
  })
})
