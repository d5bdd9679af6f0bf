import { LRUCache } from 'lru-cache'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type ReadyAnswer, toReadyAnswer, unencodedDigest } from './ready-answer.ts'

/** Memory for objects that never change; the manifest of a book of a thousand strategies takes half of it. */
const CACHE_BYTES = 16 << 20

/** The largest object that is kept; a larger one is read again for everyone who asks. */
const LARGEST_KEPT_BYTES = CACHE_BYTES / 2

/** Objects of the public store as they are. */
export type StoredFiles = {
  /** Null where there is no such object. Rejects with a StoreError where the store cannot tell. */
  read(key: string, mediaType: string, isForEver: boolean): Promise<ReadyAnswer | null>
}

export function createStoredFiles(store: ObjectStore): StoredFiles {
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: CACHE_BYTES,
    maxEntrySize: LARGEST_KEPT_BYTES,
    sizeCalculation: answer => answer.bytes.length + 1, // a size of 0 is none
  })
  return {
    async read(key, mediaType, isForEver) {
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const bytes = await store.read(key)
      if (bytes === null) return null
      const digest = sha256(bytes)
      const answer = toReadyAnswer(Uint8Array.from(bytes), 'identity', `"${digest.slice(0, 32)}"`, {
        'content-type': mediaType,
        'unencoded-digest': unencodedDigest(digest),
      })
      if (isForEver) cache.set(key, answer)
      return answer
    },
  }
}
