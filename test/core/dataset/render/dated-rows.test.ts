// Series are written by a kernel of their own: the same bytes as column by column.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvWriting } from '#core/dataset/render/csv.ts'
import { toRowShape } from '#core/dataset/render/dated-rows.ts'
import { renderJson } from '#core/dataset/render/json.ts'
import type { Table } from '#core/dataset/render/table.ts'
import { writeWhole } from '#core/dataset/render/text-writer.ts'
import { seriesTable } from '#core/dataset/resources/returns.ts'
import type { Series } from '#core/figures/series.ts'
import { forAll } from '#test/support/for-all.ts'

/** Ten digits and what follows them: on a tie, next to one, and at the ends of a decade. */
const atTheEdge = fc
  .tuple(
    fc.oneof(fc.integer({ min: 1e9, max: 1e10 - 1 }), fc.constantFrom(1e9, 1e10 - 1)),
    fc.constantFrom(0, 0.5, 0.4999999999, 0.5000000001, 0.499991, 0.500009, 0.49),
    fc.integer({ min: -22, max: 1 }),
    fc.constantFrom(1, -1),
  )
  .map(([digits, rest, exponent, sign]) => sign * (digits + rest) * 10 ** exponent)

/** Few digits, so that zeros are left out, before the point and behind it. */
const short = fc
  .tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: -13, max: 8 }))
  .map(([digits, exponent]) => digits * 10 ** exponent)

/** Days before 1970, of these years and beyond the list of known ones. */
const series: fc.Arbitrary<Series> = fc.record({
  period: fc.constantFrom('daily', 'weekly'),
  first: fc.oneof(fc.integer({ min: -100_000, max: 10 }), fc.integer({ min: 0, max: 47_600 })),
  values: fc
    .array(
      fc.oneof(
        fc.double({ min: -2, max: 2, noNaN: true }),
        fc.double({ min: -1e300, max: 1e300, noNaN: true }),
        fc.constantFrom(0, -0, 5e-324, -1e-12, 1e-12, 1e9, 999_999_999.99),
        atTheEdge,
        short,
      ),
    )
    .map(values => Float64Array.from(values)),
})

const toCsv = (table: Table): Uint8Array => writeWhole(csvWriting(table))
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function assertSameBytes(given: Series): void {
  const { series: _known, ...columns } = seriesTable(given, 'ret')
  expect(text(renderJson(seriesTable(given, 'ret')))).toBe(text(renderJson(columns)))
  expect(text(toCsv(seriesTable(given, 'ret')))).toBe(text(toCsv(columns)))
}

test('a series has the bytes that its columns would write one after the other', () => {
  forAll(1000, series, assertSameBytes)
})

test('a series of more than one block, and one with rows outside every block, has the bytes of its columns too', () => {
  const values = Float64Array.from({ length: 9000 }, (_, i) =>
    i % 7 === 3 ? 1e-15 * i : Math.sin(i) * 10 ** (i % 9),
  )
  assertSameBytes({ period: 'daily', first: 10_000, values })
  assertSameBytes({ period: 'weekly', first: -20_000, values }) // from before the list of days until behind it
})

test('a series with a number that is not finite is refused wherever the number stands', () => {
  for (const value of [Number.NaN, Infinity, -Infinity]) {
    const given: Series = { period: 'daily', first: 17_000, values: Float64Array.of(1.5, value, 2) }
    expect(() => renderJson(seriesTable(given, 'ret'))).toThrow(`refusing to publish the number ${value}`)
  }
})

test('a text that the kernel cannot move is refused by name', () => {
  expect(() => toRowShape('', '","return_fraction":', '}', ',')).toThrow(
    /return_fraction.* 16 bytes at the most/,
  )
})

test('an answer that outgrows the shared desk is whole, and leaves nothing to the next', () => {
  const long: Series = { period: 'daily', first: 47_000, values: new Float64Array(60_000).fill(0.123456789) }
  const rows: unknown = JSON.parse(text(renderJson(seriesTable(long, 'ret'))))
  expect(rows).toHaveLength(60_000)
  expect(text(renderJson([1]))).toBe('[1]')
})
