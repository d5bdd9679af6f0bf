// What every service does with a request and its answer.
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { toIsoInstant } from '#core/calendar.ts'
import { MEDIA_TYPES } from '#core/contract/artifacts.ts'
import { ApiError, INTERNAL_ERROR_MESSAGE, STATUS_OF } from '#core/contract/errors.ts'
import type { KeyedMeta, KeyedMetaExtra } from '#core/contract/payloads/meta.ts'
import type { Links, Register } from '#core/contract/register.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import type { AnswerHeaders, Bytes, CodedBytes } from './content-coding.ts'
import { CACHING, matchesEtag } from './headers.ts'

export const API_VERSION = '1.0'

export type Clock = {
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds since some fixed point, for measuring; never set back. */
  readonly elapsed: () => number
}

export type Service = {
  readonly clock: Clock
  readonly headers: (c: Exchange) => AnswerHeaders
  /** The block `meta` of the envelope, as far as it is the same for all routes. */
  readonly meta: (c: Exchange) => KeyedMeta | Register
  /** What an error is to the caller; reports it if the caller did not cause it. */
  readonly toRefusal: (error: unknown, c: Exchange) => ApiError
}

/** What every service sets on a request; each adds its own to the ContextVariableMap of Hono. */
export type ServiceEnv = {
  /** Of the server; none in a call without a socket. */
  Bindings: Partial<HttpBindings>
  Variables: {
    service: Service
    startedMs: number
    /** The id of the request, where the service names requests. */
    requestId?: string
    bytes?: number
  }
}

export type Exchange = Context<ServiceEnv>

export const queryOf = (c: Exchange): URLSearchParams => new URL(c.req.url).searchParams

/** Milliseconds since a request came, to the microsecond. */
export const tookMs = (c: Exchange): number =>
  Math.round((c.get('service').clock.elapsed() - c.get('startedMs')) * 1000) / 1000

/** The moment of an answer, and how long it took until now. */
export const keyedMeta = (c: Exchange): KeyedMeta => ({
  generated_utc: toIsoInstant(c.get('service').clock.now()),
  timing_ms: tookMs(c),
})

export const JSON_MEDIA = { 'content-type': 'application/json; charset=utf-8' } as const

export const csvMedia = (name: string): AnswerHeaders => ({
  'content-type': MEDIA_TYPES.csv,
  'content-disposition': `attachment; filename="${name}.csv"`,
})

/** An answer whose bytes are made; JSON unless `headers` say otherwise. */
export function sendBytes(c: Exchange, bytes: Bytes, headers: AnswerHeaders = {}, status = 200): Response {
  c.set('bytes', bytes.length)
  const length = { 'content-length': String(bytes.length) }
  return new Response(bytes, {
    status,
    headers: { ...JSON_MEDIA, ...c.get('service').headers(c), ...headers, ...length },
  })
}

/** An answer in the envelope; `more` of `meta` is what the route adds. */
export const sendEnveloped = (
  c: Exchange,
  data: Json,
  links: Links,
  more: KeyedMetaExtra = {},
  headers: AnswerHeaders = {},
  status = 200,
): Response => {
  const meta = { ...c.get('service').meta(c), ...more }
  return sendBytes(c, renderJson({ data, meta, links }), headers, status)
}

/** 304 if the client has the answer of this validator; null if it has not. */
export const notModified = (c: Exchange, etag: string, headers: AnswerHeaders): Response | null =>
  matchesEtag(c.req.header('if-none-match'), etag)
    ? new Response(null, { status: 304, headers: { ...headers, etag } })
    : null

/** Bytes in the coding that the client prefers; 304 to a client that has them. */
export async function sendCoded(c: Exchange, coded: CodedBytes, more: AnswerHeaders): Promise<Response> {
  const headers = { ...c.get('service').headers(c), ...more }
  const { bytes, etag, headers: own } = await coded(c.req.header('accept-encoding'))
  c.set('bytes', bytes.length)
  return notModified(c, etag, headers) ?? new Response(bytes, { headers: { ...headers, ...own } })
}

/** How long a client should wait before it retries, if an error is temporary. */
const RETRY_AFTER_SECONDS = 5

/** Refusals that caches may keep for a moment. */
const REMEMBERED: ReadonlySet<number> = new Set([404, 410, 422])

/** The caller's error as it is, any other as the one fixed sentence: nothing of its cause leaves the process. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError('internal_error', INTERNAL_ERROR_MESSAGE)

/** The answer to any error, with the id of the request: a user quotes it, and the operator finds it in the log. */
export function sendError(c: Exchange, error: unknown): Response {
  const { toRefusal, meta, headers } = c.get('service')
  const requestId = c.get('requestId')
  const own = requestId === undefined ? {} : { 'x-request-id': requestId }
  const refusal = sendRefusal(toRefusal(error, c), meta(c), { ...headers(c), ...own })
  c.set('bytes', Number(refusal.headers.get('content-length')))
  return refusal
}

/** `{error, meta}` with its status. `headers` are those of the service. */
export function sendRefusal(error: ApiError, meta: Register | KeyedMeta, headers: AnswerHeaders): Response {
  const status = STATUS_OF[error.code]
  const { code, message, details } = error
  const body = new TextEncoder().encode(JSON.stringify({ error: { code, message, details }, meta }))
  return new Response(body, {
    status,
    headers: {
      ...JSON_MEDIA,
      'cache-control': REMEMBERED.has(status) ? CACHING.refusal : CACHING.never,
      ...(status === 503 || status === 429 ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {}),
      ...error.headers,
      ...headers,
      'content-length': String(body.length),
    },
  })
}
