import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { manifestKey } from '#core/contract/artifacts.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { SNAPSHOT_FORMAT } from '#core/dataset/snapshot.ts'
import { isAbsent, type ObjectStore, StoreError } from '#storage/object-store.ts'
import type { Publication } from '#storage/pointer-log.ts'
import { findPublication } from './history.ts'
import {
  AGELESS_CHECKS,
  loadManifest,
  loadVersion,
  type ServedVersion,
  UnfitVersionError,
} from './served-version.ts'
import { POLL_MS, type VersionSource } from './version-source.ts'

/** Snapshots in memory beside the served one: two, so that a comparison of versions does not load at every request. */
export const MOST_RESIDENT = 2

/** Versions that are loaded or wait for it, one after the other; a client that requests more gets 503. */
export const MOST_LOADING = 8

/** Published versions, each loaded when it is requested. `onFault` gets why one cannot be served; `elapsed` is a monotonic clock. */
export function createPinnedVersions(
  source: VersionSource,
  store: ObjectStore,
  privateStore: ObjectStore,
  onFault: (error: unknown) => void,
  elapsed: () => number,
) {
  const resident = new LRUCache<string, { readonly loaded: ServedVersion; checkedMs: number }>({
    max: MOST_RESIDENT,
  })
  const loading = new Map<string, Promise<ServedVersion>>()
  const inTurn = pLimit(1)

  const load = async (publication: Publication): Promise<ServedVersion> => {
    // It was never completed, or it was removed.
    if (await isAbsent(store, manifestKey(publication.version))) throw goneError(publication.version)
    const published = await loadManifest(store, publication)
    assertFormat(published)
    while (resident.size >= MOST_RESIDENT) resident.pop() // before the new one takes memory, and not after
    const version = await loadVersion(privateStore, published, AGELESS_CHECKS)
    resident.set(publication.version, { loaded: version, checkedMs: elapsed() })
    return version
  }
  /** A version in memory, unless it was removed from the store since. */
  const openResident = async (version: string): Promise<ServedVersion | null> => {
    const known = resident.get(version)
    if (known === undefined || elapsed() - known.checkedMs < POLL_MS) return known?.loaded ?? null
    known.checkedMs = elapsed()
    if (!(await isAbsent(store, manifestKey(version)))) return known.loaded
    resident.delete(version)
    return null
  }
  const refuse = (publication: Publication) => (error: unknown) => {
    if (!(error instanceof UnfitVersionError || error instanceof StoreError)) throw error
    onFault(error)
    throw new ApiError('unavailable', `the version ${publication.version} cannot be read at the moment`)
  }
  return {
    residents: () => resident.size,
    /**
     * A version, verified as the served one is. Rejects with `not_found` if none of this name was published, `gone`
     * if it was removed, `unavailable` if it cannot be read, is damaged or of another format, `overloaded` if too many are loading.
     */
    async open(version: string): Promise<ServedVersion> {
      const served = source.current()
      if (served?.version === version) return served
      const known = await openResident(version)
      if (known !== null) return known
      const publication = findPublication(source.history(), version)
      const running = loading.get(version)
      if (running !== undefined) return running // requests for the same version wait for the same load
      if (loading.size === MOST_LOADING)
        throw new ApiError('overloaded', 'many versions are being loaded already; ask again in a moment')
      const loaded = inTurn(() => setImmediate().then(() => load(publication))) // other requests first
        .catch(refuse(publication))
        .finally(() => loading.delete(version))
      loading.set(version, loaded)
      return loaded
    },
  }
}

function assertFormat({ version, snapshot_format: format }: Manifest): void {
  if (format === SNAPSHOT_FORMAT) return
  const formats = `format ${format}, and this service computes answers from format ${SNAPSHOT_FORMAT} only`
  throw new ApiError('unavailable', `the version ${version} is stored in ${formats}`)
}

export const goneError = (version: string): ApiError =>
  new ApiError('gone', `the version ${version} was published and has been removed since`)
