// A book of two strategies in two versions, with other numbers in each.
import { manifestKey } from '#core/contract/artifacts.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import { dailyFrom } from '../daily.ts'
import { pointAt } from '../history/point-to.ts'
import { bytesOf } from '../stores/stored-bytes.ts'
import { handSnapshot } from './hand-snapshot.ts'
import { type MemoryStores, publishInMemory, storesAfter } from './publish-in-memory.ts'

export const FIRST_VERSION = '2024-03-01T00:15:00Z'
export const SECOND_VERSION = '2024-03-02T00:15:00Z'

export const JSON_HEADERS = { content_type: 'application/json' }

/** Enough for a row of rolling years. */
const DAYS = 366
const HOUR_MS = 3_600_000

/** The book as of a version. */
export function smallBook(version: string): Snapshot {
  const size = version === FIRST_VERSION ? 1 : 1.5
  const returns = (phase: number) =>
    Array.from({ length: DAYS }, (_, i) => (size * Math.sin(phase + i)) / 100)
  const entry_time = Date.parse('2024-01-05T00:00:00Z')
  const trades = [{ entry_time, exit_time: entry_time + HOUR_MS, account_return: size / 100 }]
  return handSnapshot(
    [
      { id: 'alder', returns: returns(0), trades },
      { id: 'birch', returns: returns(size) }, // another correlation, too
    ],
    { version, name: version },
    [{ instrument: 'BTCUSDT-PERP', daily: dailyFrom(19_723, [size / 100, 0.02]) }],
  )
}

/** Publishing compresses a hundred files as well as it can, so that both versions are published once for all tests. */
const openBoth = storesAfter(async stores => {
  for (const version of [FIRST_VERSION, SECOND_VERSION]) await publishInMemory(stores, smallBook(version))
})

/** Stores of one's own with both versions in them, pointing to the first. */
export async function openBothVersions(): Promise<MemoryStores> {
  const stores = await openBoth()
  await pointTo(stores, FIRST_VERSION)
  return stores
}

/** Makes a published version the current one, as publishing it and rolling back to it do. */
export async function pointTo({ store }: Pick<MemoryStores, 'store'>, version: string): Promise<void> {
  const manifest_sha256 = sha256(await bytesOf(store, manifestKey(version)))
  await pointAt(store, version, manifest_sha256)
}
