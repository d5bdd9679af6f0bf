// What caches may do: the one place for the store's metadata and for the headers of the service.
import { toCompactInstant } from '#core/calendar.ts'

/** What never changes: a year, the longest that caches honour. */
export const IMMUTABLE = 'max-age=31536000, immutable'

/** What is polled. */
export const POLLED = 'max-age=10, stale-if-error=3600'

/** `v-20261121T001500Z`: the tag of every unpinned answer of a version, by which a CDN purges them. */
export const cacheTag = (version: string): string => `v-${toCompactInstant(version)}`
