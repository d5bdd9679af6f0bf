// What every service does with a request and its answer.
import type { HttpBindings } from '@hono/node-server'
import type { Context, Env, MiddlewareHandler } from 'hono'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError, INTERNAL_ERROR_MESSAGE, STATUS_OF } from '#core/contract/errors.ts'
import type { KeyedMeta } from '#core/contract/keyed-meta.ts'
import type { Register } from '#core/contract/register.ts'
import type { CodedBytes } from './content-coding.ts'
import { CACHING, matchesEtag } from './headers.ts'

export type Clock = {
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds since some fixed point, for measuring; never set back. */
  readonly elapsed: () => number
}

/** What every service sets on a request; `Bindings` are of the server, none in a call without a socket. */
export type ServiceEnv = { Bindings: Partial<HttpBindings>; Variables: { startedMs: number } }

/** What is read of a request to time it. */
type Timed = { get(name: 'startedMs'): number }

/** Milliseconds since a request came, to the microsecond. */
export const tookMs = (c: Timed, clock: Clock): number =>
  Math.round((clock.elapsed() - c.get('startedMs')) * 1000) / 1000

/** The moment of an answer, and how long it took until now. */
export const keyedMeta = (c: Timed, clock: Clock): KeyedMeta => ({
  generated_utc: toIsoInstant(clock.now()),
  timing_ms: tookMs(c, clock),
})

type Headers = Readonly<Record<string, string>>

export const JSON_MEDIA = { 'content-type': 'application/json; charset=utf-8' } as const

/** An answer whose bytes are made, with their length; JSON unless `headers` say otherwise. */
export const sendBytes = (bytes: Uint8Array<ArrayBuffer>, headers: Headers, status = 200): Response =>
  new Response(bytes, {
    status,
    headers: { ...JSON_MEDIA, ...headers, 'content-length': String(bytes.length) },
  })

/** The same for bytes in the coding that the client prefers; 304 to a client that has them. */
export async function sendCoded<E extends Env>(
  c: Context<E>,
  coded: CodedBytes,
  headers: Headers,
): Promise<Response> {
  const { bytes, etag, headers: own } = await coded(c.req.header('accept-encoding'))
  if (matchesEtag(c.req.header('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { ...headers, etag } })
  }
  return new Response(bytes, { headers: { ...headers, ...own } })
}

/** How long a client should wait before it retries, if an error is temporary. */
const RETRY_AFTER_SECONDS = 5

/** Refusals that caches may keep for a moment. */
const REMEMBERED: ReadonlySet<number> = new Set([404, 410, 422])

/** The caller's error as it is, any other as the one fixed sentence: nothing of its cause leaves the process. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError('internal_error', INTERNAL_ERROR_MESSAGE)

/** `{error, meta}` with its status. `headers` are those of the service; `isFinal` if they win over those of the error. */
export function sendRefusal(
  error: ApiError,
  meta: Register | KeyedMeta,
  headers: Headers,
  isFinal = false,
): Response {
  const status = STATUS_OF[error.code]
  const { code, message, details } = error
  const body = new TextEncoder().encode(JSON.stringify({ error: { code, message, details }, meta }))
  const own = {
    'cache-control': REMEMBERED.has(status) ? CACHING.refusal : CACHING.never,
    ...(status === 503 || status === 429 ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {}),
    ...error.headers,
  }
  return sendBytes(body, isFinal ? { ...own, ...headers } : { ...headers, ...own }, status)
}

/** The host of a request that has no address; a reserved name. */
export const BAD_HOST = 'bad-host.invalid'

/** Refuses such a request as `bad_request`; a middleware, so that the refusal is logged like any other. */
export const refuseBadHost: MiddlewareHandler = (c, next) => {
  if (!c.req.url.startsWith(`http://${BAD_HOST}/`)) return next()
  throw new ApiError(
    'bad_request',
    'expected one Host header with a host name or an address, and a path that begins with a slash and has no backslash',
  )
}

/** A longer address is refused: the longest legal one, a subset of a hundred ids, stays far below. */
export const LONGEST_URL = 8192

/** Throws `uri_too_long` on an address that is longer than any valid request. */
export function assertUrlLength(url: string): void {
  if (url.length <= LONGEST_URL) return
  throw new ApiError('uri_too_long', `the address is longer than ${LONGEST_URL} characters`)
}
