import { LRUCache } from 'lru-cache'
import { TWIN_ENDINGS } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { negotiateCoding } from '../negotiate-coding.ts'
import { type ReadyAnswer, toReadyAnswer } from './ready-answer.ts'

/** Memory for published files. A book of a dozen strategies fits whole; of a large one the files that are asked for. */
const CACHE_BYTES = 64 << 20

const TWINS = ['br', 'gzip'] as const

/** The answers that are files: the bytes as published, precompressed, with the validator from the manifest. */
export type PublishedAnswers = {
  /** The answer in the best coding the client accepts; null where the file is lost or damaged. */
  read(artifact: Artifact, acceptEncoding: string | null | undefined): Promise<ReadyAnswer | null>
}

/** `onDamage` is told of a file that is missing or is not what the manifest says. */
export function createPublishedAnswers(
  store: ObjectStore,
  onDamage: (message: string) => void,
): PublishedAnswers {
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: answer => answer.bytes.length,
  })
  return {
    async read(artifact, acceptEncoding) {
      const coding = negotiateCoding(acceptEncoding, TWINS)
      const file = coding === 'identity' ? artifact : artifact.encodings[coding]
      const key = coding === 'identity' ? artifact.key : `${artifact.key}${TWIN_ENDINGS[coding]}`
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const bytes = await store.read(key)
      if (bytes === null || sha256(bytes) !== file.sha256) {
        onDamage(
          `${store.url}/${key} is ${bytes === null ? 'missing' : 'damaged'}; its answer is computed instead`,
        )
        return null
      }
      const headers = { 'content-type': artifact.media_type, ...artifact.headers }
      const answer = toReadyAnswer(Uint8Array.from(bytes), coding, etagOf(file.sha256), headers)
      cache.set(key, answer)
      return answer
    },
  }
}

/** Half a digest tells two files apart as well as a whole one. */
const etagOf = (digest: string): string => `"${digest.slice(0, 32)}"`
