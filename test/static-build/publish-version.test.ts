import { renameSync } from 'node:fs'
import { mkdir, readdir, rename, rmdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { documentKey, manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { EFFORTS } from '#core/contract/manifest.ts'
import { CURRENT_KEY, pointerKey } from '#core/contract/pointer.ts'
import type { Progress } from '#core/progress.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { compressTwins } from '#static-build/render-point.ts'
import { saveInputs } from '#static-build/save-private.ts'
import { sha256 } from '#storage/digest.ts'
import { type ObjectStore, StoreError, writeOnce } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { createSigner, newPrivateKeyPem, type Signer } from '#storage/signature.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import {
  copyOfBoth,
  createMemoryStores,
  type MemoryStores,
  storesAfter,
} from '#test/support/books/publish-in-memory.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { bytesOf } from '#test/support/stores/stored-bytes.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { BEFORE, orderOf, publishInProcess, renderHere, versionOf } from './hand-order.ts'
import { describeDifferences, digestsOf, jsonAt } from './tree.ts'

/** Stores with one version. */
const storesWithBefore = storesAfter(own => publishInProcess(own, BEFORE))

/** Stores with what builds without a fault publish of both versions. */
const storesWithBoth = storesAfter(async own => {
  for (const version of [BEFORE, HAND_VERSION]) await publishInProcess(own, version)
})

const OTHER_BYTES =
  'exists with other bytes, and what is published never changes: build under a new --version, or use the code, the ' +
  'book and the --effort that made it'

test('publishing points to the version when it is complete, and keeps every object of the one before', async () => {
  const stores = await storesWithBefore()
  const before = await digestsOf(stores.store)
  await publishInProcess(stores, HAND_VERSION)
  expect(await versionOf(stores.store)).toBe(HAND_VERSION)
  const gone = describeDifferences(before, await digestsOf(stores.store)).filter(
    difference => !difference.startsWith('unexpected: '),
  )
  expect(gone).toEqual(['index.html', CURRENT_KEY].map(key => expect.stringContaining(`changed: ${key} `)))
})

test('publishing other bytes under the same version is refused, says why, and changes nothing', async () => {
  const stores = await storesWithBoth()
  const [before, privateBefore] = [await digestsOf(stores.store), await digestsOf(stores.privateStore)]
  await expect(publishInProcess(stores, HAND_VERSION, 0.02)).rejects.toThrow(OTHER_BYTES)
  expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
  expect(describeDifferences(privateBefore, await digestsOf(stores.privateStore))).toEqual([])
})

test('publishing by other code under the same version is refused although every artifact is the same', async () => {
  const stores = await storesWithBoth()
  const before = await digestsOf(stores.store)
  const order = orderOf(HAND_VERSION, stores)
  const other = publishVersion({
    ...order,
    builtWith: { ...order.builtWith, commit: 'another' },
    render: renderHere,
  })
  await expect(other).rejects.toThrow(`${HAND_VERSION} was published with other files`)
  expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
})

test('a build that another one has overtaken writes its files and leaves the pointer alone', async () => {
  const stores = await storesWithBefore()
  const overtaken = publishVersion({
    ...orderOf(HAND_VERSION, stores),
    render: renderHere,
    assertAlone: () => Promise.reject(new Error('another has begun since')),
  })
  await expect(overtaken).rejects.toThrow('another has begun since')
  expect(await versionOf(stores.store)).toBe(BEFORE)
})

test('publishing makes the same files on several threads and in this one', async () => {
  const stores = await storesWithBefore()
  const here = await publishInProcess(stores, HAND_VERSION)
  const other = await storesWithBefore()
  expect(await publishVersion({ ...orderOf(HAND_VERSION, other), threads: 2 })).toEqual(here)
  expect(describeDifferences(await digestsOf(stores.store), await digestsOf(other.store))).toEqual([])
})

/** Numbers as they are published: what Brotli 11 is far better at than 5. */
const TEXT = new TextEncoder().encode(
  JSON.stringify(
    Array.from({ length: 1_500 }, (_, i) => Number((1 + Math.sin(i * i) / 100).toPrecision(10))),
  ),
)
const LARGE = new Uint8Array((1 << 20) + 1).fill(48)

const quality = (bytes: Uint8Array, level: number, window = 22): number =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: level,
      [constants.BROTLI_PARAM_LGWIN]: window,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }).length

