// Nothing unfit is ever served: not at the start, and not in the place of a version that is fit; and what the service says
// while there is nothing to serve.
import { expect, test } from 'vitest'
import { createVersionSource } from '#api/history/versions/version-source.ts'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { CURRENT_KEY, pointerKey } from '#core/contract/pointer.ts'
import { READINESS_CHECKS } from '#core/contract/readiness-checks.ts'
import { SNAPSHOT_FORMAT, type Snapshot } from '#core/dataset/snapshot.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { SNAPSHOT_FILES, type SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import {
  type MemoryStores,
  publishInMemory,
  replaceManifest,
  storesAfter,
  toBytes,
} from '../../support/books/publish-in-memory.ts'
import {
  FIRST_VERSION,
  JSON_HEADERS,
  openBothVersions,
  pointTo,
  SECOND_VERSION,
  smallBook,
} from '../../support/books/small-book.ts'
import { casesOf } from '../../support/cases-of.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { pointAt } from '../../support/history/point-to.ts'
import { damage, isArtifact, meddled, outage } from '../../support/stores/store-doubles.ts'
import { bytesOf, manifestOf } from '../../support/stores/stored-bytes.ts'
import { errorOf, getData, getEnvelope, openEmpty, openServing } from './answers.ts'
import { addressesOf, DATA_ROUTES } from './paths.ts'
import { DATA } from './specification.ts'

const ALL = (holds: boolean) => Object.fromEntries(READINESS_CHECKS.map(name => [name, holds]))
const BUT = (...failed: string[]) => ({
  ...ALL(true),
  ...Object.fromEntries(failed.map(name => [name, false])),
})

const open = ({ store, privateStore }: MemoryStores) => createTestApp(store, privateStore)

/** Makes the second version unfit after it was published whole. */
type Harm = (stores: MemoryStores) => Promise<void>

/** A manifest that says something else; its digest in the pointer is right. */
const rewritten =
  (change: (published: Manifest) => unknown): Harm =>
  async stores =>
    replaceManifest(stores.store, SECOND_VERSION, change(await manifestOf(stores.store, SECOND_VERSION)))

const pointedWrongly: Harm = async ({ store }) => void (await pointAt(store, SECOND_VERSION, 'x'))

const notJson: Harm = async ({ store }) => {
  const bytes = new TextEncoder().encode('{')
  await store.replace(manifestKey(SECOND_VERSION), bytes, JSON_HEADERS)
  await pointTo({ store }, SECOND_VERSION)
}

/** Other bytes under a key that stays. */
const overwritten =
  (which: 'store' | 'privateStore', key: string, change: (bytes: Uint8Array) => Uint8Array): Harm =>
  async stores => {
    const store = stores[which]
    await store.replace(key, change(await bytesOf(store, key)), JSON_HEADERS)
  }

/** A file of the snapshot that is another, with its right digest in the manifest. */
const replaced =
  (file: SnapshotFile, content: () => Uint8Array): Harm =>
  async stores => {
    const name = SNAPSHOT_FILES[file]
    const bytes = content()
    await stores.privateStore.replace(privateKey(SECOND_VERSION, name), bytes, JSON_HEADERS)
    const withDigest = (snapshot: Manifest['snapshot']) => ({ ...snapshot, [name]: sha256(bytes) })
    await rewritten(published => ({ ...published, snapshot: withDigest(published.snapshot) }))(stores)
  }

const encoded = (file: SnapshotFile, change: (snapshot: Snapshot) => Snapshot) => (): Uint8Array =>
  encodeSnapshot(change(smallBook(SECOND_VERSION)))[file]

const fromTheFuture = (): Uint8Array => {
  const document: object = JSON.parse(new TextDecoder().decode(encoded('document', same => same)()))
  return toBytes({ ...document, format_version: SNAPSHOT_FORMAT + 1 })
}

const withNaN = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  strategies: snapshot.strategies.map(strategy => ({
    ...strategy,
    daily: {
      ...strategy.daily,
      values: strategy.daily.values.map((value, i) => (i === 3 ? Number.NaN : value)),
    },
  })),
})

const withLargerMatrix = (snapshot: Snapshot): Snapshot => {
  const matrix = { size: 3, rho: new Float64Array(9), overlap: new Int32Array(9) }
  return { ...snapshot, correlation: { daily: matrix, weekly: matrix } }
}

const withoutOne = (all: Snapshot): Snapshot => ({ ...all, strategies: all.strategies.slice(0, 1) })

const ONLY_MANIFEST = BUT('count_matches', 'per_strategy_loaded', 'correlation_dims')
const NOT_LOADED = BUT('per_strategy_loaded')

/** After a harm these checks hold or fail. */
type Row = [what: string, harm: Harm, checks: Readonly<Record<string, boolean>>, why: string]

