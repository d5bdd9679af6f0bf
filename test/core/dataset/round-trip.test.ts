// The dataset as bytes: nothing is lost on the way there and back, and nothing is copied on the way back.

import { type DataType, tableFromIPC } from 'apache-arrow'
import { expect, inject, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { SNAPSHOT_FORMAT, type Snapshot, strategyOf } from '#core/dataset/snapshot.ts'
import { decodeSnapshot, encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import type { SnapshotBytes, SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { dayOf, type Period, type Series } from '#core/figures/series.ts'
import { openStore } from '#storage/open-store.ts'
import { forAll } from '#test/support/for-all.ts'
import { anySnapshot } from '../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { toBytes } from '../../support/books/publish-in-memory.ts'
import { snapshotBytesOf } from '../../support/stores/stored-bytes.ts'
import { readStats } from './resources/evaluate.ts'

const HOUR_MS = 3_600_000

const SNAPSHOT = handSnapshot([
  {
    id: 'alder',
    returns: Array.from({ length: 60 }, (_, i) => Math.sin(i) / 50),
    trades: [{ entry_time: 0, exit_time: HOUR_MS, account_return: -0.01, stop: 90 }],
  },
  { id: 'birch', first: '2024-02-01', returns: [0.01] },
])

const mapBytes = (bytes: SnapshotBytes, change: (bytes: Uint8Array) => Uint8Array) =>
  Object.fromEntries(Object.entries(bytes).map(([file, part]) => [file, change(part)])) as SnapshotBytes

test('a snapshot is read back from its bytes bit for bit, and has the same bytes computed, copied or read', () => {
  forAll(40, anySnapshot, snapshot => {
    const bytes = encodeSnapshot(snapshot)
    const read = decodeSnapshot(bytes)
    expect(read).toEqual(snapshot)
    expect(encodeSnapshot(structuredClone(snapshot))).toEqual(bytes)
    expect(encodeSnapshot(read)).toEqual(bytes)
  })
})

test('a snapshot that differs in the last bit of one return has other bytes', () => {
  const [first, ...rest] = SNAPSHOT.strategies
  const values = first!.daily.values.map((value, i) => (i === 7 ? value * (1 + Number.EPSILON) : value))
  const other = { ...SNAPSHOT, strategies: [{ ...first!, daily: { ...first!.daily, values } }, ...rest] }
  expect(encodeSnapshot(other).daily).not.toEqual(encodeSnapshot(SNAPSHOT).daily)
})

test('a snapshot without strategies has bytes too', () => {
  const matrix = { size: 0, rho: new Float64Array(0), overlap: new Int32Array(0) }
  const empty = { ...SNAPSHOT, strategies: [], correlation: { daily: matrix, weekly: matrix } }
  expect(decodeSnapshot(encodeSnapshot(empty))).toEqual(empty)
})

test('a snapshot that is read copies no series, ledger or matrix: all are views on the bytes', () => {
  const bytes = encodeSnapshot(SNAPSHOT)
  const { strategies, correlation } = decodeSnapshot(bytes)
  for (const { daily, weekly, trades } of strategies) {
    expect(daily.values.buffer).toBe(bytes.daily.buffer)
    expect(weekly.values.buffer).toBe(bytes.weekly.buffer)
    expect(trades.entry_time.buffer).toBe(bytes.trades.buffer)
    expect(trades.side.codes.buffer).toBe(bytes.trades.buffer)
  }
  expect(correlation.daily.rho.buffer).toBe(bytes.correlation.buffer)
  expect(correlation.weekly.overlap.buffer).toBe(bytes.correlation.buffer)
})

test('a snapshot is read from memory that threads share, without a copy there either', () => {
  const bytes = mapBytes(encodeSnapshot(SNAPSHOT), part => {
    const shared = new Uint8Array(new SharedArrayBuffer(part.length))
    shared.set(part)
    return shared
  })
  const snapshot = decodeSnapshot(bytes)
  expect(snapshot.strategies[0]!.daily.values.buffer).toBe(bytes.daily.buffer)
  expect(encodeSnapshot(snapshot).daily).toEqual(encodeSnapshot(SNAPSHOT).daily)
})

test('a snapshot is read from bytes that begin at an odd place of a larger buffer', () => {
  const bytes = mapBytes(encodeSnapshot(SNAPSHOT), part => {
    const larger = new Uint8Array(part.length + 3)
    larger.set(part, 3)
    return larger.subarray(3)
  })
  expect(decodeSnapshot(bytes)).toEqual(SNAPSHOT)
})

test('benchmarks of a snapshot come back as they were, and equal ones give equal bytes', () => {
  const daily: Series = { period: 'daily', first: 19_723, values: Float64Array.of(0.01, -0.02, 0) }
  const benchmarks = [
    { instrument: 'BTCUSDT-PERP', daily },
    { instrument: 'ETHUSDT-PERP', daily: { ...daily, first: 19_800, values: Float64Array.of(0.5) } },
  ]
  const bytes = encodeSnapshot({ ...SNAPSHOT, benchmarks })
  expect(decodeSnapshot(bytes).benchmarks).toEqual(benchmarks)
  expect(encodeSnapshot(decodeSnapshot(bytes))).toEqual(bytes)
})

test('a snapshot of the first release gives statistics that fit the document, with null for the day since when a position is open', () => {
  const bytes = encodeSnapshot(SNAPSHOT)
  const text = new TextDecoder().decode(bytes.document)
  const first = JSON.parse(text, (name, value) => (name === 'open_since' ? undefined : value))
  const old = decodeSnapshot({ ...bytes, document: toBytes(first) })
  for (const risk_pct of [null, 0.01])
    expect(readStats(old, { sid: 'alder', risk_pct }).data.fund_dd.exposure.open_since).toBeNull()
})

const bytes = encodeSnapshot(SNAPSHOT)
const document: object = JSON.parse(new TextDecoder().decode(bytes.document))
const withDocument = (changes: object) => ({ ...bytes, document: toBytes({ ...document, ...changes }) })

test.each([
  [SNAPSHOT_FORMAT - 1, 'use the program that made it'],
  [SNAPSHOT_FORMAT + 1, 'update the program'],
])('a snapshot of format %i is refused, with what to do about it: %s', (format_version, remedy) => {
  expect(() => decodeSnapshot(withDocument({ format_version }))).toThrow(
    `this snapshot has format ${format_version}, and this program reads format ${SNAPSHOT_FORMAT}: ${remedy}`,
  )
})

test.each([
  { side: ['short', 'long'], exit_reason: ['stop', 'signal', 'time', 'target', 'liquidation'] },
  { side: ['long', 'short'], exit_reason: ['signal', 'stop', 'time', 'target', 'liquidation'] },
])('a snapshot whose codes stand for other words is refused: %j', words => {
  expect(() => decodeSnapshot(withDocument({ words }))).toThrow(
    'in another order: use the program that made it',
  )
})

test.each<[SnapshotFile, SnapshotFile, string]>([
  ['daily', 'trades', "no column 'ret'"],
  ['weekly', 'correlation', "no column 'ret'"],
  ['trades', 'daily', "no column 'side'"],
  ['correlation', 'weekly', "no column 'daily_rho'"],
])('a snapshot whose file %s is really %s is refused', (file, other, message) => {
  expect(() => decodeSnapshot({ ...bytes, [file]: bytes[other] })).toThrow(message)
})

test('a strategy is found by its id, and an unknown id finds none', () => {
  const snapshot = handSnapshot([
    { id: 'ash', returns: [0.01] },
    { id: 'elm', returns: [0.02] },
  ])
  expect(strategyOf(snapshot, 'elm')).toBe(snapshot.strategies[1])
  expect(strategyOf(snapshot, 'oak')).toBeNull()
  expect(strategyOf(snapshot, '__proto__')).toBeNull()
  expect(strategyOf(handSnapshot([{ id: 'ash', returns: [0.03] }]), 'elm')).toBeNull()
})

test('the ids of a snapshot are read at the first look-up of a strategy, and at no later one', () => {
  const { strategies, ...rest } = handSnapshot([{ id: 'ash', returns: [0.01] }])
  const [ash] = strategies
  const renamed: Snapshot = { ...rest, strategies: [{ ...ash!, id: 'elm' }] }
  const found = strategyOf(renamed, 'elm')
  Object.assign(renamed.strategies[0]!, { id: 'oak' })
  expect([strategyOf(renamed, 'elm'), strategyOf(renamed, 'oak')]).toEqual([found, null])
})

const tiny = await snapshotBytesOf(await openStore(inject('tinyStore').privateUrl), TINY_VERSION)
const snapshot = decodeSnapshot(tiny)

const typesOf = (file: Uint8Array): Record<string, string> =>
  Object.fromEntries(tableFromIPC(file).schema.fields.map(({ name, type }) => [name, nameOf(type)]))

const nameOf = (type: DataType): string => String(type)

const column = (file: Uint8Array, name: string): number[] => {
  const vector = tableFromIPC(file).getChild(name)
  if (vector === null) throw new Error(`no column ${name}`)
  return Array.from(vector.toArray(), Number)
}

test.each<Period>(['daily', 'weekly'])('the %s file has a row for each point in apache-arrow', period => {
  const file = tiny[period]
  const series = snapshot.strategies.map(strategy => strategy[period])
  expect(typesOf(file)).toEqual({ strategy: 'Int32', t: 'Date32<DAY>', ret: 'Float64' })
  expect(column(file, 'ret')).toEqual(series.flatMap(({ values }) => [...values]))
  expect(column(file, 't')).toEqual(
    series.flatMap(one => [...one.values].map((_, i) => dayOf(one, i) * DAY_MS)),
  )
  expect(column(file, 'strategy')).toEqual(series.flatMap(({ values }, i) => [...values].map(() => i)))
})

test('every file is one batch without nulls, so that its columns can be used where they lie', () => {
  for (const file of [tiny.daily, tiny.weekly, tiny.trades, tiny.correlation]) {
    const table = tableFromIPC(file)
    expect(table.batches).toHaveLength(1)
    expect(table.nullCount).toBe(0)
  }
})

test('a file without rows names its columns and their types all the same', () => {
  const short = encodeSnapshot(handSnapshot([{ id: 'alder', returns: [0.01] }]))
  expect(typesOf(short.weekly)).toEqual({ strategy: 'Int32', t: 'Date32<DAY>', ret: 'Float64' })
  expect(typesOf(short.trades)).toEqual(typesOf(tiny.trades))
  expect(tableFromIPC(short.trades).numRows).toBe(0)
})
