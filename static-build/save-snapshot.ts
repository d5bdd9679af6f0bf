import { privateKey } from '#core/contract/artifacts.ts'
import { SNAPSHOT_FILES, type SnapshotBytes, type SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { writeOnce } from '#storage/write-once.ts'

const MEDIA_TYPES: { readonly [File in SnapshotFile]: string } = {
  document: 'application/json',
  daily: 'application/vnd.apache.arrow.file',
  weekly: 'application/vnd.apache.arrow.file',
  trades: 'application/vnd.apache.arrow.file',
  correlation: 'application/vnd.apache.arrow.file',
}

const FILES = Object.keys(SNAPSHOT_FILES) as SnapshotFile[] // keyof of a literal

/** Writes the files of a snapshot to the private store and returns the digest of each, by file name. */
export async function saveSnapshot(
  privateStore: ObjectStore,
  version: string,
  bytes: SnapshotBytes,
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const file of FILES) {
    const key = privateKey(version, SNAPSHOT_FILES[file])
    await writeOnce(privateStore, key, bytes[file], { content_type: MEDIA_TYPES[file] })
    digests[SNAPSHOT_FILES[file]] = sha256(bytes[file])
  }
  return digests
}