const MANIFEST = manifestKey(SECOND_VERSION)
const NO_MANIFEST: Harm = ({ store }) => store.remove(MANIFEST)
const FROM_THE_FUTURE = rewritten(published => ({
  ...published,
  manifest_version: published.manifest_version + 1,
}))
const REORDERED = rewritten(published => ({ ...published, strategies: published.strategies.toReversed() }))
const WITHOUT_A_FILE = rewritten(published => ({ ...published, artifacts: published.artifacts.slice(0, -1) }))
const FIRST_DOCUMENT = () => encodeSnapshot(smallBook(FIRST_VERSION)).document

const HARMS = [
  ...casesOf<Row>`
has no manifest -> ${NO_MANIFEST} -> ${ALL(false)} -> its manifest is missing
has a damaged manifest -> ${overwritten('store', MANIFEST, damage)} -> ${ALL(false)} -> not the one that was published
has another manifest than the pointer says -> ${pointedWrongly} -> ${ALL(false)} -> not the one that was published
has a manifest from the future -> ${FROM_THE_FUTURE} -> ${ALL(false)} -> another form: update the program
has a manifest that is none -> ${rewritten(() => 'hello')} -> ${ALL(false)} -> another form
has a manifest that is no JSON -> ${notJson} -> ${ALL(false)} -> another form
has the manifest of another version -> ${rewritten(published => ({ ...published, version: FIRST_VERSION }))} -> ${ALL(false)} -> its manifest is that of ${FIRST_VERSION}
is in a snapshot format from the future -> ${replaced('document', fromTheFuture)} -> ${ONLY_MANIFEST} -> update the program
has a snapshot of another version -> ${replaced('document', FIRST_DOCUMENT)} -> ${BUT('manifest_loaded')} -> manifest_loaded failed
has fewer strategies than its manifest says -> ${replaced('document', encoded('document', withoutOne))} -> ${BUT('count_matches', 'correlation_dims')} -> count_matches, correlation_dims failed
has a matrix of another size -> ${replaced('correlation', encoded('correlation', withLargerMatrix))} -> ${BUT('correlation_dims')} -> correlation_dims failed
has other strategies than its manifest says -> ${REORDERED} -> ${NOT_LOADED} -> per_strategy_loaded failed
did not publish a file that it must -> ${WITHOUT_A_FILE} -> ${NOT_LOADED} -> per_strategy_loaded failed
holds a return that is no number -> ${replaced('daily', encoded('daily', withNaN))} -> ${NOT_LOADED} -> failed`,
  ...Object.values(SNAPSHOT_FILES).flatMap((name): Row[] => {
    const key = privateKey(SECOND_VERSION, name)
    const changed = `${name} is not the file that was published`
    return [
      [`lost ${name}`, ({ privateStore }) => privateStore.remove(key), ONLY_MANIFEST, `${name} is missing`],
      [`has a damaged ${name}`, overwritten('privateStore', key, damage), ONLY_MANIFEST, changed],
    ]
  }),
]

test.each(HARMS)(
  'a version that %s is not served: not after another, not at a start, not as the only one',
  async (_, harm, checks, why) => {
    const failure = { kind: 'failed', error: { message: expect.stringContaining(why) } }
    const stores = await openBothVersions()
    const running = await open(stores)
    const before = await (await running.app.request('/v1/export')).text()
    await pointTo(stores, SECOND_VERSION)
    await harm(stores)
    for (const { app, source } of [running, await open(stores)]) {
      expect(await source.refresh()).toMatchObject(failure)
      expect(source.current()?.version).toBe(FIRST_VERSION)
      expect(await (await app.request('/v1/export')).text()).toBe(before)
      const ready = { ready: true, checks: ALL(true), unfit_version: SECOND_VERSION }
      expect(await getData(app, '/readyz', DATA.readyz)).toMatchObject(ready)
    }

    await stores.store.remove(manifestKey(FIRST_VERSION))
    const { app, source } = await open(stores)
    expect(await source.refresh()).toMatchObject(failure)
    for (const path of ['/readyz', '/v1/summary']) {
      const response = await app.request(path)
      expect(response.status).toBe(503)
      expect(await errorOf(response)).toMatchObject({ code: 'not_ready', details: { checks } })
    }
  },
)

const { app: empty, errors: emptyErrors } = await openEmpty()

const UNREADY = [
  ...DATA_ROUTES.map(route => [route.path, addressesOf(route)] as const),
  ['/readyz', ['/readyz']] as const,
]

test.each(UNREADY)('%s answers 503 without a dataset, with checks and Retry-After', async (_, addresses) => {
  for (const address of [...addresses, `${addresses[0]}?period=hourly&risk_pct=-1`]) {
    const response = await empty.request(address)
    expect(response.status, address).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await errorOf(response)).toMatchObject({ code: 'not_ready', details: { checks: ALL(false) } })
  }
  expect(emptyErrors).toEqual([])
})

