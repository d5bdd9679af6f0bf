import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvWriting } from '#core/dataset/render/csv.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import {
  dateColumn,
  numberColumn,
  significantColumn,
  type Table,
  wordColumn,
} from '#core/dataset/render/table.ts'
import { writeWhole } from '#core/dataset/render/text-writer.ts'
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
    wordColumn('side', () => 'long'),
    numberColumn('count', row => row),
  ],
}

test('plain values are written in JSON as JSON.stringify writes them', () => {
  forAll(fc.jsonValue({ maxDepth: 2 }), value => {
    const plain = JSON.parse(JSON.stringify(value, (key, inner) => (key === 'kind' ? undefined : inner)))
    expect(JSON.parse(text(renderJson(plain as Json)))).toEqual(JSON.parse(JSON.stringify(plain)))
  })
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'a document with %d is refused',
  value => {
    expect(() => renderJson({ data: [value] })).toThrow(`refusing to publish the number ${value}`)
  },
)

test('JSON has 0 for minus zero and leaves an undefined field out', () => {
  expect(text(renderJson({ a: -0, b: undefined }))).toBe('{"a":0}')
})

test('a table in JSON is an array of objects; a cell that does not exist has no key', () => {
  expect(text(renderJson(table))).toBe(
    '[{"t":"1970-01-04","alder":0.3,"side":"long","count":0},' +
      '{"t":"1970-01-11","alder":-0.0000001,"birch":2,"side":"long","count":1}]',
  )
})

test('a nested table in JSON keeps its first column outside', () => {
  const nested: Table = { ...table, columns: table.columns.slice(0, 3), nest: 'rets' }
  expect(text(renderJson(nested))).toBe(
    '[{"t":"1970-01-04","rets":{"alder":0.3}},{"t":"1970-01-11","rets":{"alder":-0.0000001,"birch":2}}]',
  )
})

test('an empty table is an empty array in JSON', () => {
  expect(text(renderJson({ ...table, rows: 0 }))).toBe('[]')
})

test('CSV is RFC 4180: a header, CRLF, empty cells, no exponents, no byte order mark', () => {
  expect(text(toCsv(table))).toBe(
    't,alder,birch,side,count\r\n1970-01-04,0.3,,long,0\r\n1970-01-11,-0.0000001,2,long,1\r\n',
  )
})

test('a column name in CSV with a comma or a quote is quoted', () => {
  const columns = [numberColumn('a,"b"', () => 1)]
  expect(text(toCsv({ kind: 'table', rows: 1, columns }))).toBe('"a,""b"""\r\n1\r\n')
})
