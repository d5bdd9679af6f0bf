import type { ObjectStore } from '#storage/object-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { publicationsOf } from '#storage/publications.ts'
import { markRemoved } from '#storage/removed-versions.ts'
import { type History, toHistory } from './history.ts'

/** Reads the pointer log, and looks which of its versions were removed: an object for each entry and version. */
export async function readHistory(store: ObjectStore): Promise<History> {
  const log = await readLog(store)
  return toHistory(log, await markRemoved(store, publicationsOf(log)))
}
