import { enteredOf } from '#core/dataset/entered.ts'
import type { LoggedEntry } from './pointer-log.ts'

export type Publication = Readonly<ReturnType<typeof publicationsOf>[number]>

/** The versions that a log names, newest first. */
export function publicationsOf(log: readonly LoggedEntry[]) {
  const served = log.at(-1)?.entry.version
  const firstAt = firstTimes(log)
  return firstPublications(log)
    .map(({ entry }) => ({
      version: entry.version,
      /** When it was first pointed to, and never before an earlier entry: a clock that was set back dates nothing back. */
      published: firstAt.get(entry.version)!, // of the same log
      /** The same if its name is more than 36 hours older; null where the name is the truth. */
      entered: enteredOf({ version: entry.version, entered: null }, firstAt.get(entry.version)!),
      manifest_sha256: entry.manifest_sha256,
      /** Whether the newest entry names it. */
      is_served: entry.version === served,
      history_restated: entry.history_restated,
    }))
    .sort((a, b) => (a.version < b.version ? 1 : -1))
}

/** When a log first named each version. An entry that is dated before an earlier one counts as of the time of that one. */
export function firstTimes(log: readonly LoggedEntry[]): ReadonlyMap<string, string> {
  const times = new Map<string, string>()
  let latest = ''
  for (const { entry } of log) {
    if (entry.at > latest) latest = entry.at
    if (!times.has(entry.version)) times.set(entry.version, latest)
  }
  return times
}

/** The entry that first published each version, oldest first. */
export const firstPublications = (log: readonly LoggedEntry[]): readonly LoggedEntry[] => {
  const versions = new Set<string>()
  return log.filter(({ entry }) => versions.size < versions.add(entry.version).size)
}

/** The version that was served at an instant (ISO), or null before the first. */
export function servedAt(log: readonly LoggedEntry[], instant: string): string | null {
  const later = log.findIndex(({ entry }) => entry.at > instant)
  return log.slice(0, later === -1 ? undefined : later).at(-1)?.entry.version ?? null
}
