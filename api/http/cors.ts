/** Ports on which people develop pages against the service. */
const DEVELOPMENT_PORTS = [5173, 3000, 8100]

export const DEVELOPMENT_ORIGINS: readonly string[] = DEVELOPMENT_PORTS.flatMap(port => [
  `http://localhost:${port}`,
  `http://127.0.0.1:${port}`,
])

/** Headers that a page's script may read. */
const EXPOSED =
  'ETag, Link, Content-Location, Content-Disposition, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, ' +
  'Unencoded-Digest, X-Dataset-Version, X-Disclaimer, X-Risk-Pct-Effective, X-Risk-Pct-Clamped'

/** How long a browser may remember a preflight. */
const PREFLIGHT_SECONDS = 86_400

/** The headers for a request's `Origin`: the origin itself where it is on the list, else nothing. Never `*`. */
export function corsHeaders(
  allowed: ReadonlySet<string>,
  origin: string | undefined,
): Record<string, string> {
  if (origin === undefined || !allowed.has(origin)) return {}
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
}

/** What a preflight of an allowed origin is told. */
export const preflightHeaders = (
  requestedHeaders: string | undefined,
  methods = 'GET',
): Record<string, string> => ({
  'access-control-allow-methods': methods,
  'access-control-max-age': String(PREFLIGHT_SECONDS),
  ...(requestedHeaders === undefined ? {} : { 'access-control-allow-headers': requestedHeaders }),
})
