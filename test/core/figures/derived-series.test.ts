import { expect, test } from 'vitest'
import { parseIsoDate, toIsoDate, toWeek } from '#core/calendar.ts'
import { completeWeeks } from '#core/figures/derived-series.ts'
import { dayOf, lastDay, type Series } from '#core/figures/series.ts'
import { forAll } from '#test/support/for-all.ts'
import { dailySeries } from './arbitraries.ts'

const daily = (first: string, ...values: number[]): Series => ({
  period: 'daily',
  first: parseIsoDate(first)!,
  values: Float64Array.from(values),
})

test('the week over New Year is one week, dated by its Sunday', () => {
  // Monday 2024-12-30 to Sunday 2025-01-05, with two days of the week before and one of the week after.
  const weeks = completeWeeks(daily('2024-12-28', 0.5, 0.5, 0.1, 0, 0, 0.2, 0, 0, -0.5, 0.5))
  expect(toIsoDate(weeks.first)).toBe('2025-01-05')
  expect([...weeks.values]).toEqual([1.1 * 1.2 * 0.5 - 1])
})

test('seven days that are not Monday to Sunday contain no week', () => {
  expect(completeWeeks(daily('2024-12-31', 0, 0, 0, 0, 0, 0, 0)).values).toHaveLength(0)
  expect(completeWeeks(daily('2024-12-30', 0, 0, 0, 0, 0, 0, 0)).values).toHaveLength(1)
  expect(completeWeeks(daily('2024-12-30', 0, 0, 0, 0, 0, 0)).values).toHaveLength(0)
  expect(completeWeeks(daily('2024-12-30')).values).toHaveLength(0)
})

test('a day of ruin makes its week -1', () => {
  expect([...completeWeeks(daily('2024-12-30', 0, -1.5, -3, 0, 0, 0, 0)).values]).toEqual([-1])
})

test('the product of complete weeks is the product of their days', () => {
  forAll(dailySeries(0, 120), series => {
    const weeks = completeWeeks(series)
    let product = 1
    for (const week of weeks.values) product *= 1 + week
    let days = 1
    const monday = weeks.first - 6 - series.first
    for (let i = 0; i < weeks.values.length * 7; i++) days *= 1 + series.values[monday + i]!
    expect(Math.abs(product - days)).toBeLessThanOrEqual(1e-12 * days)
  })
})

test('every week is wholly in the series, and no complete week is missing', () => {
  forAll(dailySeries(1, 60), series => {
    const weeks = completeWeeks(series)
    const numbers = Array.from(series.values, (_, i) => toWeek(dayOf(series, i)))
    const complete = new Set(numbers.filter(n => numbers.filter(other => other === n).length === 7))
    expect(new Set(Array.from(weeks.values, (_, i) => toWeek(dayOf(weeks, i))))).toEqual(complete)
    if (weeks.values.length > 0) expect(lastDay(weeks)).toBeLessThanOrEqual(lastDay(series))
  })
})

test('a return of a week that is not finite is refused by its date', () => {
  expect(() => completeWeeks(daily('2024-12-30', 0, Number.NaN))).toThrow(/2024-12-31 .* got NaN/)
})
