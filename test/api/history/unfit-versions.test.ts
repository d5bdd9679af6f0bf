// Nothing unfit is ever served: not at the start, and not in the place of a version that is fit.
import { expect, test } from 'vitest'
import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { type Manifest, manifest } from '#core/contract/manifest.ts'
import { READINESS_CHECKS } from '#core/contract/readiness-checks.ts'
import { SNAPSHOT_FORMAT, type Snapshot } from '#core/dataset/snapshot.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { SNAPSHOT_FILES, type SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import { type MemoryStores, replaceManifest, toBytes } from '../../support/books/publish-in-memory.ts'
import {
  FIRST_VERSION,
  JSON_HEADERS,
  openBothVersions,
  pointTo,
  SECOND_VERSION,
  smallBook,
} from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { pointAt } from '../../support/history/point-to.ts'
import { damage } from '../../support/stores/store-doubles.ts'
import { bytesOf } from '../../support/stores/stored-bytes.ts'
import { errorOf, getData } from './answers.ts'
import { DATA } from './specification.ts'

const ALL = (holds: boolean) => Object.fromEntries(READINESS_CHECKS.map(name => [name, holds]))
const BUT = (...failed: string[]) => ({
  ...ALL(true),
  ...Object.fromEntries(failed.map(name => [name, false])),
})

const open = ({ store, privateStore }: MemoryStores) => createTestApp(store, privateStore)

/** Makes the second version unfit after it was published whole. */
type Harm = (stores: MemoryStores) => Promise<void>

const readManifest = async ({ store }: MemoryStores): Promise<Manifest> =>
  manifest.parse(JSON.parse(new TextDecoder().decode(await bytesOf(store, manifestKey(SECOND_VERSION)))))

/** A manifest that says something else; its digest in the pointer is right. */
const rewritten =
  (change: (published: Manifest) => unknown): Harm =>
  async stores =>
    replaceManifest(stores.store, SECOND_VERSION, change(await readManifest(stores)))

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
    await rewritten(published => ({
      ...published,
      snapshot: { ...published.snapshot, [name]: sha256(bytes) },
    }))(stores)
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

const withoutOne = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  strategies: snapshot.strategies.slice(0, 1),
})

const ONLY_MANIFEST = BUT('count_matches', 'per_strategy_loaded', 'correlation_dims')

const HARMS: readonly (readonly [string, Harm, Record<string, boolean>, string])[] = [
  [
    'has no manifest',
    ({ store }) => store.remove(manifestKey(SECOND_VERSION)),
    ALL(false),
    'its manifest is missing',
  ],
  [
    'has a damaged manifest',
    overwritten('store', manifestKey(SECOND_VERSION), damage),
    ALL(false),
    'not the one that was published',
  ],
  [
    'has another manifest than the pointer says',
    ({ store }) => pointAt(store, SECOND_VERSION, 'x').then(() => {}),
    ALL(false),
    'not the one that was published',
  ],
  [
    'has a manifest from the future',
    rewritten(published => ({ ...published, manifest_version: published.manifest_version + 1 })),
    ALL(false),
    'another form: update the program',
  ],
  ['has a manifest that is none', rewritten(() => 'hello'), ALL(false), 'another form'],
  ['has a manifest that is no JSON', notJson, ALL(false), 'another form'],
  [
    'has the manifest of another version',
    rewritten(published => ({ ...published, version: FIRST_VERSION })),
    ALL(false),
    `its manifest is that of ${FIRST_VERSION}`,
  ],
  [
    'is in a snapshot format from the future',
    replaced('document', fromTheFuture),
    ONLY_MANIFEST,
    'update the program',
  ],
  [
    'has a snapshot of another version',
    replaced('document', () => encodeSnapshot(smallBook(FIRST_VERSION)).document),
    BUT('manifest_loaded'),
    'manifest_loaded failed',
  ],
  [
    'has fewer strategies than its manifest says',
    replaced('document', encoded('document', withoutOne)),
    BUT('count_matches', 'correlation_dims'),
    'count_matches, correlation_dims failed',
  ],
  [
    'has other strategies than its manifest says',
    rewritten(published => ({ ...published, strategies: published.strategies.toReversed() })),
    BUT('per_strategy_loaded'),
    'per_strategy_loaded failed',
  ],
  [
    'did not publish a file that it must',
    rewritten(published => ({ ...published, artifacts: published.artifacts.slice(0, -1) })),
    BUT('per_strategy_loaded'),
    'per_strategy_loaded failed',
  ],
  [
    'holds a return that is no number',
    replaced('daily', encoded('daily', withNaN)),
    BUT('per_strategy_loaded'),
    'failed',
  ],
  [
    'has a matrix of another size',
    replaced('correlation', encoded('correlation', withLargerMatrix)),
    BUT('correlation_dims'),
    'correlation_dims failed',
  ],
  ...Object.values(SNAPSHOT_FILES).flatMap(name => {
    const key = privateKey(SECOND_VERSION, name)
    const about = `${name} is not the file that was published`
    return [
      [
        `lost ${name}`,
        ({ privateStore }: MemoryStores) => privateStore.remove(key),
        ONLY_MANIFEST,
        `${name} is missing`,
      ],
      [`has a damaged ${name}`, overwritten('privateStore', key, damage), ONLY_MANIFEST, about],
    ] as const
  }),
]

test.each(HARMS)(
  'a version that %s is not served if it is the only one, and /readyz says why',
  async (_name, harm, checks, why) => {
    const stores = await openBothVersions()
    await stores.store.remove(manifestKey(FIRST_VERSION))
    await pointTo(stores, SECOND_VERSION)
    await harm(stores)
    const { app, source } = await open(stores)
    expect(await source.refresh()).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining(why) },
    })
    for (const path of ['/readyz', '/v1/summary']) {
      const response = await app.request(path)
      expect(response.status).toBe(503)
      expect(await errorOf(response)).toMatchObject({ code: 'not_ready', details: { checks } })
    }
  },
)

test.each(HARMS)(
  'a version that %s is passed over by a tier that starts, and /readyz says why',
  async (_name, harm, _checks, why) => {
    const stores = await openBothVersions()
    await pointTo(stores, SECOND_VERSION)
    await harm(stores)
    const { app, source } = await open(stores)
    expect(source.current()?.version).toBe(FIRST_VERSION)
    expect((await app.request('/v1/summary')).status).toBe(200)
    const unfit_version = SECOND_VERSION
    expect(await getData(app, '/readyz', DATA.readyz)).toMatchObject({ checks: ALL(true), unfit_version })
    expect(await source.refresh()).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining(why) },
    })
  },
)

test.each(HARMS)('a version that %s leaves the version before it serving and ready', async (_name, harm) => {
  const stores = await openBothVersions()
  const { app, source } = await open(stores)
  const before = await (await app.request('/v1/export')).text()
  await pointTo(stores, SECOND_VERSION)
  await harm(stores)
  expect((await source.refresh()).kind).toBe('failed')
  expect(source.current()?.version).toBe(FIRST_VERSION)
  expect(await (await app.request('/v1/export')).text()).toBe(before)
  expect(await getData(app, '/readyz', DATA.readyz)).toMatchObject({
    ready: true,
    checks: ALL(true),
    unfit_version: SECOND_VERSION,
  })
})
