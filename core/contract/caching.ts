// What caches may do: the one place for the store's metadata and for the headers of the service.

/** What never changes: a year, the longest that caches honour. */
export const IMMUTABLE = 'max-age=31536000, immutable'

export const POLLED = 'max-age=10, stale-if-error=3600'
