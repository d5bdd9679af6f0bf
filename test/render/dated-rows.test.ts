// Series are written in a loop of their own: the same bytes as column by column.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Series } from '#core/numerics/series.ts'
import { renderCsv } from '#core/render/csv.ts'
import { renderJson } from '#core/render/json.ts'
import { seriesTable } from '#core/resources/returns.ts'

/** Days before 1970, of these years and beyond the list of known ones. */
const series: fc.Arbitrary<Series> = fc.record({
  period: fc.constantFrom('daily', 'weekly'),
  first: fc.oneof(fc.integer({ min: -100_000, max: 10 }), fc.integer({ min: 0, max: 47_600 })),
  values: fc
    .array(
      fc.oneof(
        fc.double({ min: -2, max: 2, noNaN: true }),
        fc.double({ min: -1e300, max: 1e300, noNaN: true }),
      ),
    )
    .map(values => Float64Array.from(values)),
})

test('a series has the bytes that its columns would write one after the other', () => {
  fc.assert(
    fc.property(series, given => {
      const { series: _known, ...columns } = seriesTable(given, 'ret')
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
      expect(text(renderJson(seriesTable(given, 'ret')))).toBe(text(renderJson(columns)))
      expect(text(renderCsv(seriesTable(given, 'ret')))).toBe(text(renderCsv(columns)))
    }),
  )
})

test('an answer that outgrows the shared desk is whole, and leaves nothing to the next', () => {
  const long: Series = { period: 'daily', first: 47_000, values: new Float64Array(60_000).fill(0.123456789) }
  const rows: unknown = JSON.parse(new TextDecoder().decode(renderJson(seriesTable(long, 'ret'))))
  expect(rows).toHaveLength(60_000)
  expect(new TextDecoder().decode(renderJson([1]))).toBe('[1]')
})
