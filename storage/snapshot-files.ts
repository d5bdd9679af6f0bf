import { privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { SNAPSHOT_FILES, type SnapshotBytes } from '#core/snapshot/snapshot-files.ts'
import { sha256 } from './digest.ts'
import type { ObjectStore } from './object-store.ts'
import { UnreadableError } from './unreadable-error.ts'

/**
 * The files of a published snapshot, held to the digests of its manifest. Throws an UnreadableError where one is
 * missing or altered, and a StoreError where the store cannot tell.
 */
export async function readSnapshotFiles(
  privateStore: ObjectStore,
  { version, snapshot }: Pick<Manifest, 'version' | 'snapshot'>,
): Promise<SnapshotBytes> {
  const read = async ([file, name]: [string, string]) => {
    const key = privateKey(version, name)
    const bytes = await privateStore.read(key)
    if (bytes !== null && sha256(bytes) === snapshot[name]) return [file, bytes] as const
    const what = bytes === null ? 'is missing' : 'is not the file that was published'
    throw new UnreadableError(
      `${privateStore.url}/${key} ${what}: restore it from a copy, or name the private store that has it`,
    )
  }
  const files = await Promise.all(Object.entries(SNAPSHOT_FILES).map(read))
  return Object.fromEntries(files) as SnapshotBytes // one entry a file
}
