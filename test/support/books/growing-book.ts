// A book of two strategies that grows by a day from version to version, as nights make it grow.
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { handSnapshot } from './hand-snapshot.ts'
import { createMemoryStores, type MemoryStores, publishInMemory } from './publish-in-memory.ts'
import { copyAll, pointTo } from './small-book.ts'

const FIRST_DAYS = 250
const FIRST_MS = Date.parse('2025-03-01T00:15:00Z')

/** The version of a night: 0, 1, 2 and so on. */
export const versionOfNight = (night: number): string => toIsoInstant(FIRST_MS + night * DAY_MS)

/** The book as of a night. */
export function bookOfNight(night: number): Snapshot {
  const returns = (phase: number) =>
    Array.from({ length: FIRST_DAYS + night }, (_, i) => Math.sin(phase + i * i) / 100)
  return handSnapshot(
    [
      { id: 'alder', returns: returns(0) },
      { id: 'birch', returns: returns(1) },
    ],
    { version: versionOfNight(night) },
  )
}

/** Four nights are published, and the third is served again: there are versions before it and after it. */
export const NIGHTS = [0, 1, 2, 3]
export const SERVED = 2

/** Published once for all tests, because compressing takes its time. */
let master: Promise<MemoryStores> | null = null

/** Stores of one's own with the four nights in them. */
export async function openFourNights(): Promise<MemoryStores> {
  master ??= publishFourNights()
  const from = await master
  const stores = createMemoryStores()
  await copyAll(from.store, stores.store)
  await copyAll(from.privateStore, stores.privateStore)
  return stores
}

async function publishFourNights(): Promise<MemoryStores> {
  const stores = createMemoryStores()
  for (const night of NIGHTS) await publishInMemory(stores, bookOfNight(night))
  await pointTo(stores, versionOfNight(SERVED))
  return stores
}
