import { mkdir, readdir, rmdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { documentKey, manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { CURRENT_KEY, pointerKey } from '#core/contract/pointer.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { writeOnce } from '#storage/write-once.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { BEFORE, orderOf, publishInProcess, versionOf } from './hand-order.ts'
import { bytesAt, describeDifferences, digestsOf } from './tree.ts'

test('a store that fails at any one of the writes leaves the version before served, and the same command finishes', async () => {
  const whole = createMemoryStores()
  await publishInProcess(whole, BEFORE)
  const before = { store: await copyOf(whole.store), privateStore: await copyOf(whole.privateStore) }
  const counted = counting(whole)
  const { manifest } = await publishInProcess(counted.stores, HAND_VERSION)
  const expected = await digestsOf(whole.store)
  // The same artifacts in the same order, without rendering them again for every write that is to fail.
  const republish = (stores: MemoryStores) =>
    publishVersion({
      ...orderOf(HAND_VERSION, stores),
      render: async () => {
        for (const key of counted.keys.filter(isArtifact)) {
          await writeOnce(stores.store, key, await bytesAt(whole.store, key), { content_type: 'text/plain' })
        }
        return manifest.artifacts
      },
    })

  expect(counted.keys.length).toBeGreaterThan(2 * manifest.artifacts.length)
  expect(counted.keys.slice(-3)).toEqual([pointerKey(2), CURRENT_KEY, 'index.html'])
  const derived = 2 // the hint and the page
  for (const at of telling(counted.keys.slice(0, -derived))) {
    const stores = { store: await copyOf(before.store), privateStore: await copyOf(before.privateStore) }
    const broken = republish(counting(stores, at).stores)
    await expect(broken, `write ${at}`).rejects.toThrow(`${counted.keys[at - 1]}: no space left`)
    expect(await versionOf(stores.store), `after write ${at}`).toBe(BEFORE)
    await republish(stores)
    expect(describeDifferences(expected, await digestsOf(stores.store)), `after write ${at}`).toEqual([])
  }

  // The entry is the moment of publication: what is derived from it is written again at the next one.
  for (let at = counted.keys.length - derived + 1; at <= counted.keys.length; at++) {
    const late = { store: await copyOf(before.store), privateStore: await copyOf(before.privateStore) }
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

async function copyOf(store: ObjectStore): Promise<ObjectStore> {
  const copy = createMemoryStore()
  for (const key of await store.list(''))
    await copy.replace(key, await bytesAt(store, key), { content_type: 'text/plain' })
  return copy
}

test('a folder that fails under a render thread leaves the version before served, and the same command finishes', async () => {
  const folder = await temporaryFolder()
  const stores = {
    store: await openStore(pathToFileURL(join(folder, 'store')).href),
    privateStore: await openStore(pathToFileURL(join(folder, 'private')).href),
  }
  await publishInProcess(stores, BEFORE)
  // A folder where a file has to be: neither can the file be made, nor can it be read.
  const twin = 'export.daily.csv.br'
  const obstacle = join(folder, 'store', versionFolder(HAND_VERSION), twin)
  await mkdir(obstacle, { recursive: true })
  await expect(publishVersion(orderOf(HAND_VERSION, stores))).rejects.toThrow(`/${twin}: EISDIR`)
  expect(await versionOf(stores.store)).toBe(BEFORE)
  await rmdir(obstacle)
  await publishVersion(orderOf(HAND_VERSION, stores))
  const inProcess = createMemoryStores()
  await publishInProcess(inProcess, BEFORE)
  await publishInProcess(inProcess, HAND_VERSION)
  expect(describeDifferences(await digestsOf(inProcess.store), await digestsOf(stores.store))).toEqual([])
})

/** Both stores of a build that ended before its files were flushed, one of them torn. */
async function tornStores() {
  const folder = await temporaryFolder()
  const stores = {
    store: await openStore(pathToFileURL(join(folder, 'store')).href),
    privateStore: await openStore(pathToFileURL(join(folder, 'private')).href),
  }
  await publishInProcess(stores, BEFORE)
  const lost = new Error('the machine lost power')
  const losing: ObjectStore = {
    ...stores.store,
    beginBatch: async prefix => {
      const batch = await stores.store.beginBatch!(prefix)
      return batch && { ...batch, end: () => Promise.reject(lost) }
    },
  }
  await expect(publishVersion(orderOf(HAND_VERSION, { ...stores, store: losing }))).rejects.toBe(lost)
  const [torn] = (await stores.store.list(versionFolder(HAND_VERSION))).filter(key => /curve.json$/.test(key))
  await truncate(join(folder, 'store', torn!))
  return { folder, stores, torn: torn! }
}

test('files of a version that were torn by a loss of power are written again by the same command', async () => {
  const { folder, stores } = await tornStores()
  const [mark] = await readdir(join(folder, 'store/.unfinished'))
  await writeFile(join(folder, 'store/.unfinished', mark!), 'the id of another boot')
  await publishVersion(orderOf(HAND_VERSION, stores))
  const inProcess = createMemoryStores()
  await publishInProcess(inProcess, BEFORE)
  await publishInProcess(inProcess, HAND_VERSION)
  expect(describeDifferences(await digestsOf(inProcess.store), await digestsOf(stores.store))).toEqual([])
})

test('files torn by a loss of power are distinguished from other bytes on the same boot, which are refused', async () => {
  const { stores, torn } = await tornStores()
  await expect(publishVersion(orderOf(HAND_VERSION, stores))).rejects.toThrow(
    `${torn} exists with other bytes`,
  )
  expect(await versionOf(stores.store)).toBe(BEFORE)
})

test('a loss of power never loses a version that is published, which is only compared', async () => {
  const { folder, stores } = await tornStores()
  const mark = join(folder, 'store/.unfinished', (await readdir(join(folder, 'store/.unfinished')))[0]!)
  await writeFile(mark, 'the id of another boot')
  await publishVersion(orderOf(HAND_VERSION, stores))
  const whole = await digestsOf(stores.store)
  await writeFile(mark, 'the id of yet another boot')
  await publishVersion(orderOf(HAND_VERSION, stores))
  expect(describeDifferences(whole, await digestsOf(stores.store))).toEqual([])
})
