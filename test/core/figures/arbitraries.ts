// What the laws of the numerics are tried on.
import fc from 'fast-check'
import type { Series } from '#core/figures/series.ts'
import { dailyFrom } from '#test/support/daily.ts'

const FIRST_DAY = 17_000 // a Monday is not special: the offset varies

/** A day's return of an account that survives: -90 % to +200 %, with many zeros and repeated values. */
export const aReturn = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: -0.2, max: 0.2, noNaN: true }) },
  { weight: 1, arbitrary: fc.double({ min: -0.9, max: 2, noNaN: true }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 0.01, -0.01) },
)

export const returnsOf = (minLength: number, maxLength: number): fc.Arbitrary<Float64Array> =>
  fc.array(aReturn, { minLength, maxLength }).map(values => Float64Array.from(values))

/** A gapless daily series that begins on any weekday. */
export const dailySeries = (minLength: number, maxLength: number): fc.Arbitrary<Series> =>
  fc
    .record({ offset: fc.integer({ min: 0, max: 400 }), values: returnsOf(minLength, maxLength) })
    .map(({ offset, values }) => dailyFrom(FIRST_DAY + offset, values))

/** Series of a book: some share a window, some are flat, some short, some do not meet at all. */
export const bookOf = (minLength: number, maxLength: number): fc.Arbitrary<Series[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: sameWindow },
      { weight: 3, arbitrary: dailySeries(0, 120) },
      { weight: 1, arbitrary: flatSeries },
    ),
    { minLength, maxLength },
  )

const sameWindow: fc.Arbitrary<Series> = returnsOf(60, 60).map(values => dailyFrom(FIRST_DAY, values))

const flatSeries: fc.Arbitrary<Series> = fc
  .constantFrom(0, 0.001)
  .map(value => dailyFrom(FIRST_DAY, new Float64Array(60).fill(value)))
