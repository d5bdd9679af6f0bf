import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { type Manifest, manifest } from '#core/contract/manifest.ts'
import { SNAPSHOT_FILES, type SnapshotBytes } from '#core/dataset/snapshot-files.ts'
import type { ObjectStore } from '#storage/object-store.ts'

/** The bytes of an object that must be there. */
export async function bytesOf(store: ObjectStore, key: string): Promise<Uint8Array> {
  const bytes = await store.read(key)
  if (bytes === null) throw new Error(`${store.url}/${key} is missing`)
  return bytes
}

/** The manifest of a published version. */
export const manifestOf = async (store: ObjectStore, version: string): Promise<Manifest> =>
  manifest.parse(JSON.parse(new TextDecoder().decode(await bytesOf(store, manifestKey(version)))))

/** The five files of the snapshot of a published version. */
export async function snapshotBytesOf(privateStore: ObjectStore, version: string): Promise<SnapshotBytes> {
  const read = Object.entries(SNAPSHOT_FILES).map(async ([file, name]) => [
    file,
    await bytesOf(privateStore, privateKey(version, name)),
  ])
  return Object.fromEntries(await Promise.all(read))
}
