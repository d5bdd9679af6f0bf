import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equalWeightBook } from '#core/figures/derived-series.ts'
import { lastDay, type Series } from '#core/figures/series.ts'
import { dailySeries } from './arbitraries.ts'

const daily = (first: number, ...values: number[]): Series => ({
  period: 'daily',
  first,
  values: Float64Array.from(values),
})

describe('equal-weight book', () => {
  test('is the mean over the days that all have', () => {
    const book = equalWeightBook([daily(10, 0.5, 0.25, 0.75), daily(11, 0.75, 0.25, 1)])
    expect(book).toEqual(daily(11, 0.5, 0.5))
  })

  test('without a common day, or without series, it has no points', () => {
    expect(equalWeightBook([daily(10, 0.1), daily(11, 0.1)]).values).toHaveLength(0)
    expect(equalWeightBook([daily(10, 0.1), daily(10)]).values).toHaveLength(0)
    expect(equalWeightBook([]).values).toHaveLength(0)
  })

  test('of one series it is that series', () => {
    fc.assert(
      fc.property(dailySeries(1, 50), series => {
        const { first, values } = equalWeightBook([series])
        expect(first).toBe(series.first)
        expect(values).toEqual(series.values.map(value => value + 0)) // the sum makes 0 of -0
      }),
    )
  })

  test('it spans the common days exactly and stays between the smallest and the largest return', () => {
    fc.assert(
      fc.property(fc.array(dailySeries(300, 500), { minLength: 2, maxLength: 5 }), all => {
        const book = equalWeightBook(all)
        const first = Math.max(...all.map(series => series.first))
        const last = Math.min(...all.map(lastDay))
        expect(book.values).toHaveLength(Math.max(last - first + 1, 0))
        book.values.forEach((value, i) => {
          const returns = all.map(series => series.values[first + i - series.first]!)
          expect(value).toBeGreaterThanOrEqual(Math.min(...returns) - 1e-15)
          expect(value).toBeLessThanOrEqual(Math.max(...returns) + 1e-15)
        })
      }),
      { numRuns: 30 },
    )
  })
})
