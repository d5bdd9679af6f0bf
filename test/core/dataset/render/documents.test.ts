import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import { csvWriting } from '#core/dataset/render/csv.ts'
import { toRowShape } from '#core/dataset/render/dated-rows.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import {
  dateColumn,
  numberColumn,
  significantColumn,
  type Table,
  textColumn,
} from '#core/dataset/render/table.ts'
import {
  type ByteWriter,
  createWriter,
  finish,
  writeDate,
  writeNumber,
  writeSignificant,
  writeText,
  writeWhole,
} from '#core/dataset/render/text-writer.ts'
import { seriesTable } from '#core/dataset/resources/returns.ts'
import type { Series } from '#core/figures/series.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { forAll } from '#test/support/for-all.ts'

const toCsv = (table: Table): Uint8Array => writeWhole(csvWriting(table))
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const table: Table = {
  kind: 'table',
  rows: 2,
  columns: [
    dateColumn('t', { period: 'weekly', first: 3 }),
    significantColumn('alder', Float64Array.of(0.1 + 0.2, -1e-7)),
    { ...significantColumn('birch', Float64Array.of(0, 2)), has: row => row === 1 },
    textColumn('side', () => 'long'),
    numberColumn('count', row => row),
  ],
}

test('plain values are written in JSON as JSON.stringify writes them', () => {
  forAll(fc.jsonValue({ maxDepth: 2 }), value => {
    const plain = JSON.parse(JSON.stringify(value, (key, inner) => (key === 'kind' ? undefined : inner)))
    expect(JSON.parse(text(renderJson(plain as Json)))).toEqual(JSON.parse(JSON.stringify(plain)))
  })
})

const NESTED: Table = { ...table, columns: table.columns.slice(0, 3), nest: 'rets' }

test.each(casesOf<[string, Json, string]>`
0 for minus zero, and no field for an undefined one -> ${{ a: -0, b: undefined }} -> {"a":0}
a table as a list of objects, in which a cell that does not exist has no key -> ${table} -> [{"t":"1970-01-04","alder":0.3,"side":"long","count":0},{"t":"1970-01-11","alder":-0.0000001,"birch":2,"side":"long","count":1}]
a nested table with its first column outside -> ${NESTED} -> [{"t":"1970-01-04","rets":{"alder":0.3}},{"t":"1970-01-11","rets":{"alder":-0.0000001,"birch":2}}]`)(
  'a document in JSON has %s',
  (_, value, json) => {
    expect(text(renderJson(value))).toBe(json)
  },
)

test('CSV is RFC 4180: a header, CRLF, empty cells, no exponents, no byte order mark', () => {
  expect(text(toCsv(table))).toBe(
    't,alder,birch,side,count\r\n1970-01-04,0.3,,long,0\r\n1970-01-11,-0.0000001,2,long,1\r\n',
  )
})

test('a column name in CSV with a comma or a quote is quoted', () => {
  const columns = [numberColumn('a,"b"', () => 1)]
  expect(text(toCsv({ kind: 'table', rows: 1, columns }))).toBe('"a,""b"""\r\n1\r\n')
})

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
function assertSameBytes(given: Series): void {
  const { series: _known, ...columns } = seriesTable(given, 'ret')
  expect(text(renderJson(seriesTable(given, 'ret')))).toBe(text(renderJson(columns)))
  expect(text(toCsv(seriesTable(given, 'ret')))).toBe(text(toCsv(columns)))
}

test('a series has the bytes that its columns would write one after the other', () => {
  forAll(400, series, assertSameBytes)
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

const written = (write: (out: ByteWriter) => void): string => {
  const out = createWriter(1) // the smallest, so that every write has to grow it
  write(out)
  return new TextDecoder().decode(finish(out))
}

test('a number is written as its shortest decimal text, for every magnitude and number of decimals', () => {
  const rounded = fc
    .tuple(
      fc.double({ min: -10, max: 10, noNaN: true }),
      fc.integer({ min: -9, max: 9 }),
      fc.integer({ min: 0, max: 10 }),
    )
    .map(([digits, power, decimals]) => Number((digits * 10 ** power).toFixed(decimals)))
  const special = fc.constantFrom(
    ...[0, -0, 1e-8, -1e-8, 1e-9, 0.1, 999_999.99999999, 1e6, 123456.7, 1e21, 5e-324],
  )
  forAll(8000, fc.oneof(rounded, special, fc.double({ noNaN: true, noDefaultInfinity: true })), value => {
    expect(written(out => writeNumber(out, value))).toBe(toText(value))
  })
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => written(out => writeNumber(out, value))).toThrow('refusing to publish')
})

const exact = (value: number): string => toText(toSignificant(value))
const fast = (value: number): string => written(out => writeSignificant(out, value))

const ofAnySize = fc
  .tuple(fc.double({ min: -10, max: 10, noNaN: true }), fc.integer({ min: -18, max: 15 }))
  .map(([mantissa, exponent]) => mantissa * 10 ** exponent)

test.each([
  ['for every magnitude', 8000, ofAnySize],
  ['next to a tie and next to a power of ten', 12_000, atTheEdge],
  ['for 0 and long ones', 100, fc.constantFrom(0, -0, 0.1 + 0.2, 9.99999999999, 1e-15, 1e21)],
])('the fast path of ten significant digits writes what the exact path writes, %s', (_, runs, values) => {
  forAll(runs, values, value => {
    expect(fast(value)).toBe(exact(value))
  })
})

test('decimal text reads back as the same number and has no exponent, no needless zero and no minus zero', () => {
  forAll(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
    const text = toText(value)
    expect(text).toMatch(/^(?!-0$)-?(0|[1-9]\d*)(\.\d*[1-9])?$/)
    expect(Number(text)).toBe(value === 0 ? 0 : value)
  })
})

test('every day from 0001 to 9999 is written as Date writes it', () => {
  const day = fc.integer({ min: -719_000, max: 2_932_000 })
  forAll(1000, day, epochDay => {
    expect(written(out => writeDate(out, epochDay))).toBe(toIsoDate(epochDay))
  })
  for (const date of ['2000-02-29', '1900-02-28', '1900-03-01', '2024-12-31', '1970-01-01', '1969-12-31'])
    expect(written(out => writeDate(out, Date.parse(date) / 86_400_000))).toBe(date)
})

test('the byte writer writes any text as UTF-8 and grows as needed', () => {
  forAll(fc.array(fc.string({ unit: 'grapheme' })), texts => {
    expect(
      written(out => {
        for (const text of texts) writeText(out, text)
      }),
    ).toBe(texts.join('').toWellFormed())
  })
})
