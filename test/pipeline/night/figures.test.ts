import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { withPublications } from '#core/dataset/publication.ts'
import { type Snapshot, type StrategyData, strategyOf } from '#core/dataset/snapshot.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { SNAPSHOT_FILES } from '#core/dataset/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import { openStore } from '#storage/open-store.ts'
import { computeBook, TINY_BOOK, TINY_VERSION } from '../../support/books/publish-book.ts'

let snapshot: Snapshot

beforeAll(async () => {
  snapshot = (await computeBook(TINY_BOOK, { threads: 1 })).snapshot
})

const of = (id: string): StrategyData => strategyOf(snapshot, id)!

const SNAPSHOT_FILE_NAMES = ['document', 'daily', 'weekly', 'trades', 'correlation', 'benchmarks'] as const

/** The returns of a file, from a day on to another, by date. */
async function returnsOf(id: string, from: string, to: string): Promise<number[]> {
  const text = await readFile(join(TINY_BOOK, `returns/${id}.csv`), 'utf8')
  const rows = text.trim().split('\n').slice(1)
  return rows
    .filter(row => row.slice(0, 10) >= from && row.slice(0, 10) <= to)
    .map(row => Number(row.slice(11)))
}

test('the night of the tiny book gives the same bytes on one thread, on two and on three', async () => {
  const asFirst = (made: Snapshot) => {
    const changes = compareSnapshots(null, made)
    return encodeSnapshot(withPublications(made, { changes, before: null, record: null, gone: [] }))
  }
  const one = asFirst(snapshot)
  const three = asFirst((await computeBook(TINY_BOOK, { threads: 3 })).snapshot)
  const onTwo = await openStore(inject('tinyStore').privateUrl)
  for (const file of SNAPSHOT_FILE_NAMES) {
    const two = await onTwo.read(privateKey(TINY_VERSION, SNAPSHOT_FILES[file]))
    expect([file, sha256(three[file])]).toEqual([file, sha256(one[file])])
    expect([file, two === null ? null : sha256(two)]).toEqual([file, sha256(one[file])])
  }
})

test('the night of the tiny book counts and weighs the trades of the ledger as its rows say', () => {
  const { figures, leverage_typical, leverage_max, trades } = of('beech')
  // Rows 1, 2 and 4 gain, 3 and 5 lose, the last is open. The stop of the second is a fifth away: 0.01 / 0.2.
  expect(figures.values).toMatchObject({ trade_count: 5, win_rate_pct: 60 })
  expect([...trades.leverage]).toEqual([0.5, expect.closeTo(0.05, 5), 0.8, 0.4, 0.3])
  expect(leverage_max).toBe(0.8)
  expect(leverage_typical).toBe(0.45) // of six, the open one too: between 0.4 and 0.5
})

test('the night of the tiny book correlates two strategies over the days that both have, as a plain sum does', async () => {
  const elm = await returnsOf('elm', '2024-02-05', '2025-02-22')
  const ash = [...of('ash').daily.values].slice(parseIsoDate('2024-02-05')! - of('ash').daily.first)
  const { rho, overlap, size } = snapshot.correlation.daily
  expect(rho[2]).toBeCloseTo(pearson(ash, elm), 12)
  expect([rho[2], overlap[2]]).toEqual([rho[2 * size], elm.length])
})

function pearson(x: readonly number[], y: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const product = (a: readonly number[], b: readonly number[]) =>
    mean(a.map((value, i) => (value - mean(a)) * (b[i]! - mean(b))))
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y))
}
