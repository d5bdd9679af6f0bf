// JSON and CSV are two spellings of the same numbers, and a request has one answer however it is spelled.
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseIsoDate } from '#core/calendar.ts'
import { DEFAULT_PARAMS, FORMATS, type Params, PERIODS, parseParams } from '#core/contract/parameters.ts'
import { renderAnswer, renderBlocks } from '#core/dataset/resources/render-answer.ts'
import { canonicalPath, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { forAll } from '#test/support/for-all.ts'
import { anyRisk, anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import {
  readCorrelation,
  readCsv,
  readCurve,
  readExport,
  readReturns,
  readRolling,
  readStats,
  readTrades,
  textOf,
} from './evaluate.ts'

const PLAIN_DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?$/

const given = fc.record({ period: fc.constantFrom(...PERIODS), risk_pct: fc.option(anyRisk) })

/** A cell as JSON would hold it. */
function toValue(cell: string): string | number {
  if (!/^-?\d+(\.|$)/.test(cell)) return cell
  expect(cell).toMatch(PLAIN_DECIMAL)
  return Number(cell)
}

const everyStrategy = (
  law: (snapshot: Snapshot, sid: string, given: Pick<Params, 'period' | 'risk_pct'>) => void,
): void =>
  forAll(25, anySnapshot, given, (snapshot, params) => {
    for (const { id } of snapshot.strategies) law(snapshot, id, params)
  })

test.each([
  ['returns', 'ret', readReturns],
  ['curve', 'equity', readCurve],
] as const)('CSV and JSON of %s carry the same cells, without an exponent', (id, column, read) => {
  everyStrategy((snapshot, sid, params) => {
    const { header, rows } = readCsv(id, snapshot, { ...params, sid })
    const data: readonly Record<string, unknown>[] = read(snapshot, { ...params, sid }).data
    expect(header).toEqual(['t', column])
    expect(rows.map(row => row.map(toValue))).toEqual(data.map(point => [point.t, point[column]]))
  })
})

test('CSV and JSON of rolling years carry the same cells, and a cell that is null is empty', () => {
  const daily = Array.from({ length: 800 }, (_, i) => (i < 366 ? 0.001 : 0.02 * Math.sin(i * i)))
  const alone = handSnapshot([{ id: 'alder', returns: daily.with(780, -0.3) }])
  const { instrument, daily: held } = alone.strategies[0]!
  const book = { ...alone, benchmarks: [{ instrument, daily: held }] }
  for (const risk_pct of [null, 0.1]) {
    const { header, rows } = readCsv('rolling', book, { sid: 'alder', risk_pct })
    const { data } = readRolling(book, { sid: 'alder', risk_pct })
    expect(header).toEqual(['t', 'return_pct', 'volatility_pct', 'sharpe', 'beta'])
    expect(rows.map(row => row.map(cell => (cell === '' ? null : toValue(cell))))).toEqual(
      data.map(row => header.map(name => row[name])),
    )
    expect(data[0]).toMatchObject({ t: '2024-12-30', volatility_pct: 0, sharpe: null, beta: null })
    expect(data.at(-1)!.sharpe === null).toBe(risk_pct === 0.1) // 5 times a loss of 30 % is ruin
    expect(data[400]!.beta).toBe(risk_pct === 0.1 ? 5 : 1)
    expect(readRolling(alone, { sid: 'alder', risk_pct }).data[400]!.beta).toBeNull()
  }
})

test('CSV and JSON of trades carry the same cells, without an exponent, and `live` is the last column', () => {
  everyStrategy((snapshot, sid) => {
    const { header, rows } = readCsv('trades', snapshot, { sid })
    const { data } = readTrades(snapshot, { sid })
    const fields = header.filter(name => !name.endsWith('_utc'))
    expect(header.slice(-3)).toEqual(['entry_time_utc', 'exit_time_utc', 'live'])
    expect(rows.map(row => row.toSpliced(-3, 2).map(toValue))).toEqual(
      data.map(trade => fields.map(name => trade[name] ?? '')),
    )
    for (const trade of data) expect(Object.keys(trade)).toEqual(fields)
    for (const [i, { entry_time, exit_time }] of data.entries())
      expect(rows[i]!.slice(-3, -1).map(cell => Date.parse(cell))).toEqual([entry_time, exit_time])
  })
})

test('CSV and JSON of an export carry the same cells: outside the window of a strategy the cell is empty and the key absent', () => {
  forAll(25, anySnapshot, given, (snapshot, params) => {
    const { header, rows } = readCsv('export', snapshot, params)
    const { data } = readExport(snapshot, params)
    expect(header).toEqual(['t', ...data.ids])
    const objects = rows.map(([t, ...cells]) => ({
      t,
      rets: Object.fromEntries(
        cells.flatMap((cell, i) => (cell === '' ? [] : [[data.ids[i], toValue(cell)]])),
      ),
    }))
    expect(objects).toEqual(data.rows)
  })
})

const book = handSnapshot([
  { id: 'alder', returns: [0.01, 0, -0.01] },
  { id: 'birch', first: '2024-01-02', returns: [0.02] },
  { id: 'cedar', first: '2024-01-05', returns: [0.03] },
])

test('a ledger without trades is empty, counts 0, and its CSV is the header', () => {
  expect(readTrades(book, { sid: 'alder' })).toMatchObject({ data: [], meta: { count: 0 } })
  expect(readCsv('trades', book, { sid: 'alder' }).rows).toEqual([])
  const none = { trade_count: 0, win_rate_pct: 0, profit_factor: null }
  expect(readStats(book, { sid: 'alder' }).data).toMatchObject(none)
})

test('the export has a row for every day from the earliest to the latest, also for one on which nobody traded', () => {
  expect(readExport(book).data.rows).toEqual([
    { t: '2024-01-01', rets: { alder: 0.01 } },
    { t: '2024-01-02', rets: { alder: 0, birch: 0.02 } },
    { t: '2024-01-03', rets: { alder: -0.01 } },
    { t: '2024-01-04', rets: {} },
    { t: '2024-01-05', rets: { cedar: 0.03 } },
  ])
})

test('a CSV answer is named after what it holds', () => {
  const nameOf = (id: 'returns' | 'curve' | 'trades' | 'export', params: Partial<Params>) =>
    readCsv(id, book, params).headers['content-disposition']
  const named = (name: string) => `attachment; filename="${name}-20240601T001500Z.csv"`
  expect(nameOf('returns', { sid: 'alder' })).toBe(named('alder-returns-daily'))
  expect(nameOf('curve', { sid: 'alder', risk_pct: 0.5 })).toBe(named('alder-curve-risk-0.1'))
  expect(nameOf('trades', { sid: 'alder' })).toBe(named('alder-trades'))
  const range = { from: parseIsoDate('2024-01-02'), to: parseIsoDate('2024-02-01') }
  expect(nameOf('export', { ...range, period: 'weekly' })).toBe(
    named('all-export-weekly-from-2024-01-02-to-2024-02-01'),
  )
  expect(nameOf('export', { period: 'weekly', risk_pct: 0.05 })).toBe(named('all-export-weekly-risk-0.05'))
})

test('a request is read back from its canonical address as it was, and answered by the same bytes', () => {
  const params = fc.record({
    period: fc.constantFrom(...PERIODS),
    format: fc.constantFrom(...FORMATS),
    risk_pct: fc.option(fc.double({ min: 1e-6, max: 1e6, noNaN: true })),
    from: fc.option(fc.integer({ min: -700_000, max: 19_750 })),
    to: fc.option(fc.integer({ min: 19_750, max: 2_900_000 })),
    ids: fc.constantFrom(null, ['s0']),
  })
  forAll(60, anySnapshot, fc.constantFrom(...DATASET_ROUTES), params, (snapshot, route, wanted) => {
    const given = {
      ...wanted,
      sid: 's0',
      format: route.formats.includes(wanted.format) ? wanted.format : 'json',
    }
    const address = new URL(canonicalPath(route.id, given), 'https://example.org')
    const { params, problems } = parseParams(route.query, address.searchParams)
    expect(problems).toEqual([])
    for (const name of Object.keys(route.query) as (keyof Params)[]) expect(params[name]).toEqual(given[name])
    expect(canonicalPath(route.id, { ...params, sid: 's0' })).toBe(address.pathname + address.search)
    expect(textOf(route.id, snapshot, { ...params, sid: 's0' })).toEqual(textOf(route.id, snapshot, given))
  })
})

const days = 40
const noise = (seed: number) => Array.from({ length: days }, (_, i) => Math.sin(i * i + seed) / 100)
const named = handSnapshot([
  { id: 'alder', returns: noise(0) },
  { id: 'birch', returns: noise(1) },
  { id: 'cedar', returns: Array(days).fill(0) },
])
const [alder, ...others] = named.strategies
const quoted: Snapshot = {
  ...named,
  strategies: [{ ...alder!, name: 'Alder, "the first"', blurb: 'One\nline.', leverage_max: 2.5 }, ...others],
}

test('the catalogue as CSV has texts in quotes where they need them, and the headline beside the rest', () => {
  const { text } = textOf('strategies', quoted, { format: 'csv' })
  const { data } = z
    .object({ data: z.array(z.object({ headline: z.record(z.string(), z.unknown()) }).loose()) })
    .parse(JSON.parse(textOf('strategies', quoted).text))
  const { headline, ...rest } = data[0]!
  const [header] = text.split('\r\n')
  expect(header!.split(',')).toEqual([...Object.keys(rest), ...Object.keys(headline)])
  const parsed: Record<string, string>[] = parse(text, { columns: true })
  expect(parsed).toEqual(
    data.map(({ headline, ...rest }) =>
      Object.fromEntries(
        Object.entries({ ...rest, ...headline }).map(([name, value]) => [name, String(value ?? '')]),
      ),
    ),
  )
  expect(parsed[0]).toMatchObject({ name: 'Alder, "the first"', blurb: 'One\nline.', leverage_max: '2.5' })
  expect(parsed[1]!.leverage_max).toBe('')
})

test.each([
  { ids: null, expected: ['alder', 'birch', 'cedar'] },
  { ids: ['cedar', 'alder'], expected: ['cedar', 'alder'] },
])('the matrix of $expected as CSV has an empty cell for an undefined one', ({ ids, expected }) => {
  const { header, rows } = readCsv('correlation', quoted, { ids })
  const { data } = readCorrelation(quoted, { ids })
  expect(header).toEqual(['id', ...expected])
  expect(rows.map(([id]) => id)).toEqual(expected)
  const undefinedIds = data.undefined_pairs.map(({ pair }) => pair.toSorted().join())
  expect(undefinedIds).toContain('alder,cedar')
  data.ids.forEach((a, i) => {
    data.ids.forEach((b, j) => {
      const cell = undefinedIds.includes([a, b].toSorted().join()) ? '' : String(data.matrix[i]![j]!)
      expect(rows[i]![j + 1]).toBe(cell)
    })
  })
})

test.each(FORMATS)('a number that is not finite is refused as %s and never published', format => {
  const traded = handSnapshot([
    { id: 'alder', returns: [0.01], trades: [{ entry_time: 0, exit_time: 1, account_return: 0.1 }] },
  ])
  const strategy = traded.strategies[0]!
  const values = Float64Array.of(Number.NaN)
  const ofSeries = { daily: { ...strategy.daily, values } }
  const ofTrades = { trades: { ...strategy.trades, notional_return: values } }
  for (const [id, changes] of [
    ['returns', ofSeries],
    ['curve', ofSeries],
    ['export', ofSeries],
    ['trades', ofTrades],
  ] as const) {
    const broken: Snapshot = { ...traded, strategies: [{ ...strategy, ...changes }] }
    expect(() => textOf(id, broken, { sid: 'alder', format }), id).toThrow(/NaN/)
  }
})

/** Every resource in every format that it has. */
const POINTS = DATASET_ROUTES.flatMap(({ id, formats }) => formats.map(format => ({ id, format })))

const anyPoint = fc.record({
  point: fc.constantFrom(...POINTS),
  period: fc.constantFrom(...PERIODS),
  risk_pct: fc.option(anyRisk),
  from: fc.option(fc.integer({ min: 19_650, max: 19_775 })),
  to: fc.option(fc.integer({ min: 19_775, max: 19_900 })),
})

test('the blocks of an answer, one after the other, are its bytes, however small they are', () => {
  forAll(80, anySnapshot, anyPoint, fc.integer({ min: 1, max: 3_000 }), (snapshot, given, size) => {
    const { point, ...rest } = given
    const params = { ...DEFAULT_PARAMS, ...rest, sid: 's0', format: point.format }
    const whole = renderAnswer(point.id, snapshot, params)
    const { blocks, headers } = renderBlocks(point.id, snapshot, params, size)
    expect(Buffer.concat([...blocks]).equals(whole.bytes)).toBe(true)
    expect(headers).toEqual(whole.headers)
  })
})

const manyDays = Float64Array.from({ length: 400 }, (_, i) => ((i * 7919) % 101) / 5000 - 0.01)
const longBook = handSnapshot(Array.from({ length: 20 }, (_, i) => ({ id: `s${i}`, returns: manyDays })))
const SIZE = 3_000
const LONGEST_ROW = 20 * 25 + 40

test.each(['json', 'csv'] as const)('blocks of %s are at most a row larger than asked for', format => {
  const params = { ...DEFAULT_PARAMS, format, risk_pct: 0.013 }
  const sizes = [...renderBlocks('export', longBook, params, SIZE).blocks].map(({ length }) => length)
  expect(sizes.length).toBeGreaterThan(20)
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(SIZE)
  expect(Math.max(...sizes)).toBeLessThan(SIZE + LONGEST_ROW)
})

test('an export in blocks is made no further than it is read: what comes later may still be broken', () => {
  const [first, ...others] = longBook.strategies
  const values = manyDays.with(300, Number.NaN)
  const broken = { ...longBook, strategies: [{ ...first!, daily: { ...first!.daily, values } }, ...others] }
  const { blocks } = renderBlocks('export', broken, { ...DEFAULT_PARAMS, risk_pct: 0.013 }, SIZE)
  const made = blocks[Symbol.iterator]()
  for (let i = 0; i < 10; i++) expect(made.next().done).toBe(false)
  expect(() => [...blocks]).toThrow('refusing to publish the number NaN')
})

test('an export in blocks is refused as a whole, before there is a block, if a number at its level is too large', () => {
  const params = { ...DEFAULT_PARAMS, risk_pct: 1e307 }
  const roomy = { ...longBook, dataset: { ...longBook.dataset, max_modelled_risk_pct: 1e307 } }
  expect(() => renderBlocks('export', roomy, params)).toThrow('invalid query parameters: risk_pct')
})
