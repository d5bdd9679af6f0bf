// A tier that starts on a damaged newest version: which one it serves instead, and for how long.
import { expect, test } from 'vitest'
import { createVersionSource } from '#api/history/version-source.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { openFourNights, versionOfNight } from '../../support/books/growing-book.ts'
import type { MemoryStores } from '../../support/books/publish-in-memory.ts'
import { JSON_HEADERS, pointTo } from '../../support/books/small-book.ts'
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

test('the newest that is fit is served, and the head as soon as it is mended', async () => {
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

test('what an operator rolled back from is not served while what replaced it is fit', async () => {
  // Served were 0, 1, 2, 3, 2 (the four nights), then 1 and then 3 again, which is damaged.
  const { source } = await open(await damagedStores([1, 3], [3]))
  expect(source.current()?.version).toBe(versionOfNight(1))
})

test('nothing newer than the head is served in its place', async () => {
  const { source } = await open(await damagedStores([], [2])) // 3 is newer, and was rolled back from
  expect(source.current()?.version).toBe(versionOfNight(1))
})

test('nothing is served where none is fit, and the checks are those of the head', async () => {
  const { source } = await open(await damagedStores([3], [0, 1, 2, 3]))
  expect(source.current()).toBeNull()
  expect(source.unfitVersion()).toBe(versionOfNight(3))
  expect(await source.refresh()).toMatchObject({
    kind: 'failed',
    error: { message: expect.stringContaining(versionOfNight(3)) },
  })
})

test('a store that cannot be read is no damage: nothing older is served for it', async () => {
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
