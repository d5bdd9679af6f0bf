// The snapshot is a format, not a private matter: another Arrow library reads the same numbers from it.
import { type DataType, tableFromIPC } from 'apache-arrow'
import { expect, inject, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { decodeSnapshot, encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { TRADE_FLOATS } from '#core/dataset/snapshot-files.ts'
import { dayOf, type Period } from '#core/figures/series.ts'
import { openStore } from '#storage/open-store.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { snapshotBytesOf } from '../../support/stores/stored-bytes.ts'

const bytes = await snapshotBytesOf(await openStore(inject('tinyStore').privateUrl), TINY_VERSION)
const snapshot = decodeSnapshot(bytes)

const typesOf = (file: Uint8Array): Record<string, string> =>
  Object.fromEntries(tableFromIPC(file).schema.fields.map(({ name, type }) => [name, nameOf(type)]))

const nameOf = (type: DataType): string => String(type)

const column = (file: Uint8Array, name: string): number[] => {
  const vector = tableFromIPC(file).getChild(name)
  if (vector === null) throw new Error(`no column ${name}`)
  return Array.from(vector.toArray(), Number)
}

test.each<Period>(['daily', 'weekly'])(
  'the %s file has a row a strategy and point for apache-arrow',
  period => {
    const file = bytes[period]
    const series = snapshot.strategies.map(strategy => strategy[period])
    expect(typesOf(file)).toEqual({ strategy: 'Int32', t: 'Date32<DAY>', ret: 'Float64' })
    expect(column(file, 'ret')).toEqual(series.flatMap(({ values }) => [...values]))
    expect(column(file, 't')).toEqual(
      series.flatMap(one => [...one.values].map((_, i) => dayOf(one, i) * DAY_MS)),
    )
    expect(column(file, 'strategy')).toEqual(series.flatMap(({ values }, i) => [...values].map(() => i)))
  },
)

test('the trades, read by apache-arrow, are the ledgers end to end', () => {
  const ledgers = snapshot.strategies.map(({ trades }) => trades)
  expect(column(bytes.trades, 'strategy').length).toBeGreaterThan(3)
  for (const name of TRADE_FLOATS) {
    expect(column(bytes.trades, name)).toEqual(ledgers.flatMap(ledger => [...ledger[name]]))
  }
  expect(column(bytes.trades, 'side')).toEqual(ledgers.flatMap(({ side }) => [...side.codes]))
  expect(column(bytes.trades, 'exit_reason')).toEqual(
    ledgers.flatMap(ledger => [...ledger.exit_reason.codes]),
  )
})

test('the correlation, read by apache-arrow, is both matrices row by row', () => {
  const { daily, weekly } = snapshot.correlation
  expect(typesOf(bytes.correlation)).toEqual({
    daily_rho: 'Float64',
    daily_overlap: 'Int32',
    weekly_rho: 'Float64',
    weekly_overlap: 'Int32',
  })
  expect(column(bytes.correlation, 'daily_rho')).toEqual([...daily.rho])
  expect(column(bytes.correlation, 'weekly_rho')).toEqual([...weekly.rho])
  expect(column(bytes.correlation, 'daily_overlap')).toEqual([...daily.overlap])
  expect(column(bytes.correlation, 'weekly_overlap')).toEqual([...weekly.overlap])
})

test('every file is one batch without nulls, so that its columns can be used where they lie', () => {
  for (const file of [bytes.daily, bytes.weekly, bytes.trades, bytes.correlation]) {
    const table = tableFromIPC(file)
    expect(table.batches).toHaveLength(1)
    expect(table.nullCount).toBe(0)
  }
})

test('a file without rows names its columns and their types all the same', () => {
  const short = encodeSnapshot(handSnapshot([{ id: 'alder', returns: [0.01] }]))
  expect(typesOf(short.weekly)).toEqual({ strategy: 'Int32', t: 'Date32<DAY>', ret: 'Float64' })
  expect(typesOf(short.trades)).toEqual(typesOf(bytes.trades))
  expect(tableFromIPC(short.trades).numRows).toBe(0)
})