const sizes = (bytes: Uint8Array, kind: 'json' | 'table' | 'page', effort: (typeof EFFORTS)[number]) =>
  compressTwins(bytes, kind, effort).map(twin => twin.bytes.length)

test('quick compression is brotli 5 for everything, good brotli 10 for JSON that is no table and 5 for the rest, best brotli 11', () => {
  expect(sizes(TEXT, 'json', 'quick')[0]).toBe(quality(TEXT, 5))
  expect(sizes(TEXT, 'page', 'good')[0]).toBe(quality(TEXT, 5))
  expect(sizes(TEXT, 'json', 'good')[0]).toBe(quality(TEXT, 10))
  expect(sizes(TEXT, 'page', 'best')[0]).toBe(quality(TEXT, 11))
  expect(new Set([5, 10, 11].map(level => quality(TEXT, level))).size).toBe(3)
})

test('a table is compressed within a window of a row or two, which makes both twins smaller at every level', () => {
  expect(sizes(TEXT, 'table', 'quick')[0]).toBe(quality(TEXT, 5, 10))
  expect(sizes(TEXT, 'table', 'good')[0]).toBe(quality(TEXT, 5, 10))
  expect(sizes(TEXT, 'table', 'best')[0]).toBe(quality(TEXT, 11, 10))
  for (const effort of ['quick', 'good'] as const) {
    const [br, gzip] = sizes(TEXT, 'table', effort)
    expect(br!).toBeLessThan(quality(TEXT, 5))
    expect(gzip!).toBeLessThan(gzipSync(TEXT, { level: effort === 'good' ? 6 : 4 }).length)
  }
})

test('compression makes no gzip twin of a page, and a file of a megabyte alike at the efforts good and best', () => {
  expect(compressTwins(TEXT, 'page', 'good').map(({ coding }) => coding)).toEqual(['br'])
  expect(compressTwins(TEXT, 'json', 'good').map(({ coding }) => coding)).toEqual(['br', 'gzip'])
  expect(compressTwins(LARGE, 'json', 'best')).toEqual(compressTwins(LARGE, 'json', 'good'))
})

test.each(EFFORTS)(
  'compression with the effort %s loses nothing, and makes the same bytes of the same text',
  effort => {
    const [br, gzip] = compressTwins(TEXT, 'table', effort)
    expect(brotliDecompressSync(br!.bytes).equals(TEXT)).toBe(true)
    expect(gunzipSync(gzip!.bytes).equals(TEXT)).toBe(true)
    expect(compressTwins(TEXT, 'table', effort)).toEqual([br, gzip])
  },
)

test('the manifest has the effort of compression that was ordered, and a version is finished with that one: another is refused', async () => {
  const stores = createMemoryStores()
  const order = { ...orderOf(HAND_VERSION, stores), render: renderHere, effort: 'good' as const }
  await publishVersion(order)
  await expect(publishVersion({ ...order, effort: 'quick' })).rejects.toThrow(OTHER_BYTES)
  expect(await stores.store.read(manifestKey(HAND_VERSION))).not.toBeNull()
  expect(await publishVersion(order)).toMatchObject({ manifest: { built_with: { effort: 'good' } } })
  const { manifest } = await publishInProcess(createMemoryStores(), HAND_VERSION)
  expect(manifest.built_with.effort).toBe('quick')
})

