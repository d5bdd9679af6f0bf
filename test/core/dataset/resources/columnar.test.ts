// Arrow and Parquet carry the numbers of the text formats, to the last bit, in columns that have types.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_PARAMS, type Params, PERIODS } from '#core/contract/parameters.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { forAll } from '#test/support/for-all.ts'
import { anyRisk, anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { HAND_VERSION, handSnapshot } from '../../../support/books/hand-snapshot.ts'
import { readCsv } from './evaluate.ts'
import { BINARY_FORMATS, type BinaryFormat, readTable } from './read-columns.ts'

const given = fc.record({ period: fc.constantFrom(...PERIODS), risk_pct: fc.option(anyRisk) })

const render = (id: ResourceId, snapshot: Snapshot, params: Partial<Params>) =>
  renderAnswer(id, snapshot, { ...DEFAULT_PARAMS, ...params })

const read = (id: ResourceId, snapshot: Snapshot, format: BinaryFormat, params: Partial<Params> = {}) =>
  readTable(format, render(id, snapshot, { ...params, format }).bytes)

/** A cell of CSV as a value: a number where it is one, null where it is empty. */
const toValue = (cell: string): string | number | null => {
  if (cell === '') return null
  return /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell
}

/** `Object.is` on every cell of every format, so that a minus zero or a last bit would show. */
function expectSameCells(id: ResourceId, snapshot: Snapshot, params: Partial<Params>) {
  const csv = readCsv(id, snapshot, params)
  for (const format of BINARY_FORMATS) {
    const { header, rows } = read(id, snapshot, format, params)
    expect(header, id).toEqual(csv.header.filter(name => !name.endsWith('_utc')))
    expect(rows.length, id).toBe(csv.rows.length)
    const differing = rows.flatMap((cells, row) =>
      cells.flatMap((cell, i) => {
        const expected = toValue(csv.rows[row]![csv.header.indexOf(header[i]!)]!)
        return Object.is(cell, expected) ? [] : [{ format, row, column: header[i], cell, expected }]
      }),
    )
    expect(differing, id).toEqual([])
  }
}

test('every table as Arrow and as Parquet has every cell of the CSV, to the last bit, and null if it is empty', () => {
  forAll(20, anySnapshot, given, (snapshot, params) => {
    const { instrument, daily } = snapshot.strategies[0]!
    const strategies = snapshot.strategies.map(each => ({ ...each, name: each.id, blurb: null }))
    const book = { ...snapshot, strategies, benchmarks: [{ instrument, daily }] }
    for (const id of ['export', 'benchmark', 'correlation', 'strategies'] as const)
      expectSameCells(id, book, params)
    for (const { id: sid } of strategies)
      for (const id of ['trades', 'returns', 'curve', 'rolling'] as const)
        expectSameCells(id, book, { ...params, sid })
  })
  const daily = Array.from({ length: 400 }, (_, i) => (i < 370 ? 0 : 0.02 * Math.sin(i * i)))
  expectSameCells('rolling', handSnapshot([{ id: 'alder', returns: daily }]), { sid: 'alder' })
})

const book = handSnapshot(
  [
    { id: 'alder', first: '1969-12-31', returns: [0.01, -0, -0.012345678901] },
    {
      id: 'birch',
      first: '1970-01-02',
      returns: [1 / 3],
      trades: [{ entry_time: -1, exit_time: 1_700_000_000_123, account_return: 0.1 }],
    },
  ],
  { disclaimer: 'Not\nadvice – ever.' },
)

test.each(BINARY_FORMATS)('an export as %s has a date a row and a nullable number a strategy', format => {
  const { types, rows } = read('export', book, format)
  expect(types).toEqual(['Timestamp<MILLISECOND>', 'Float64', 'Float64'])
  expect(rows).toEqual([
    ['1969-12-31', 0.01, null],
    ['1970-01-01', 0, null],
    ['1970-01-02', -0.0123456789, 0.3333333333],
  ])
})

test.each(BINARY_FORMATS)('a ledger as %s has timestamps in UTC, texts and numbers', format => {
  const { header, types, rows } = read('trades', book, format, { sid: 'birch' })
  const typeOf = Object.fromEntries(header.map((name, i) => [name, types[i]]))
  expect(typeOf).toEqual({
    ...{ side: 'Utf8', entry_time: 'Timestamp<MILLISECOND, UTC>', entry_price: 'Float64' },
    ...{ exit_time: 'Timestamp<MILLISECOND, UTC>', exit_price: 'Float64', duration_days: 'Float64' },
    ...{ return_pct: 'Float64', result: 'Utf8', exit_reason: 'Utf8', live: 'Utf8' },
  })
  expect([rows[0]![1], rows[0]![3]]).toEqual([-1, 1_700_000_000_123])
})

test.each(BINARY_FORMATS)('an empty table as %s has its columns, their types and no row', format => {
  const ledger = read('trades', book, format, { sid: 'alder' })
  expect(ledger.rows).toEqual([])
  expect(ledger.types).toEqual(read('trades', book, format, { sid: 'birch' }).types)
  expect(read('export', book, format, { period: 'weekly' })).toMatchObject({
    header: ['t', 'alder', 'birch'],
    types: ['Timestamp<MILLISECOND>', 'Float64', 'Float64'],
    rows: [],
  })
})

test.each([
  ['arrow', 'application/vnd.apache.arrow.file'],
  ['parquet', 'application/vnd.apache.parquet'],
  ['csv', 'text/csv; charset=utf-8; header=present'],
] as const)(
  'a table as %s has in its headers what the envelope would, and a binary one in its metadata',
  (format, type) => {
    const { headers } = render('export', book, { format, risk_pct: 0.5 })
    expect(headers).toEqual({
      'content-type': type,
      'content-disposition': `attachment; filename="all-export-daily-risk-0.1-20240601T001500Z.${format}"`,
      'x-dataset-version': HAND_VERSION,
      'x-disclaimer': 'Not advice ? ever.',
      'x-risk-pct-effective': '0.1',
      'x-risk-pct-clamped': 'true',
    })
    if (format === 'csv') return // it has no place for them
    expect(read('export', book, format, { risk_pct: 0.5 }).metadata).toMatchObject({
      dataset_version: HAND_VERSION,
      disclaimer: 'Not\nadvice – ever.',
      risk_pct_effective: '0.1',
      risk_pct_clamped: 'true',
    })
  },
)

test.each(BINARY_FORMATS)('an instant that is not a whole millisecond is refused as %s', format => {
  const [alder, birch] = book.strategies
  const trades = { ...birch!.trades, exit_time: Float64Array.of(1.5) }
  const broken = { ...book, strategies: [alder!, { ...birch!, trades }] }
  expect(() => render('trades', broken, { sid: 'birch', format })).toThrow(
    /refusing to publish the instant 1\.5/,
  )
})

test('a column of Parquet is optional where a strategy may have no value, and required elsewhere', () => {
  const book = handSnapshot([
    { id: 'alder', returns: [0.01], trades: [{ entry_time: 0, exit_time: 1, account_return: 0 }] },
  ])
  expect(read('export', book, 'parquet').nullable).toEqual([false, true])
  expect(read('trades', book, 'parquet', { sid: 'alder' }).nullable).toEqual([...Array(9).fill(false), true])
  expect(read('curve', book, 'parquet', { sid: 'alder' }).nullable).toEqual([false, false])
})

test('a ledger of more rows than a page or a group of Parquet holds comes back whole', () => {
  const count = 110_000 // a group holds 100 000
  const returns = Float64Array.from({ length: count }, (_, day) => ((day * 7919) % 1000) / 1e5)
  const book = handSnapshot([{ id: 'alder', first: '1600-01-01', returns: [0] }])
  const [alder] = book.strategies
  const long = { ...book, strategies: [{ ...alder!, daily: { ...alder!.daily, values: returns } }] }
  const { rows } = read('export', long, 'parquet')
  expect(rows.length).toBe(count)
  expect(rows.every(([, value], day) => value === returns[day])).toBe(true)
})
