// A tier that starts on a damaged newest version: which one it serves instead, and for how long.
import { expect, test } from 'vitest'
import { createVersionSource } from '#api/history/versions/version-source.ts'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import {
  createMemoryStores,
  type MemoryStores,
  publishInMemory,
} from '../../support/books/publish-in-memory.ts'
import { copyAll, JSON_HEADERS, pointTo } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { damage, meddled, outage } from '../../support/stores/store-doubles.ts'
import { bytesOf } from '../../support/stores/stored-bytes.ts'
import { getData } from './answers.ts'
import { DATA } from './specification.ts'

/** Four nights are published, and these are pointed to after them; then the manifests of some are damaged. */
async function damagedStores(pointedTo: readonly number[], damaged: readonly number[]) {
  const stores = await openFourNights()
  for (const night of pointedTo) await pointTo(stores, versionOfNight(night))
  for (const night of damaged) {
    const key = manifestKey(versionOfNight(night))
    await stores.store.replace(key, damage(await bytesOf(stores.store, key)), JSON_HEADERS)
  }
  return stores
}

const open = ({ store, privateStore }: MemoryStores) => createTestApp(store, privateStore)

test('a tier that starts on a damaged version serves the newest valid one, and the head as soon as it is repaired', async () => {
  const stores = await damagedStores([3], [2])
  const head = manifestKey(versionOfNight(3))
  const whole = await bytesOf(stores.store, head)
  await stores.store.replace(head, damage(whole), JSON_HEADERS)
  const source = createVersionSource(stores.store, stores.privateStore)
  expect(await source.refresh()).toMatchObject({
    kind: 'fallen back',
    to: versionOfNight(1),
    error: { message: expect.stringContaining(versionOfNight(3)) },
  })
  expect(source.unfitVersion()).toBe(versionOfNight(3))

  await stores.store.replace(head, whole, JSON_HEADERS)
  const { app } = await createTestApp(stores.store, stores.privateStore, { source })
  const swapped = { kind: 'swapped', from: versionOfNight(1), to: versionOfNight(3) }
  expect(await source.refresh()).toEqual(swapped)
  expect(await getData(app, '/readyz', DATA.readyz)).toMatchObject({ unfit_version: null })
})

test('a version that an operator rolled back from is not served while the one that replaced it is fit', async () => {
  // Served were 0, 1, 2, 3, 2 (the four nights), then 1 and then 3 again, which is damaged.
  const { source } = await open(await damagedStores([1, 3], [3]))
  expect(source.current()?.version).toBe(versionOfNight(1))
})

test('no version newer than a damaged head is served in its place', async () => {
  const { source } = await open(await damagedStores([], [2])) // 3 is newer, and was rolled back from
  expect(source.current()?.version).toBe(versionOfNight(1))
})

test('no version is served if none is fit, and the error is that of the head', async () => {
  const { source } = await open(await damagedStores([3], [0, 1, 2, 3]))
  expect(source.current()).toBeNull()
  expect(source.unfitVersion()).toBe(versionOfNight(3))
  expect(await source.refresh()).toMatchObject({
    kind: 'failed',
    error: { message: expect.stringContaining(versionOfNight(3)) },
  })
})

test('a store that cannot be read is no damage: no older version is served for it', async () => {
  const { store, privateStore } = await damagedStores([3], [])
  const head = manifestKey(versionOfNight(3))
  const source = createVersionSource(
    meddled(store, key => key === head, outage(store)),
    privateStore,
  )
  expect((await source.refresh()).kind).toBe('failed')
  expect(source.current()).toBeNull()
  expect(source.unfitVersion()).toBeNull()
})

const FIRST_DAYS = 250
const FIRST_MS = Date.parse('2025-03-01T00:15:00Z')

/** The version of a night: 0, 1, 2 and so on. */
const versionOfNight = (night: number): string => toIsoInstant(FIRST_MS + night * DAY_MS)

/** The book as of a night. */
function bookOfNight(night: number): Snapshot {
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
const NIGHTS = [0, 1, 2, 3]
const SERVED = 2

/** Published once for all tests, because compressing takes its time. */
let master: Promise<MemoryStores> | null = null

/** Stores of one's own with the four nights in them. */
async function openFourNights(): Promise<MemoryStores> {
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
