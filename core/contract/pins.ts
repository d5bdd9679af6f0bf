// Pins: how a request names a version, and the address of the immutable twin of an answer.
import { parseIsoInstant, toCompactInstant } from '#core/calendar.ts'
import type { Route } from './route.ts'

/** Names a version in the query of any data route: `?dataset_version=2026-11-21T00:15:00Z`. */
export const PIN_PARAMETER = 'dataset_version'

/** Asks the list of versions for the one that was in force on a day: `?as_of=2026-11-21`. */
export const AS_OF_PARAMETER = 'as_of'

/** Every pinned address begins with it; the compact form of the version follows. */
export const PINNED_PREFIX = '/v1/snapshots/'

const UNPINNED_PREFIX = '/v1'

/** `/v1/snapshots/20261121T001500Z/export?period=weekly`: the immutable twin of an address. */
export const pinnedPath = (version: string, path: string): string =>
  PINNED_PREFIX + toCompactInstant(version) + path.slice(UNPINNED_PREFIX.length)

/** `/v1/snapshots/{version}/strategies/{sid}`: the path template of the twins of a route. */
export const pinnedTemplate = ({ path }: Pick<Route, 'path'>): string =>
  `${PINNED_PREFIX}{version}${path.slice(UNPINNED_PREFIX.length)}`

/** The path and query whose twin a pinned address is, unchanged; null if it does not begin as one. */
export function unpinnedPath(address: string): string | null {
  if (!address.startsWith(PINNED_PREFIX)) return null
  return UNPINNED_PREFIX + address.slice(address.indexOf('/', PINNED_PREFIX.length))
}

/** `2026-11-21T00:15:00Z` of `20261121T001500Z`, or null where the text is no such instant. */
export function parseCompactInstant(text: string): string | null {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  return iso !== text && parseIsoInstant(iso) !== null ? iso : null
}

/** `v-20261121T001500Z`: the tag of every unpinned answer of a version, by which a CDN purges them. */
export const cacheTag = (version: string): string => `v-${toCompactInstant(version)}`
