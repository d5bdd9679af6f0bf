import { IMMUTABLE, POLLED } from '#core/contract/artifacts.ts'
import { SEAL_HEAD_CACHING } from '#core/contract/seals.ts'
import type { AnswerHeaders } from './content-coding.ts'

export const COMMON_HEADERS = { vary: 'Accept-Encoding, Origin', 'x-content-type-options': 'nosniff' }

export const OPENAPI_TYPE = 'application/openapi+json; charset=utf-8'

export const CACHING = {
  /** Unpinned answers: a new version reaches clients within a minute, and an outage of the service is bridged. */
  dataset: 'max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  /** The preview of the program: from one night to the next it is the same. */
  preview: 'public, max-age=60',
  pinned: IMMUTABLE,
  pointer: POLLED,
  /** The newest seal: another follows within ten minutes. */
  head: SEAL_HEAD_CACHING,
  /** 404, 410 and 422: short, because what is unknown now may be known tomorrow. */
  refusal: 'max-age=10',
  never: 'no-store',
} as const

/** Of pages that people develop against the service. */
export const DEVELOPMENT_ORIGINS: readonly string[] = [5173, 3000, 8100].flatMap(port => [
  `http://localhost:${port}`,
  `http://127.0.0.1:${port}`,
])

const EXPOSED =
  'ETag, Link, Content-Location, Content-Disposition, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, ' +
  'Unencoded-Digest, X-Dataset-Version, X-Disclaimer, X-Risk-Pct-Effective, X-Risk-Pct-Clamped, X-Request-Id'

/** The headers for a request's `Origin`: the origin itself if it is allowed, else nothing. Never `*`. */
export function corsHeaders(allowed: ReadonlySet<string>, origin: string | undefined): AnswerHeaders {
  if (origin === undefined || !allowed.has(origin)) return {}
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
}

/** The same for a preflight, with what the origin may send. */
export function preflightHeaders(
  allowed: ReadonlySet<string>,
  request: Headers,
  methods = 'GET',
): AnswerHeaders {
  const cors = corsHeaders(allowed, request.get('origin') ?? undefined)
  if (Object.keys(cors).length === 0) return {}
  const requested = request.get('access-control-request-headers')
  return {
    ...cors,
    'access-control-allow-methods': methods,
    'access-control-max-age': '86400',
    ...(requested === null ? {} : { 'access-control-allow-headers': requested }),
  }
}

export type InterfaceSettings = {
  /** Address of the service as its users see it, without a slash at the end. */
  readonly publicBaseUrl: string
  /** When this version of the interface was deprecated, epoch ms; null as long as it is not. */
  readonly deprecatedAtMs: number | null
  /** When it will stop answering, epoch ms; null if no date is set. */
  readonly sunsetAtMs: number | null
}

/** `Deprecation` (RFC 9745, a structured date) and `Sunset` (RFC 8594, an HTTP date), if the operator set them. */
export function deprecationHeaders({
  deprecatedAtMs,
  sunsetAtMs,
}: Pick<InterfaceSettings, 'deprecatedAtMs' | 'sunsetAtMs'>): AnswerHeaders {
  return {
    ...(deprecatedAtMs === null ? {} : { deprecation: `@${Math.floor(deprecatedAtMs / 1000)}` }),
    ...(sunsetAtMs === null ? {} : { sunset: new Date(sunsetAtMs).toUTCString() }),
  }
}

/** Whether an `If-None-Match` header names `etag`: weak comparison over a list, or `*` (RFC 9110, section 13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque: readonly string[] = header.match(/"[^"]*"/g) ?? []
  return opaque.includes(etag.replace(/^W\//, ''))
}