test('a store that fails at any one of the writes leaves the version before served, and the same command finishes', async () => {
  const whole = await storesWithBefore()
  const before = await copyOfBoth(whole)
  const counted = counting(whole)
  const { manifest } = await publishInProcess(counted.stores, HAND_VERSION)
  const expected = await digestsOf(whole.store)
  // The same artifacts in the same order, without rendering them again for every write that is to fail.
  const republish = (stores: MemoryStores) =>
    publishVersion({
      ...orderOf(HAND_VERSION, stores),
      render: async () => {
        for (const key of counted.keys.filter(isArtifact)) {
          await writeOnce(stores.store, key, await bytesOf(whole.store, key), { content_type: 'text/plain' })
        }
        return manifest.artifacts
      },
    })

  expect(counted.keys.length).toBeGreaterThan(2 * manifest.artifacts.length)
  expect(counted.keys.slice(-3)).toEqual([pointerKey(2), CURRENT_KEY, 'index.html'])
  const derived = 2 // the hint and the page
  for (const at of telling(counted.keys.slice(0, -derived))) {
    const stores = await copyOfBoth(before)
    const broken = republish(counting(stores, at).stores)
    await expect(broken, `write ${at}`).rejects.toThrow(`${counted.keys[at - 1]}: no space left`)
    expect(await versionOf(stores.store), `after write ${at}`).toBe(BEFORE)
    await republish(stores)
    expect(describeDifferences(expected, await digestsOf(stores.store)), `after write ${at}`).toEqual([])
  }

  // The entry is the moment of publication: what is derived from it is written again at the next one.
  for (let at = counted.keys.length - derived + 1; at <= counted.keys.length; at++) {
    const late = await copyOfBoth(before)
    await republish(counting(late, at).stores)
    expect(await versionOf(late.store), `after write ${at}`).toBe(HAND_VERSION)
  }
})

/** The numbers of writes: of files of the version, which are written alike, the first, the last and some between; of others all. */
function telling(keys: readonly string[]): number[] {
  const files = keys.flatMap((key, i) => (isArtifact(key) ? [i] : []))
  const some = new Set([0, 1, 2, 3].map(part => files[Math.round((part * (files.length - 1)) / 3)]))
  return keys.flatMap((key, i) => (isArtifact(key) && !some.has(i) ? [] : [i + 1]))
}

const DOCUMENTS = new Set([
  manifestKey(HAND_VERSION),
  ...(['changes.json', 'datapackage.json', 'SHA256SUMS'] as const).map(name =>
    documentKey(HAND_VERSION, name),
  ),
])

const isArtifact = (key: string): boolean =>
  key.startsWith(versionFolder(HAND_VERSION)) && !DOCUMENTS.has(key)

/** The stores, and the keys written in order; the write of the number `failAt`, over both stores, fails. */
function counting({ store, privateStore }: MemoryStores, failAt = Number.POSITIVE_INFINITY) {
  const keys: string[] = []
  const count = (action: string, { url }: ObjectStore, key: string): void => {
    keys.push(key)
    if (keys.length === failAt) throw new StoreError(action, url, key, new Error('no space left'))
  }
  const wrap = (inner: ObjectStore): ObjectStore => ({
    ...inner,
    create: async (key, bytes, headers) => {
      count('create', inner, key)
      return inner.create(key, bytes, headers)
    },
    replace: async (key, bytes, headers) => {
      count('replace', inner, key)
      return inner.replace(key, bytes, headers)
    },
  })
  return { keys, stores: { store: wrap(store), privateStore: wrap(privateStore) } }
}

/** The same in folders. */
async function foldersWithBefore() {
  const folder = await temporaryFolder()
  const stores = {
    store: await openStore(pathToFileURL(join(folder, 'store')).href),
    privateStore: await openStore(pathToFileURL(join(folder, 'private')).href),
  }
  await publishInProcess(stores, BEFORE)
  return { folder, stores }
}

async function expectBoth(store: ObjectStore): Promise<void> {
  const whole = await storesWithBoth()
  expect(describeDifferences(await digestsOf(whole.store), await digestsOf(store))).toEqual([])
}

