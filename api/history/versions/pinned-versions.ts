import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { ApiError } from '#core/contract/errors.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import type { Publication } from '#storage/publications.ts'
import { findPublication } from './history.ts'
import {
  GoneVersionError,
  loadManifest,
  loadPinned,
  type ServedVersion,
  UnfitVersionError,
} from './served-version.ts'
import type { VersionSource } from './version-source.ts'

/** Snapshots in memory beside the served one: two, so that a comparison of versions does not load at every request. */
export const MOST_RESIDENT = 2

/** Versions that are loaded or wait for it, one after the other: who walks through all of them gets 503 at some point. */
export const MOST_LOADING = 8

/** The versions that were published, each loaded when it is asked for. */
export type PinnedVersions = {
  /**
   * A version, verified as the served one is. Rejects with `not_found` where none of this name was published, `gone`
   * where it was removed, `unavailable` where it cannot be read or is damaged, `overloaded` where too many are loading.
   */
  open(version: string): Promise<ServedVersion>
  /** How many are in memory. */
  readonly residents: () => number
}

/** `onFault` is told why a version that was published cannot be served. */
export function createPinnedVersions(
  source: VersionSource,
  store: ObjectStore,
  privateStore: ObjectStore,
  onFault: (error: unknown) => void,
): PinnedVersions {
  const resident = new LRUCache<string, ServedVersion>({ max: MOST_RESIDENT })
  const loading = new Map<string, Promise<ServedVersion>>()
  const throughGate = createGate(
    MOST_LOADING,
    'many versions are being loaded already; ask again in a moment',
  )

  const load = async (publication: Publication): Promise<ServedVersion> => {
    const published = await loadManifest(store, publication)
    while (resident.size >= MOST_RESIDENT) resident.pop() // before the new one takes memory, and not after
    const version = await loadPinned(privateStore, published)
    resident.set(publication.version, version)
    return version
  }
  const refuse = (publication: Publication) => (error: unknown) => {
    if (error instanceof GoneVersionError) throw goneError(publication.version)
    if (!(error instanceof UnfitVersionError || error instanceof StoreError)) throw error
    onFault(error)
    throw new ApiError('unavailable', `the version ${publication.version} cannot be read at the moment`)
  }
  return {
    residents: () => resident.size,
    async open(version) {
      const served = source.current()
      if (served?.version === version) return served
      const known = resident.get(version)
      if (known !== undefined) return known
      const publication = findPublication(source.history(), version)
      const running = loading.get(version)
      if (running !== undefined) return running // whoever asks for the same version waits for the same load
      const loaded = throughGate(() => load(publication))
        .catch(refuse(publication))
        .finally(() => loading.delete(version))
      loading.set(version, loaded)
      return loaded
    },
  }
}

/** The refusal of a version that was published and then removed. */
export const goneError = (version: string): ApiError =>
  new ApiError('gone', `the version ${version} was published and has been removed since`)

/** Does one work after the other. Rejects with `overloaded` whoever comes when `most` wait or are under way. */
export function createGate(most: number, refusal: string): <T>(work: () => Promise<T>) => Promise<T> {
  let inside = 0
  let before: Promise<unknown> = Promise.resolve()
  return async work => {
    if (inside === most) throw new ApiError('overloaded', refusal)
    inside++
    const mine = before.then(() => setImmediate()).then(work) // a turn of the event loop for everyone else first
    before = Promise.allSettled([mine])
    try {
      return await mine
    } finally {
      inside--
    }
  }
}