test('/healthz, /version and the index answer 200 without a dataset, with nulls for what is unknown and a disclaimer all the same', async () => {
  const { data } = await getEnvelope(empty, '/healthz')
  expect(data).toEqual({ status: 'ok', strategy_count: 0 })
  const unknown = { dataset_version: null, generated_utc: null, max_modelled_risk_pct: null }
  const window = { from: null, to: null }
  const version = await getEnvelope(empty, '/version')
  expect(version.data).toMatchObject({ api_version: '1.0', stability: 'stable', ...unknown, window })
  const disclaimer = expect.stringContaining('Not')
  expect(version.meta).toMatchObject({ dataset_version: null, disclaimer })
  for (const path of ['/healthz', '/version', '/']) expect((await empty.request(path)).status).toBe(200)
})

test('a draining process says so on /readyz, with checks that hold, and goes on answering everything else', async () => {
  const { app } = await openServing(FIRST_VERSION, { isDraining: () => true })
  const response = await app.request('/readyz')
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).not.toBeNull()
  expect(await errorOf(response)).toMatchObject({ code: 'not_ready', details: { checks: ALL(true) } })
  expect((await app.request('/healthz')).status).toBe(200)
  expect((await app.request('/v1/summary')).status).toBe(200)
})

test('a file that is lost or damaged is reported once as long as its version is served, and again with the next', async () => {
  const stores = await openBothVersions()
  const lost = meddled(stores.store, isArtifact, () => null)
  const { app, source, damages } = await createTestApp(lost, stores.privateStore)
  const ask = async (path: string, coding = 'identity') => {
    expect((await app.request(path, { headers: { 'accept-encoding': coding } })).status).toBe(200)
  }
  for (let i = 0; i < 3; i++) await ask('/v1/summary')
  expect(damages).toHaveLength(1)
  await ask('/v1/summary', 'br') // another file
  await ask('/v1/dataset')
  expect(damages).toHaveLength(3)
  await pointTo(stores, SECOND_VERSION)
  await source.refresh()
  for (let i = 0; i < 3; i++) await ask('/v1/summary')
  expect(damages).toHaveLength(4)
  expect(damages.at(-1)).toContain('/summary')
})

const point = (store: ObjectStore, bytes: Uint8Array) => store.replace(CURRENT_KEY, bytes, JSON_HEADERS)
const append = (store: ObjectStore, bytes: Uint8Array) => store.replace(pointerKey(99), bytes, JSON_HEADERS)

const lose = (store: ObjectStore) => store.remove(CURRENT_KEY)
const loseWorse = (store: ObjectStore) => lose(store).then(() => append(store, toBytes([])))

test.each(casesOf<[string, (store: ObjectStore) => Promise<void>, string]>`
when the hint is gone -> ${lose} -> unchanged
when the hint is rubbish -> ${(store: ObjectStore) => point(store, toBytes([]))} -> unchanged
when the hint is no JSON -> ${(store: ObjectStore) => point(store, toBytes('cut off').subarray(1))} -> unchanged
when the hint is lost and the newest entry is rubbish -> ${loseWorse} -> failed`)(
  'the version that is served stays %s',
  async (_name, harm, kind) => {
    const { app, source, store } = await openServing(FIRST_VERSION)
    await harm(store)
    expect((await source.refresh()).kind).toBe(kind)
    expect((await app.request('/v1/summary')).status).toBe(200)
    expect((await app.request('/readyz')).status).toBe(200)
  },
)

test('the version that is served stays when the store cannot be reached, and the answers that were not read yet are computed', async () => {
  const { store, privateStore } = await openBothVersions()
  let isDown = false
  const flaky = meddled(store, () => isDown, outage(store))
  const { app, source, errors } = await createTestApp(flaky, privateStore)
  isDown = true
  expect(await source.refresh()).toMatchObject({
    kind: 'failed',
    error: { message: expect.stringContaining('refused') },
  })
  for (const route of DATA_ROUTES) {
    const path = route.path.replace('{sid}', 'alder')
    expect((await app.request(path)).status, path).toBe(200)
  }
  expect(errors).toEqual([])
})

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
  const strategies = ['alder', 'birch'].map((id, phase) => ({ id, returns: returns(phase) }))
  return handSnapshot(strategies, { version: versionOfNight(night) })
}

/** Four nights are published, and the third is served again: there are versions before it and after it. */
const NIGHTS = [0, 1, 2, 3]
const SERVED = 2

/** Stores of one's own with the four nights in them; compressing takes its time. */
const openFourNights = storesAfter(async stores => {
  for (const night of NIGHTS) await publishInMemory(stores, bookOfNight(night))
  await pointTo(stores, versionOfNight(SERVED))
})
