// The sample book night after night: growing a day at a time is never an alarm, and every injected change is caught.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import { compareSnapshots } from '#core/changes/compare-snapshots.ts'
import type { Changes } from '#core/contract/payloads/changes.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import type { Book } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot } from '#pipeline/night/compute-snapshot.ts'
import { SAMPLE_AS_OF, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { temporaryFolder } from '../setup/temporary-folder.ts'

const NIGHTS = 60

const night = async (book: Book, back: number): Promise<Snapshot> => {
  const asOf = SAMPLE_AS_OF - back
  const version = `${toIsoDate(asOf + 1)}T00:15:00Z`
  const { snapshot } = await computeSnapshot(book, {
    version,
    asOf,
    nowMs: Date.parse(version),
    allowStale: false,
    threads: 2,
    progress: () => {},
    elapsedMs: () => performance.now(),
  })
  return snapshot
}

const sampleBook = async (): Promise<string> => {
  const book = join(await temporaryFolder(), 'book')
  await writeSampleBook(book)
  return book
}

test('sixty nights of the sample book append a day each and alter nothing', async () => {
  const book = await readBook(await sampleBook())
  let before = await night(book, NIGHTS)
  let trades = 0
  for (let back = NIGHTS - 1; back >= 0; back--) {
    const after = await night(book, back)
    const changes = compareSnapshots(before, after)
    expect(restatedIn(changes), changes.version).toEqual([])
    expect(changes.history_restated, changes.version).toBe(false)
    for (const { id, daily } of changes.strategies) expect([id, daily.appended?.n]).toEqual([id, 1])
    trades += changes.strategies.reduce((sum, strategy) => sum + strategy.trades.appended, 0)
    before = after
  }
  expect(trades).toBeGreaterThan(NIGHTS) // positions opened and closed meanwhile, so there was something to get wrong
}, 900_000) // a minute on two free cores; a crowded machine takes many

const restatedIn = ({ strategies }: Changes) =>
  strategies.flatMap(({ id, daily, weekly, trades }) =>
    [...daily.restated, ...weekly.restated, ...trades.restated].map(each => ({ id, ...each })),
  )

describe('is told as a restatement, with the strategy', () => {
  const edit = async (file: string, change: (lines: string[]) => string[]) => {
    const book = await sampleBook()
    const before = await night(await readBook(book), 1)
    const path = join(book, file)
    const lines = (await readFile(path, 'utf8')).split('\n')
    await writeFile(path, change(lines).join('\n'))
    return compareSnapshots(before, await night(await readBook(book), 0))
  }

  test('a ledger that lost a trade', async () => {
    const { name, id } = LEDGER
    const changes = await edit(name, lines => lines.toSpliced(10, 1))
    expect(changes.history_restated).toBe(true)
    expect(restatedIn(changes).map(each => each.id)).toContain(id)
  })

  test('a reported return that was revised', async () => {
    const { name, id } = RETURNS
    const changes = await edit(name, lines => lines.with(100, lines[100]!.replace(/,.*$/, ',0.0123')))
    expect(restatedIn(changes)).toContainEqual(expect.objectContaining({ id, new: 0.0123 }))
  })
})

/** The strategies of the sample that are no modules. */
const LEDGER = { id: 'rowan', name: 'ledgers/rowan.csv' }
const RETURNS = { id: 'willow', name: 'returns/willow.csv' }
