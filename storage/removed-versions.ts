import pMap from 'p-map'
import { manifestKey } from '#core/contract/artifacts.ts'
import { type ObjectStore, StoreError } from './object-store.ts'
import type { Publication } from './publications.ts'

export type ListedPublication = Publication & {
  /** Whether its manifest, which `highwater prune` removes first, is missing; false for the served one. */
  readonly is_removed: boolean
}

/** Manifests that are looked for at the same time: those of three years take half a second in a far store. */
const LOOKS_AT_ONCE = 32

/** Looks for the manifest of each version. If the store does not answer, none counts as removed. */
export const markRemoved = (
  store: ObjectStore,
  publications: readonly Publication[],
): Promise<readonly ListedPublication[]> =>
  pMap(
    publications,
    async publication => ({
      ...publication,
      is_removed: !publication.is_served && (await isMissing(store, manifestKey(publication.version))),
    }),
    { concurrency: LOOKS_AT_ONCE },
  )

/** Whether an object is missing. If the store does not answer, it does not count as missing. */
export async function isMissing(store: ObjectStore, key: string): Promise<boolean> {
  try {
    return !(await store.has(key))
  } catch (error) {
    if (error instanceof StoreError) return false
    throw error
  }
}
