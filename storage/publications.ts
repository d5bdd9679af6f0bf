import type { LoggedEntry } from './pointer-log.ts'

/** A version that was published, and what became of it. */
export type Publication = {
  readonly version: string
  readonly manifest_sha256: string
  /** When it was first pointed to. */
  readonly published: string
  /** Whether the newest entry names it. */
  readonly is_served: boolean
  readonly history_restated: boolean
}

/** The versions that a log names, newest first. */
export function publicationsOf(log: readonly LoggedEntry[]): readonly Publication[] {
  const served = log.at(-1)?.entry.version
  return firstPublications(log)
    .map(({ entry }) => ({
      version: entry.version,
      manifest_sha256: entry.manifest_sha256,
      published: entry.at,
      is_served: entry.version === served,
      history_restated: entry.history_restated,
    }))
    .sort((a, b) => (a.version < b.version ? 1 : -1))
}

/** The entry that first published each version, oldest first. */
export const firstPublications = (log: readonly LoggedEntry[]): readonly LoggedEntry[] => {
  const versions = new Set<string>()
  return log.filter(({ entry }) => versions.size < versions.add(entry.version).size)
}

/** The version that was served at an instant (ISO), or null before the first. */
export const servedAt = (log: readonly LoggedEntry[], instant: string): string | null =>
  log.findLast(({ entry }) => entry.at <= instant)?.entry.version ?? null
