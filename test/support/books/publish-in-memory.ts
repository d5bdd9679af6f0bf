// Publishing without threads and without a disk, for tests that need many versions, or broken ones.
import pMap from 'p-map'
import { manifestKey } from '#core/contract/artifacts.ts'
import { type Artifact, MANIFEST_VERSION, type Manifest } from '#core/contract/manifest.ts'
import { RENDER_REVISION } from '#core/dataset/resources/render-answer.ts'
import { canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { SNAPSHOT_FORMAT, type Snapshot } from '#core/dataset/snapshot.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { renderPoint } from '#static-build/render-point.ts'
import { writePoints } from '#static-build/render-version.ts'
import { saveSnapshot } from '#static-build/save-private.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { bytesOf } from '#test/support/stores/stored-bytes.ts'
import { pointAt } from '../history/point-to.ts'

export type MemoryStores = { readonly store: ObjectStore; readonly privateStore: ObjectStore }

export const createMemoryStores = (): MemoryStores => ({
  store: createMemoryStore('public'),
  privateStore: createMemoryStore('private'),
})

/** Opens stores of one's own with what `publish` publishes, which is published once for all tests. */
export function storesAfter(
  publish: (stores: MemoryStores) => Promise<unknown>,
): () => Promise<MemoryStores> {
  const publishOnce = async (): Promise<MemoryStores> => {
    const stores = createMemoryStores()
    await publish(stores)
    return stores
  }
  let master: Promise<MemoryStores> | null = null
  return async () => {
    master ??= publishOnce()
    return copyOfBoth(await master)
  }
}

export async function copyOfBoth(from: MemoryStores): Promise<MemoryStores> {
  const stores = createMemoryStores()
  await copyAll(from.store, stores.store)
  await copyAll(from.privateStore, stores.privateStore)
  return stores
}

/** Every object of a store into another. */
export async function copyAll(from: ObjectStore, to: ObjectStore): Promise<void> {
  const copy = async (key: string) => to.create(key, await bytesOf(from, key), HEADERS)
  await pMap(await from.list(''), copy, { concurrency: 16 })
}

const HEADERS = { content_type: 'application/json' }

/** Publishes a snapshot as a version; `change` may falsify its manifest on the way. */
export async function publishInMemory(
  { store, privateStore }: MemoryStores,
  snapshot: Snapshot,
  change: (manifest: Manifest) => unknown = manifest => manifest,
): Promise<void> {
  const { version, window } = snapshot.dataset
  const strategies = snapshot.strategies.map(({ id }) => id)
  const digests = await saveSnapshot(privateStore, version, encodeSnapshot(snapshot))
  const manifest: Manifest = {
    manifest_version: MANIFEST_VERSION,
    version,
    entered: null,
    render_revision: RENDER_REVISION,
    snapshot_format: SNAPSHOT_FORMAT,
    strategies,
    window,
    previous: null,
    history_restated: false,
    documents: {},
    built_with: { highwater: 'test', node: 'test', commit: null, lockfile_sha256: null },
    inputs_sha256: null,
    program_sha256: null,
    time_stamps: {},
    snapshot: digests,
    artifacts: await renderAll(store, snapshot, strategies),
  }
  await replaceManifest(store, version, change(manifest))
}

/** Writes any manifest of a version, and points to it. */
export async function replaceManifest(store: ObjectStore, version: string, manifest: unknown): Promise<void> {
  const bytes = toBytes(manifest)
  await store.replace(manifestKey(version), bytes, HEADERS)
  await pointAt(store, version, sha256(bytes))
}

/** Renders every artifact of a snapshot in this process, one after the other. */
export async function renderAll(
  store: ObjectStore,
  snapshot: Snapshot,
  ids: readonly string[],
): Promise<Artifact[]> {
  const artifacts: Artifact[] = []
  for (const route of DATASET_ROUTES) {
    const { id } = route
    for (const params of canonicalPoints(route, ids)) {
      const rendered = renderPoint(snapshot, { kind: 'answer', id, params }, 'quick')
      await writePoints(store, [rendered])
      artifacts.push(rendered.artifact)
    }
  }
  return artifacts
}

export const toBytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
