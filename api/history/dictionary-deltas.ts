import { LRUCache } from 'lru-cache'
import { ApiError } from '#core/contract/errors.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { matchesEtag } from '../http/etag.ts'
import { DELTA_CODING, prefersDelta } from '../http/negotiate-coding.ts'
import { parseAvailableDictionary } from './available-dictionary.ts'
import { encodeDelta, spansWindow } from './delta-coding.ts'
import { createDictionaryVersions, type Dictionary } from './dictionary-versions.ts'
import { createGate } from './gate.ts'
import type { History } from './history.ts'
import type { PublishedAnswers } from './published-answers.ts'
import { type ReadyAnswer, toReadyAnswer } from './ready-answer.ts'

/** Memory for deltas. One of a day is a few hundred bytes, so this holds all that a night makes clients ask for. */
const CACHE_BYTES = 16 << 20

/**
 * Deltas under way, each with an older answer in memory: beyond, a client gets the ordinary answer at once. They are read
 * side by side, because one slow read must not hold up the others, and compressed one after the other.
 */
export const MOST_UNDER_WAY = 16

/** What a request says about the answers that its client has. */
export type Holdings = {
  readonly acceptEncoding: string | undefined
  readonly availableDictionary: string | undefined
  readonly ifNoneMatch: string | undefined
}

/** Published answers told as the difference to what the client has already. */
export type DictionaryDeltas = {
  /**
   * A delta where the client accepts one, names an older or newer self of this artifact, and the delta is smaller
   * than the ordinary answer; else the ordinary answer.
   */
  better(version: string, artifact: Artifact, ordinary: ReadyAnswer, holdings: Holdings): Promise<ReadyAnswer>
}

/** `history` tells which versions there are; `onFault` is told of older answers that are lost or damaged. */
export function createDictionaryDeltas(
  store: ObjectStore,
  published: PublishedAnswers,
  history: () => History | null,
  onFault: (message: string) => void,
): DictionaryDeltas {
  const versions = createDictionaryVersions(store, onFault)
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: answer => answer.bytes.length,
  })
  const inFlight = new Map<string, Promise<ReadyAnswer | null>>()
  const inTurn = createGate(MOST_UNDER_WAY, `${MOST_UNDER_WAY} deltas are being made already`)

  const find = async (log: History, version: string, artifact: Artifact, digest: string) =>
    artifact.sha256 === digest ? artifact : versions.find(log, version, artifact.url, digest)

  const make = async (log: History, artifact: Artifact, dictionary: Dictionary) => {
    const old = await versions.read(log, dictionary)
    const whole = old === null ? null : await published.read(artifact, null)
    if (old === null || whole === null) return null
    return toDelta(whole, await inTurn(() => encodeDelta(whole.bytes, old, dictionary.sha256)))
  }
  const findAndMake = async (version: string, artifact: Artifact, digest: string, key: string) => {
    const log = history()
    const dictionary = log === null ? null : await find(log, version, artifact, digest)
    if (log === null || dictionary === null || !spansWindow(artifact.bytes, dictionary.bytes)) return null
    const delta = await make(log, artifact, dictionary)
    if (delta !== null) cache.set(key, delta)
    return delta
  }
  const deltaTo = (version: string, artifact: Artifact, digest: string): Promise<ReadyAnswer | null> => {
    const key = `${artifact.key} ${digest}`
    const cached = cache.get(key)
    if (cached !== undefined) return Promise.resolve(cached)
    const running = inFlight.get(key)
    if (running !== undefined) return running // equal requests at the same time are one delta
    if (inFlight.size >= MOST_UNDER_WAY) return Promise.resolve(null)
    const made = findAndMake(version, artifact, digest, key)
      .catch(error => none(error, onFault))
      .finally(() => inFlight.delete(key))
    inFlight.set(key, made)
    return made
  }
  return {
    async better(version, artifact, ordinary, { acceptEncoding, availableDictionary, ifNoneMatch }) {
      if (!prefersDelta(acceptEncoding, ordinary.headers['content-encoding'])) return ordinary
      const digest = parseAvailableDictionary(availableDictionary)
      // Who has the very answer is told so, which is shorter still.
      if (digest === null || matchesEtag(ifNoneMatch, ordinary.etag)) return ordinary
      const delta = await deltaTo(version, artifact, digest)
      return delta !== null && delta.bytes.length < ordinary.bytes.length ? delta : ordinary
    },
  }
}

/** Its validator is made of its own bytes: they depend on the dictionary, and on the library that made them. */
function toDelta({ headers }: ReadyAnswer, bytes: Uint8Array<ArrayBuffer>): ReadyAnswer {
  return toReadyAnswer(bytes, DELTA_CODING, `"${sha256(bytes).slice(0, 32)}"`, headers)
}

/** A delta is a favour: nobody is refused for want of one. What is not the load is told. */
function none(error: unknown, onFault: (message: string) => unknown): null {
  const isCrowded = error instanceof ApiError && error.code === 'overloaded'
  if (!isCrowded)
    onFault(`a delta could not be made: ${error instanceof Error ? error.message : String(error)}`)
  return null
}
