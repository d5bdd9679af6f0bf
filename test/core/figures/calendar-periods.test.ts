import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseIsoDate, toIsoDate } from '#core/calendar.ts'
import { calendarMonths, calendarYears, periodReturns } from '#core/figures/calendar-periods.ts'
import { equityFromBaseline } from '#core/figures/equity-curve.ts'
import { dailySeries } from './arbitraries.ts'

describe('calendar months and years', () => {
  test('only the first and the last can be partial, and 29 February belongs to a leap year', () => {
    const first = parseIsoDate('2024-01-31')!
    expect(calendarMonths(first, 1 + 29 + 30)).toEqual([
      { year: 2024, month: 1, from: 0, days: 1, partial: true },
      { year: 2024, month: 2, from: 1, days: 29, partial: false },
      { year: 2024, month: 3, from: 30, days: 30, partial: true },
    ])
    expect(calendarYears(parseIsoDate('2023-12-31')!, 1 + 366 + 365)).toEqual([
      { year: 2023, month: 1, from: 0, days: 1, partial: true },
      { year: 2024, month: 1, from: 1, days: 366, partial: false },
      { year: 2025, month: 1, from: 367, days: 365, partial: false },
    ])
  })

  test('no day has no period', () => {
    expect(calendarMonths(0, 0)).toEqual([])
  })

  test('every day is in the period that its date says, and each period has all its days or is partial', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5000, max: 40_000 }),
        fc.integer({ min: 1, max: 900 }),
        (first, length) => {
          const dates = Array.from({ length }, (_, i) => toIsoDate(first + i))
          const months = calendarMonths(first, length)
          const labels = months.flatMap(({ year, month, days }) =>
            Array(days).fill(`${year}-${String(month).padStart(2, '0')}`),
          )
          expect(labels).toEqual(dates.map(date => date.slice(0, 7)))
          const years = calendarYears(first, length).flatMap(({ year, days }) =>
            Array(days).fill(String(year)),
          )
          expect(years).toEqual(dates.map(date => date.slice(0, 4)))
          expect(months.slice(1, -1).some(({ partial }) => partial)).toBe(false)
        },
      ),
    )
  })

  test('the returns of the periods compound to the return of the series', () => {
    fc.assert(
      fc.property(dailySeries(1, 150), ({ first, values }) => {
        const curve = equityFromBaseline(values)
        const months = calendarMonths(first, values.length)
        const total = periodReturns(curve, months).reduce((level, month) => level * (1 + month), 1)
        expect(Math.abs(total - curve.at(-1)!)).toBeLessThanOrEqual(1e-12 * curve.at(-1)!)
      }),
    )
  })
})
