import { ApiError } from '#core/contract/errors.ts'
import type { CurrentVersion } from '#core/contract/manifest.ts'
import { parseCompactInstant } from '#core/contract/pins.ts'
import type { ListedPublication, LoggedEntry, Publication } from '#storage/pointer-log.ts'

/** What was published and served when, from the pointer log. */
export type History = {
  /** Oldest first. */
  readonly log: readonly LoggedEntry[]
  /** Newest first. */
  readonly publications: readonly ListedPublication[]
}

/** Versions older than the newest, the one served last first, without removed ones; by the log and not by name, because of rollbacks. */
export function servedBefore(history: History | null, version: string): readonly CurrentVersion[] {
  if (history === null) return []
  const removed = new Set(history.publications.filter(each => each.is_removed).map(each => each.version))
  const byVersion = Map.groupBy(history.log.toReversed(), ({ entry }) => entry.version)
  return [...byVersion.values()]
    .map(([newest]) => newest!.entry) // no group is empty
    .filter(entry => entry.version < version && !removed.has(entry.version))
}

/** Versions that a refusal names. */
export const MOST_NAMED = 10

/** The version that a path names in its compact form. Throws `not_found` if the text is not of this form. */
export function versionInPath(history: History | null, name: string): string {
  const version = parseCompactInstant(name)
  if (version !== null) return version
  throw unknownVersion(assertKnown(history), name)
}

/** The publication of a version. Throws `not_found` with the newest versions, `not_ready` if none are known yet. */
export function findPublication(history: History | null, version: string): Publication {
  const known = assertKnown(history)
  const found = known.publications.find(publication => publication.version === version)
  if (found !== undefined) return found
  throw unknownVersion(known, version)
}

function unknownVersion({ publications }: History, name: string): ApiError {
  const newest = publications.slice(0, MOST_NAMED).map(publication => publication.version)
  const rest = newest.length === 0 ? 'nothing is published' : `the newest are ${newest.join(', ')}`
  const details = { available: newest }
  return new ApiError('not_found', `unknown version '${name.slice(0, 64)}'; ${rest}`, { details })
}

/** Throws `not_ready` as long as the pointer log was never read. */
export function assertKnown(history: History | null): History {
  if (history !== null) return history
  throw new ApiError('not_ready', 'which versions there are is not known yet; ask again in a moment')
}
