import { LRUCache } from 'lru-cache'
import { TWIN_CODINGS, TWIN_ENDINGS } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { fileEtag } from '#storage/file-time.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import {
  negotiateCoding,
  type ReadyAnswer,
  toReadyAnswer,
  unencodedDigest,
} from '../../http/content-coding.ts'

/** How a cache of answers was used since the process began, and what it holds. */
export type CacheUse = {
  hits: number
  misses: number
  /** Answered by a computation that was under way for an equal request. */
  shared: number
  /** Bytes of the bodies in it. */
  readonly bytes: number
}

/** Counters of a cache; its size is read when it is asked for. */
export const countUse = (cache: { readonly calculatedSize: number }): CacheUse => ({
  hits: 0,
  misses: 0,
  shared: 0,
  get bytes() {
    return cache.calculatedSize
  },
})

/** Memory for published files. A book of a dozen strategies fits whole; of a large one the files that are asked for. */
export const CACHE_BYTES = 64 << 20

/** The answers that are files: the bytes as published, precompressed, with the validator from the manifest. */
export type PublishedAnswers = {
  /** The answer in the best coding the client accepts; null where the file is lost, damaged or cannot be read. */
  read(artifact: Artifact, acceptEncoding: string | null | undefined): Promise<ReadyAnswer | null>
  readonly use: () => CacheUse
}

/** `onDamage` is told once a version of each file that is missing, cannot be read or is not what the manifest says. */
export function createPublishedAnswers(
  store: ObjectStore,
  onDamage: (message: string) => void,
  cacheBytes: number = CACHE_BYTES,
): PublishedAnswers {
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: cacheBytes,
    sizeCalculation: answer => answer.bytes.length,
  })
  const use = countUse(cache)
  const told = new WeakSet<object>() // entries of a manifest: forgotten with the version that they belong to
  return {
    use: () => use,
    async read(artifact, acceptEncoding) {
      const { file, coding, key } = chooseFile(artifact, acceptEncoding)
      const cached = cache.get(key)
      if (cached !== undefined) {
        use.hits++
        return cached
      }
      use.misses++
      const found = await readWhole(store, key, file.sha256)
      if ('unfit' in found) {
        if (!told.has(file)) onDamage(`${found.unfit}; its answer is computed instead`)
        told.add(file)
        return null
      }
      const headers = {
        'content-type': artifact.media_type,
        ...artifact.headers,
        'unencoded-digest': unencodedDigest(artifact.sha256),
      }
      const answer = toReadyAnswer(Uint8Array.from(found.bytes), coding, fileEtag(key, file.bytes), headers)
      cache.set(key, answer)
      return answer
    },
  }
}

/** The file of an artifact that a client gets. */
function chooseFile(artifact: Artifact, acceptEncoding: string | null | undefined) {
  const wanted = negotiateCoding(acceptEncoding, TWIN_CODINGS)
  const twin = wanted === 'identity' ? undefined : artifact.encodings[wanted]
  const coding = twin === undefined ? 'identity' : wanted // a binary format has no twins
  const key = coding === 'identity' ? artifact.key : `${artifact.key}${TWIN_ENDINGS[coding]}`
  return { file: twin ?? artifact, coding, key }
}

type Found = { readonly bytes: Uint8Array } | { readonly unfit: string }

/** The bytes as published, or why there are none. What can be computed must outlive an outage of the store. */
async function readWhole(store: ObjectStore, key: string, digest: string): Promise<Found> {
  try {
    const bytes = await store.read(key)
    if (bytes === null) return { unfit: `${store.url}/${key} is missing` }
    return sha256(bytes) === digest ? { bytes } : { unfit: `${store.url}/${key} is damaged` }
  } catch (error) {
    if (error instanceof StoreError) return { unfit: error.message }
    throw error
  }
}
