// Old versions come into memory when they are asked for, verified, three at a time with the served one.
import { expect, test } from 'vitest'
import { POLL_MS } from '#api/history/versions/version-source.ts'
import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { SNAPSHOT_FILES } from '#core/dataset/snapshot-files.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { copyAll, createMemoryStores, publishInMemory } from '../../support/books/publish-in-memory.ts'
import { smallBook } from '../../support/books/small-book.ts'
import { createTestApp, NOW_MS } from '../../support/history/history-app.ts'
import { pointAt } from '../../support/history/point-to.ts'
import { createGate, damage, meddled, outage } from '../../support/stores/store-doubles.ts'
import { type App, errorOf } from './answers.ts'

/** Oldest first; the last one is served. */
const VERSIONS = [1, 2, 3, 4, 5].map(day => `2024-03-0${day}T00:15:00Z`)
const [A = '', B = '', C = '', D = '', SERVED = ''] = VERSIONS

const DOCUMENT = SNAPSHOT_FILES.document

const stores = createMemoryStores()
for (const version of VERSIONS) await publishInMemory(stores, smallBook(version))

/** The public store, in which the manifest of a version is another, or gone. */
const withManifest = (of: string, change: (bytes: Uint8Array | null) => Uint8Array | null): ObjectStore =>
  meddled(stores.store, key => key === manifestKey(of), change)

/** A private store that writes down which snapshots are loaded. */
function watched(store: ObjectStore) {
  const loads: string[] = []
  const isDocument = (key: string): boolean => key.endsWith(DOCUMENT)
  const watching = meddled(store, isDocument, (bytes, key) => {
    const version = VERSIONS.find(each => privateKey(each, DOCUMENT) === key)
    loads.push(version ?? key)
    return bytes
  })
  return { loads, store: watching }
}

async function open(privateStore: ObjectStore = stores.privateStore, store: ObjectStore = stores.store) {
  const { loads, store: watching } = watched(privateStore)
  const opened = await createTestApp(store, watching)
  expect(loads.splice(0)).toEqual([SERVED])
  return { ...opened, loads }
}

const ask = (app: App, version: string, path = '/v1/strategies/alder/stats?risk_pct=0.01') =>
  app.request(pinnedPath(version, path))

test('an old version is loaded when it is asked for, and once', async () => {
  const { app, loads } = await open()
  for (let i = 0; i < 3; i++) expect((await ask(app, A)).status).toBe(200)
  expect(loads).toEqual([A])
})

test('an old version is looked for after each poll of the pointer, and its manifest is read once', async () => {
  const reads: string[] = []
  const read = async (key: string) => {
    reads.push(key)
    return stores.store.read(key)
  }
  let ms = 0
  const clock = { now: () => NOW_MS, elapsed: () => ms }
  const { app } = await createTestApp({ ...stores.store, read }, stores.privateStore, { clock })
  for (; ms < 10 * POLL_MS; ms += POLL_MS) expect((await ask(app, A)).status).toBe(200)
  expect(reads.filter(key => key === manifestKey(A))).toHaveLength(1)
})

test('a version that was removed since it was loaded is 410 after one poll of the pointer at the most', async () => {
  let isRemoved = false
  const pruned = withManifest(A, bytes => (isRemoved ? null : bytes))
  let ms = 0
  const clock = { now: () => NOW_MS, elapsed: () => ms }
  const { app } = await createTestApp(pruned, stores.privateStore, { clock })
  expect((await ask(app, A)).status).toBe(200)
  isRemoved = true
  ms = POLL_MS - 1
  expect((await ask(app, A)).status).toBe(200)
  ms = POLL_MS
  expect((await ask(app, A)).status).toBe(410)
})

test('the version that is served is not loaded again for a pin', async () => {
  const { app, loads } = await open()
  expect((await ask(app, SERVED)).status).toBe(200)
  expect((await app.request(`/v1/summary?dataset_version=${SERVED}`)).status).toBe(200)
  expect(loads).toEqual([])
})