test('a folder that fails under a render thread leaves the version before served, and the same command finishes', async () => {
  const { folder, stores } = await foldersWithBefore()
  // A folder where a file has to be: neither can the file be made, nor can it be read.
  const twin = 'export.daily.csv.br'
  const obstacle = join(folder, 'store', versionFolder(HAND_VERSION), twin)
  await mkdir(obstacle, { recursive: true })
  await expect(publishVersion(orderOf(HAND_VERSION, stores))).rejects.toThrow(`/${twin}: EISDIR`)
  expect(await versionOf(stores.store)).toBe(BEFORE)
  await rmdir(obstacle)
  await publishVersion(orderOf(HAND_VERSION, stores))
  await expectBoth(stores.store)
})

test('files of a version that were torn by a loss of power are written again by the same command, unless the machine has not restarted since, and those of a published version are only compared', async () => {
  const { folder, stores } = await foldersWithBefore()
  const written = join(folder, 'store', versionFolder(HAND_VERSION))
  const progress: Progress = ({ done, total }) => {
    if (done === total) renameSync(written, `${written}.away`) // all is written, and cannot be flushed
  }
  await expect(publishVersion({ ...orderOf(HAND_VERSION, stores), progress })).rejects.toThrow(/flush/)
  expect(await versionOf(stores.store)).toBe(BEFORE)
  await rename(`${written}.away`, written)
  const [torn] = (await stores.store.list(versionFolder(HAND_VERSION))).filter(key => /curve.json$/.test(key))
  await truncate(join(folder, 'store', torn!))

  const sameBoot = publishVersion(orderOf(HAND_VERSION, stores))
  await expect(sameBoot).rejects.toThrow(`${torn} exists with other bytes`)
  expect(await versionOf(stores.store)).toBe(BEFORE)

  const unfinished = join(folder, 'store/.unfinished')
  const marks = await readdir(unfinished)
  expect(marks).not.toEqual([])
  for (const boot of ['another', 'yet another']) {
    for (const mark of marks) await writeFile(join(unfinished, mark), `the id of ${boot} boot`)
    await publishVersion(orderOf(HAND_VERSION, stores))
    await expectBoth(stores.store)
  }
})

const INPUTS = { inputs: [{ path: 'catalogue.yaml', sha256: 'ab' }] }

const signer = createSigner(newPrivateKeyPem())

/** The record of the inputs in a store of its own, its digest and its bytes. */
async function recordOf(by: Signer | null = signer, version = HAND_VERSION) {
  const store = createMemoryStore('private')
  const digest = await saveInputs(store, version, INPUTS, by)
  const [key = ''] = await store.list('')
  const record = z.looseObject({ salt: z.string().nullable() }).parse(await jsonAt(store, key))
  return { store, digest, key, record }
}

test('the record of the inputs holds what was read, its digest is the one that is published, and another book under the same version is refused', async () => {
  const { store, digest, key, record } = await recordOf()
  expect(key).toBe('20240601T001500Z/inputs.json')
  expect(record).toMatchObject({ version: HAND_VERSION, ...INPUTS })
  expect(digest).toBe(sha256(await bytesOf(store, key)))
  const other = saveInputs(store, HAND_VERSION, { inputs: [] }, signer)
  await expect(other).rejects.toThrow('exists with other bytes')
})

test('the record of the inputs is the same for one key, version and book, salted otherwise for another key or version, and has neither salt nor digest without a key', async () => {
  const own = await recordOf()
  expect((await recordOf()).digest).toBe(own.digest)
  const others = [await recordOf(createSigner(newPrivateKeyPem())), await recordOf(signer, BEFORE)]
  const salts = [own, ...others].map(({ record }) => record.salt)
  expect(new Set(salts).size).toBe(3)
  for (const salt of salts) expect(salt).toMatch(/^[0-9a-f]{64}$/)
  expect(await recordOf(null)).toMatchObject({ digest: null, record: { salt: null } })
})
