import type { CurrentVersion } from '#core/contract/manifest.ts'
import { decodeSnapshot } from '#core/snapshot/decode-snapshot.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-manifest.ts'
import { readSnapshotFiles } from '#storage/snapshot-files.ts'

/**
 * The version that is compared with: the one that was served when this one was, or would be, published. Running a
 * build again after it was published finds the same one, so that its documents are the same bytes.
 */
export function versionBefore(log: readonly LoggedEntry[], version: string): LoggedEntry | null {
  const own = log.findIndex(({ entry }) => entry.version === version)
  return (own === -1 ? log.at(-1) : log[own - 1]) ?? null
}

/** The snapshot of a published version, held to the digests of its manifest. Throws a sentence where it is not whole. */
export const readPublishedSnapshot = async (
  store: ObjectStore,
  privateStore: ObjectStore,
  current: CurrentVersion,
): Promise<Snapshot> =>
  decodeSnapshot(await readSnapshotFiles(privateStore, await readManifest(store, current)))
