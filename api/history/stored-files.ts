import { LRUCache } from 'lru-cache'
import type { FileRoute } from '#core/contract/file-routes.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type ReadyAnswer, toReadyAnswer, unencodedDigest } from '../http/ready-answer.ts'
import type { History } from './history.ts'
import { proofOf } from './stored-proofs.ts'

/** Memory for objects that never change; the manifest of a book of a thousand strategies takes half of it. */
export const CACHE_BYTES = 16 << 20

/** The largest object that is kept; a larger one is read again for everyone who asks. */
export const LARGEST_KEPT_BYTES = CACHE_BYTES / 2

/** An object as it is, and whether it is proven to be what was published: only then may anybody keep it. */
export type StoredFile = { readonly answer: ReadyAnswer; readonly isProven: boolean }

/** Objects of the public store as they are. */
export type StoredFiles = {
  /**
   * The object of a route; `variable` is what stands for its variable. Null where there is none. Rejects with a StoreError
   * where the store cannot tell, and with a DamagedFileError where the object is not the one that was published.
   */
  read(file: FileRoute, variable: string): Promise<StoredFile | null>
}

/** An object that is not what the pointer log says. Caches would keep it for a year. */
export class DamagedFileError extends Error {
  constructor(url: string, key: string) {
    super(`${url}/${key} is not what was published: restore it from a copy`)
    this.name = 'DamagedFileError'
  }
}

export function createStoredFiles(store: ObjectStore, history: () => History | null): StoredFiles {
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: CACHE_BYTES,
    maxEntrySize: LARGEST_KEPT_BYTES,
    sizeCalculation: answer => answer.bytes.length + 1, // a size of 0 is none
  })
  return {
    async read(file, variable) {
      const key = file.keyOf(variable)
      const cached = cache.get(key)
      if (cached !== undefined) return { answer: cached, isProven: true }
      const bytes = await store.read(key)
      if (bytes === null) return null
      const prove = proofOf(file, variable, history())
      if (prove !== null && !(await prove(bytes, store))) throw new DamagedFileError(store.url, key)
      const answer = toAnswer(bytes, file)
      if (prove !== null) cache.set(key, answer)
      return { answer, isProven: prove !== null }
    },
  }
}

function toAnswer(bytes: Uint8Array, { mediaType }: FileRoute): ReadyAnswer {
  const digest = sha256(bytes)
  return toReadyAnswer(Uint8Array.from(bytes), 'identity', `"${digest.slice(0, 32)}"`, {
    'content-type': mediaType,
    'unencoded-digest': unencodedDigest(digest),
  })
}
