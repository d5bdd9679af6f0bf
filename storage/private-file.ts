import { sha256InTurns } from './digest.ts'
import type { ObjectStore } from './object-store.ts'
import { UnreadableError } from './unreadable-error.ts'

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
