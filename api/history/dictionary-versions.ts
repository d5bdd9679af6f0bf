import { LRUCache } from 'lru-cache'
import { isDictionary } from '#core/contract/dictionaries.ts'
import type { Artifact, CurrentVersion } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import type { Publication } from '#storage/publications.ts'
import { findManifest } from '#storage/published-manifest.ts'
import { createGate } from './gate.ts'
import type { History } from './history.ts'

/** Versions before and after the one that is asked for: who asks once a week, or after a rollback, has one of them. */
export const NEARBY_VERSIONS = 7

/** Memory for what is known of other versions, in artifacts: 20 MB, all neighbours of a book of a thousand strategies. */
const MOST_KNOWN = 100_000

/** Manifests that are read or wait for it, one after the other: beyond, a client gets the ordinary answer. */
const MOST_LOADING = 4 * NEARBY_VERSIONS

/** What could not be read is remembered, so that it is told once and not tried at every request. */
const MOST_LAPSES = 1024

/** An answer of some version as it lies in the store. */
export type Dictionary = Pick<Artifact, 'key' | 'bytes' | 'sha256'>

/** The older and newer selves of answers. */
export type DictionaryVersions = {
  /** The answer at the same address in a version near `version` whose bytes have this digest, null where none has. */
  find(history: History, version: string, url: string, digest: string): Promise<Dictionary | null>
  /** Its bytes, held to their digest; null where they are lost, damaged or cannot be read. */
  read(history: History, dictionary: Dictionary): Promise<Uint8Array | null>
}

type Known = ReadonlyMap<string, Dictionary>

const NOTHING: Known = new Map()

/** `onFault` is told once, until something else is published, of what cannot be read; not of versions that were removed. */
export function createDictionaryVersions(
  store: ObjectStore,
  onFault: (message: string) => void,
): DictionaryVersions {
  const known = new LRUCache<string, Known>({ maxSize: MOST_KNOWN, sizeCalculation: ({ size }) => size + 1 })
  const loading = new Map<string, Promise<Known>>()
  const lapses = new LRUCache<string, true>({ max: MOST_LAPSES })
  const throughGate = createGate(MOST_LOADING, 'many manifests are being read already')

  const lapse = (key: string, why: string | null): void => {
    if (why !== null && !lapses.has(key)) onFault(`${why}; deltas to it are not sent`)
    lapses.set(key, true)
  }
  const load = async (lapseKey: string, publication: Publication): Promise<Known> => {
    const found = await readKnown(store, publication)
    if ('unfit' in found) {
      lapse(lapseKey, found.unfit)
      return NOTHING
    }
    known.set(publication.manifest_sha256, found.known)
    return found.known
  }
  const open = (history: History, publication: Publication): Promise<Known> | Known => {
    const name = publication.manifest_sha256
    const ready = known.get(name)
    if (ready !== undefined) return ready
    const lapseKey = `${history.head} ${name}`
    if (lapses.has(lapseKey)) return NOTHING
    const running = loading.get(name)
    if (running !== undefined) return running
    const loaded = throughGate(() => load(lapseKey, publication)).finally(() => loading.delete(name))
    loading.set(name, loaded)
    return loaded
  }
  return {
    async find(history, version, url, digest) {
      for (const publication of neighbours(history, version)) {
        const dictionary = (await open(history, publication)).get(url)
        if (dictionary?.sha256 === digest) return dictionary
      }
      return null
    },
    async read(history, { key, sha256: digest }) {
      const lapseKey = `${history.head} ${key}`
      if (lapses.has(lapseKey)) return null
      const found = await readWhole(store, key, digest)
      if ('bytes' in found) return found.bytes
      lapse(lapseKey, found.unfit)
      return null
    },
  }
}

/** The nearest first, those before it before those after it: nearly every client has yesterday's. */
function neighbours({ publications }: History, version: string): readonly Publication[] {
  const at = publications.findIndex(publication => publication.version === version) // newest first
  const newer = publications.slice(Math.max(0, at - NEARBY_VERSIONS), Math.max(0, at)).toReversed()
  return [...publications.slice(at + 1, at + 1 + NEARBY_VERSIONS), ...newer]
}

/** Why something is of no use; null where that is in order and nobody needs to know. */
type Unfit = { readonly unfit: string | null }

async function readKnown(store: ObjectStore, current: CurrentVersion): Promise<{ known: Known } | Unfit> {
  try {
    const found = await findManifest(store, current)
    if (found.fault === 'missing') return { unfit: null } // the version was removed
    if (found.fault !== null) return { unfit: `the manifest of ${current.version} ${found.what}` }
    const dictionaries = found.manifest.artifacts.filter(isDictionary)
    return {
      known: new Map(dictionaries.map(({ url, key, bytes, sha256 }) => [url, { key, bytes, sha256 }])),
    }
  } catch (error) {
    return toUnfit(error)
  }
}

async function readWhole(
  store: ObjectStore,
  key: string,
  digest: string,
): Promise<{ bytes: Uint8Array } | Unfit> {
  try {
    const bytes = await store.read(key)
    if (bytes === null) return { unfit: `${store.url}/${key} is missing` }
    return sha256(bytes) === digest ? { bytes } : { unfit: `${store.url}/${key} is damaged` }
  } catch (error) {
    return toUnfit(error)
  }
}

function toUnfit(error: unknown): Unfit {
  if (error instanceof StoreError) return { unfit: error.message }
  throw error
}
