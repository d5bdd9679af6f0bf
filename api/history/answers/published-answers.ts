import { LRUCache } from 'lru-cache'
import { TWIN_CODINGS, TWIN_ENDINGS } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { isFolder, type ObjectStore, StoreError } from '#storage/object-store.ts'
import { fileEtag } from '#storage/placing.ts'
import { negotiateCoding, type ReadyAnswer, toReadyAnswer } from '../../service/content-coding.ts'

/** How often a cache of answers was used since the start of the process, and its size. */
export type CacheUse = {
  hits: number
  misses: number
  /** Answered by a computation that was under way for an equal request. */
  shared: number
  readonly bytes: number
}

/** Answers of so many bytes at the most, and how they were used. */
export function createAnswerCache(maxSize: number) {
  const cache = new LRUCache<string, ReadyAnswer>({ maxSize, sizeCalculation: ({ bytes }) => bytes.length })
  const use: CacheUse = {
    hits: 0,
    misses: 0,
    shared: 0,
    get bytes() {
      return cache.calculatedSize
    },
  }
  return {
    use,
    keep: (key: string, answer: ReadyAnswer) => void cache.set(key, answer),
    find(key: string): ReadyAnswer | undefined {
      const known = cache.get(key)
      if (known !== undefined) use.hits++
      return known
    },
  }
}

/** Memory for published files. A book of a dozen strategies fits whole; of a large one the files that are requested. */
export const CACHE_BYTES = 64 << 20

/** The answers that are files, as published. `onDamage` is called once per version for each one that is missing, unreadable or different. */
export function createPublishedAnswers(
  store: ObjectStore,
  onDamage: (message: string) => void,
  cacheBytes: number = CACHE_BYTES,
) {
  const { use, keep, find } = createAnswerCache(cacheBytes)
  const reported = new WeakSet<object>() // entries of a manifest: released with their version
  return {
    use: () => use,
    /** The answer in the best coding the client accepts; null if the file is missing, damaged or cannot be read. */
    async read(artifact: Artifact, acceptEncoding: string | undefined): Promise<ReadyAnswer | null> {
      const { file, coding, key } = chooseFile(artifact, acceptEncoding)
      const known = find(key)
      if (known !== undefined) return known
      use.misses++
      const found = await readWhole(store, key, file.sha256)
      if ('unfit' in found) {
        if (!reported.has(file)) onDamage(`${found.unfit}; its answer is computed instead`)
        reported.add(file)
        return null
      }
      const headers = { 'content-type': artifact.media_type, ...artifact.headers }
      const ready = toReadyAnswer(Uint8Array.from(found.bytes), coding, fileEtag(key, file.bytes), headers)
      const answer = isFolder(store) ? { ...ready, file: key } : ready
      keep(key, answer)
      return answer
    },
  }
}

function chooseFile(artifact: Artifact, acceptEncoding: string | undefined) {
  const wanted = negotiateCoding(acceptEncoding, TWIN_CODINGS)
  const twin = wanted === 'identity' ? undefined : artifact.encodings[wanted]
  const coding = twin === undefined ? 'identity' : wanted // a binary format has no twins
  const key = coding === 'identity' ? artifact.key : `${artifact.key}${TWIN_ENDINGS[coding]}`
  return { file: twin ?? artifact, coding, key }
}

/** The bytes as published, or why there are none. An outage of the store must not stop answers that can be computed. */
async function readWhole(store: ObjectStore, key: string, digest: string) {
  try {
    const bytes = await store.read(key)
    if (bytes === null) return { unfit: `${store.url}/${key} is missing` }
    return sha256(bytes) === digest ? { bytes } : { unfit: `${store.url}/${key} is damaged` }
  } catch (error) {
    if (error instanceof StoreError) return { unfit: error.message }
    throw error
  }
}
