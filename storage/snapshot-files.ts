import { privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { SNAPSHOT_FILES, type SnapshotBytes, type SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { sha256InTurns } from './digest.ts'
import type { ObjectStore } from './object-store.ts'
import { UnreadableError } from './published-manifest.ts'

/**
 * The files of a published snapshot, checked against the digests of its manifest. Throws an UnreadableError
 * if one is missing or altered, and a StoreError if the store does not answer. The file `without` is not read, and empty.
 */
export async function readSnapshotFiles(
  privateStore: ObjectStore,
  { version, snapshot }: Pick<Manifest, 'version' | 'snapshot'>,
  without: SnapshotFile | null = null,
): Promise<SnapshotBytes> {
  const read = async ([file, name]: [string, string]) => {
    if (file === without) return [file, new Uint8Array()] as const
    const bytes = await readPrivateFile(privateStore, privateKey(version, name), snapshot[name])
    return [file, bytes] as const
  }
  const files = await Promise.all(Object.entries(SNAPSHOT_FILES).map(read))
  return Object.fromEntries(files) as SnapshotBytes // one entry a file
}

/**
 * A private file of a published version, checked against its digest. Throws an UnreadableError if it is
 * missing or altered, and a StoreError if the store does not answer.
 */
export async function readPrivateFile(
  privateStore: ObjectStore,
  key: string,
  digest: string | undefined,
): Promise<Uint8Array> {
  const bytes = await privateStore.read(key)
  if (bytes !== null && (await sha256InTurns(bytes)) === digest) return bytes
  const what = bytes === null ? 'is missing' : 'is not the file that was published'
  throw new UnreadableError(
    `${privateStore.url}/${key} ${what}: restore it from a copy, or name the private store that has it`,
  )
}
