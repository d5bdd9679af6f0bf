// The dataset as bytes: nothing is lost on the way there and back, and nothing is copied on the way back.
import { expect, test } from 'vitest'
import { SNAPSHOT_FORMAT } from '#core/dataset/snapshot.ts'
import { decodeSnapshot, encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import type { SnapshotBytes, SnapshotFile } from '#core/dataset/snapshot-files.ts'
import type { Series } from '#core/figures/series.ts'
import { forAll } from '#test/support/for-all.ts'
import { anySnapshot } from '../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import { toBytes } from '../../support/books/publish-in-memory.ts'
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

const mapBytes = (bytes: SnapshotBytes, change: (bytes: Uint8Array) => Uint8Array): SnapshotBytes => ({
  document: change(bytes.document),
  daily: change(bytes.daily),
  weekly: change(bytes.weekly),
  trades: change(bytes.trades),
  correlation: change(bytes.correlation),
  benchmarks: change(bytes.benchmarks),
})

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
  const empty = {
    ...SNAPSHOT,
    strategies: [],
    correlation: {
      daily: { size: 0, rho: new Float64Array(0), overlap: new Int32Array(0) },
      weekly: { size: 0, rho: new Float64Array(0), overlap: new Int32Array(0) },
    },
  }
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

test('a snapshot from before benchmarks is read, and has none', () => {
  const bytes = encodeSnapshot(SNAPSHOT)
  const { benchmarks: _, ...document } = JSON.parse(new TextDecoder().decode(bytes.document))
  const old = {
    ...bytes,
    document: new TextEncoder().encode(JSON.stringify(document)),
    benchmarks: new Uint8Array(),
  }
  expect(decodeSnapshot(old)).toEqual({ ...SNAPSHOT, benchmarks: [] })
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

test('a snapshot of the first method is read: without its number, and without levels of refusal', () => {
  const bytes = encodeSnapshot(SNAPSHOT)
  const { dataset, ...document } = JSON.parse(new TextDecoder().decode(bytes.document))
  const { method_revision: _, ...unnumbered } = dataset
  const [{ refused_above_risk_pct: __, ...first }] = document.strategies
  const changed = { ...document, dataset: unnumbered, strategies: [first, ...document.strategies.slice(1)] }
  const old = decodeSnapshot({ ...bytes, document: toBytes(changed) })
  expect(old.dataset.method_revision).toBe(1)
  expect(old.strategies[0]!.refused_above_risk_pct).toBeNull()
})

test('a snapshot without the figures that were defined later gives statistics that fit the document, with null for them', () => {
  const bytes = encodeSnapshot(SNAPSHOT)
  const ratios = ['profit_factor_notional', 'deflated_sharpe_ratio', 'trials']
  const later = new Set([...ratios, 'lasting_count', 'benchmark', 'costs', 'excursions', 'replays'])
  const withoutLater = (name: string, value: unknown) => (later.has(name) ? undefined : value)
  const document = toBytes(JSON.parse(new TextDecoder().decode(bytes.document), withoutLater))
  const old = decodeSnapshot({ ...bytes, document })
  for (const risk_pct of [null, 0.01]) {
    const { data } = readStats(old, { sid: 'alder', risk_pct })
    const { trades, drawdowns, risk_adjusted, benchmark } = data.fund_dd
    for (const figures of [data, trades, trades.long, trades.short])
      expect(figures.profit_factor_notional).toBeNull()
    expect([drawdowns.lasting_count, risk_adjusted.deflated_sharpe_ratio, risk_adjusted.trials]).toEqual([
      null,
      null,
      null,
    ])
    expect(new Set(Object.values(benchmark))).toEqual(new Set([null]))
    expect(data.fund_dd.costs.at_twice_the_costs.cagr_pct).toBeNull()
    expect(data.fund_dd.excursions.mae_r.p5).toBeNull()
    expect(data.fund_dd.replays).toEqual({ entries_asked: null, entries_refused: null, table: null })
  }
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
