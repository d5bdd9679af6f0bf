import type { CurrentVersion } from '#core/contract/manifest.ts'
import { SNAPSHOT_FORMAT, type Snapshot } from '#core/dataset/snapshot.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import type { Stores } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { firstPublications } from '#storage/publications.ts'
import { readManifest, UnreadableError } from '#storage/published-manifest.ts'
import { readSnapshotFiles } from '#storage/snapshot-files.ts'

/**
 * The log as it was before a version was, or would be, published. Running a build again after it was
 * published finds the same one, so that its documents are the same bytes.
 */
export function logBefore(log: readonly LoggedEntry[], version: string): readonly LoggedEntry[] {
  const own = log.findIndex(({ entry }) => entry.version === version)
  return own === -1 ? log : log.slice(0, own)
}

/**
 * The versions that were first published after the served one and then rolled back, newest first. Each was
 * compared with all that were published before it, so the newest readable one covers the older ones.
 */
export function rolledBackIn(log: readonly LoggedEntry[]): readonly LoggedEntry[] {
  const served = log.at(-1)?.entry.version
  const inOrder = firstPublications(log)
  return inOrder.slice(inOrder.findIndex(({ entry }) => entry.version === served) + 1).reverse()
}

/**
 * The snapshot of a published version, checked against the digests of its manifest, without its correlations: they follow
 * from its returns, and those of a large book are gigabytes. Throws an UnreadableError if a file is not there, not the one
 * that was published, or of another format.
 */
export async function readPublishedSnapshot(
  { store, privateStore }: Stores,
  current: CurrentVersion,
): Promise<Snapshot> {
  const manifest = await readManifest(store, current)
  const { version, snapshot_format: format } = manifest
  if (format !== SNAPSHOT_FORMAT) {
    throw new UnreadableError(
      `the snapshot of ${version} in ${privateStore.url} has format ${format}, and this program reads format ` +
        `${SNAPSHOT_FORMAT}: use the program that made it`,
    )
  }
  return decodeSnapshot(await readSnapshotFiles(privateStore, manifest, 'correlation'))
}
