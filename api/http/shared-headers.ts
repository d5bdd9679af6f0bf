import { IMMUTABLE, POLLED } from '#core/contract/caching.ts'
import { corsHeaders } from './cors.ts'

/** Headers of every answer, whatever becomes of the request. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  vary: 'Accept-Encoding, Origin',
  'x-content-type-options': 'nosniff',
}

/** What a read-only service answers; the value of `Allow` where something else was asked. */
export const METHODS = 'GET, HEAD, OPTIONS'

/** What caches may do with an answer. */
export const CACHING = {
  /** Unpinned answers: the next version is a minute away at the most, and an outage of ours is survived. */
  dataset: 'max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  /** The preview of the program: from one night to the next it is the same. */
  preview: 'public, max-age=60',
  pinned: IMMUTABLE,
  pointer: POLLED,
  /** 404, 410 and 422: short, because what is unknown now may be known tomorrow. */
  refusal: 'max-age=10',
  never: 'no-store',
} as const

/** The common headers and those of the request's origin. */
export const sharedHeaders = (
  allowedOrigins: ReadonlySet<string>,
  origin: string | undefined,
): Record<string, string> => ({ ...COMMON_HEADERS, ...corsHeaders(allowedOrigins, origin) })
