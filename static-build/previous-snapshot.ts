import { privateKey } from '#core/contract/artifacts.ts'
import type { CurrentVersion } from '#core/contract/manifest.ts'
import { decodeSnapshot } from '#core/snapshot/decode-snapshot.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import { SNAPSHOT_FILES, type SnapshotBytes } from '#core/snapshot/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { readManifest } from './verify-version.ts'

/**
 * The version that is compared with: the one that was served when this one was, or would be, published. Running a
 * build again after it was published finds the same one, so that its documents are the same bytes.
 */
export function versionBefore(log: readonly LoggedEntry[], version: string): LoggedEntry | null {
  const own = log.findIndex(({ entry }) => entry.version === version)
  return (own === -1 ? log.at(-1) : log[own - 1]) ?? null
}

/** The snapshot of a published version, held to the digests of its manifest. Throws a sentence where it is not whole. */
export async function readPublishedSnapshot(
  store: ObjectStore,
  privateStore: ObjectStore,
  { version, manifest_sha256 }: CurrentVersion,
): Promise<Snapshot> {
  const { snapshot } = await readManifest(store, version, manifest_sha256)
  const read = async ([file, name]: [string, string]) => {
    const key = privateKey(version, name)
    const bytes = await privateStore.read(key)
    if (bytes !== null && sha256(bytes) === snapshot[name]) return [file, bytes] as const
    throw new Error(
      `${privateStore.url}/${key} is ${bytes === null ? 'missing' : 'not the file that was published'}: restore it from a copy, or name the private store that has it with --private-store`,
    )
  }
  const files = await Promise.all(Object.entries(SNAPSHOT_FILES).map(read))
  return decodeSnapshot(Object.fromEntries(files) as SnapshotBytes) // one entry a file
}