test('two old versions stay in memory, and the one that was used least recently makes room', async () => {
  const { app, loads } = await open()
  for (const version of [A, B, A, C, A, C]) expect((await ask(app, version)).status).toBe(200)
  expect(loads).toEqual([A, B, C])
  await ask(app, B) // it went when C came; now A goes
  expect(loads).toEqual([A, B, C, B])
  await ask(app, C)
  expect(loads).toHaveLength(4)
  await ask(app, A)
  expect(loads).toEqual([A, B, C, B, A])
})

test('a version that many ask for at the same time is loaded once', async () => {
  const gate = createGate()
  const slow = meddled(
    stores.privateStore,
    key => key === privateKey(A, DOCUMENT),
    async bytes => {
      await gate.pass()
      return bytes
    },
  )
  const { app, loads } = await open(slow)
  const asked = Array.from({ length: 20 }, () => ask(app, A))
  await gate.reached
  expect((await app.request('/v1/summary')).status).toBe(200) // the served one is not concerned
  gate.open()
  for (const response of await Promise.all(asked)) expect(response.status).toBe(200)
  expect(loads).toEqual([A])
})

test('versions that are asked for at the same time are loaded one after the other', async () => {
  let inside = 0
  let most = 0
  const counted = meddled(
    stores.privateStore,
    key => key.endsWith(DOCUMENT),
    async bytes => {
      most = Math.max(most, ++inside)
      await new Promise(resolve => setImmediate(resolve))
      inside--
      return bytes
    },
  )
  const { app, loads } = await open(counted)
  const answers = await Promise.all([A, B, C, D].map(version => ask(app, version)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(most).toBe(1)
  expect(loads).toHaveLength(4)
})

test.each<[string, Parameters<typeof meddled>[2]]>([
  ['because a file is damaged', bytes => bytes && damage(bytes)],
  ['because a file is lost', () => null],
  ['because the store is away', outage(stores.privateStore)],
])('a load that fails %s is 503, reported to the operator, and not kept', async (_why, change) => {
  let isBroken = true
  const isHarmed = (key: string): boolean => isBroken && key === privateKey(A, SNAPSHOT_FILES.daily)
  const { app, faults, errors } = await open(meddled(stores.privateStore, isHarmed, change))
  const response = await ask(app, A)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('5')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const message = `the version ${A} cannot be read at the moment`
  expect(await errorOf(response)).toEqual({ code: 'unavailable', message, details: null })
  expect(faults).toHaveLength(1)
  expect(errors).toEqual([])
  isBroken = false
  expect((await ask(app, A)).status).toBe(200)
})

test('a version that is gone takes the place of no version in memory', async () => {
  const { app, loads } = await open(
    stores.privateStore,
    withManifest(C, () => null),
  )
  for (const version of [A, B]) await ask(app, version)
  expect((await ask(app, C)).status).toBe(410)
  for (const version of [A, B]) await ask(app, version)
  expect(loads).toEqual([A, B])
})

test('a version whose manifest is another one than was published is 503: nothing unfit is ever served', async () => {
  const altered = withManifest(C, bytes => bytes && damage(bytes))
  const { app, faults } = await open(stores.privateStore, altered)
  expect((await ask(app, C)).status).toBe(503)
  expect(faults).toMatchObject([{ message: expect.stringContaining('not the one that was published') }])
})

test('a client that requests twelve versions at once gets 503 with Retry-After for those beyond eight', async () => {
  const many = createMemoryStores()
  for (const store of ['store', 'privateStore'] as const) await copyAll(stores[store], many[store])
  const names = Array.from({ length: 12 }, (_, i) => `2024-02-${10 + i}T00:15:00Z`)
  for (const version of names) await pointAt(many.store, version, 'x')
  const { app } = await createTestApp(many.store, many.privateStore)
  const answers = await Promise.all(names.map(version => ask(app, version)))
  expect(answers.map(({ status }) => status)).toEqual([...Array(8).fill(410), ...Array(4).fill(503)])
  const refused = answers.at(-1)!
  expect(refused.headers.get('retry-after')).toBe('5')
  expect((await errorOf(refused)).code).toBe('overloaded')
})
