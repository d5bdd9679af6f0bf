import type { ObjectStore } from '#storage/object-store.ts'
import { appendEntry, type LoggedEntry, readHead } from '#storage/pointer-log.ts'

/** Appends an entry that names a version, whether or not there is such a version: at the time of its name, or of the newest entry. */
export async function pointAt(
  store: ObjectStore,
  version: string,
  manifest_sha256: string,
  at?: string,
): Promise<LoggedEntry> {
  const head = await readHead(store)
  const latest = [version, head?.entry.at ?? ''].sort().at(-1)!
  const times = { at: at ?? latest, expires: '2100-01-01T00:00:00Z' }
  const next = { action: 'publish' as const, version, manifest_sha256, ...times, history_restated: false }
  return appendEntry(store, head, next, null)
}
