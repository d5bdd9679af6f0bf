import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { KeyedMeta } from '#core/contract/keyed-meta.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import { SealError } from '#signals/delivery/secret-box.ts'
import { LogGoneError } from '#signals/log/guard.ts'
import { DamagedLogError } from '#signals/log/read-log.ts'
import { RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { errorAnswer, toApiError } from '../http/errors.ts'
import { CACHING } from '../http/headers.ts'
import * as body from '../http/read-body.ts'
import type { OperatorParts } from './parts.ts'

export type OperatorEnv = {
  /** Of the server; none in a call without a socket. */
  Bindings: Partial<HttpBindings>
  Variables: { startedMs: number; requestId: string }
}

export type Exchange = Context<OperatorEnv>

/** What a handler answers: the status where it is not 200, and `data` of the envelope. */
export type Answer<Data = unknown> = {
  readonly status?: 200 | 201
  readonly data: Data
  readonly meta?: { next?: number | null }
}

export type Handler<Data = unknown> = (c: Exchange, parts: OperatorParts) => Promise<Answer<Data>>

/** An answer in the envelope. */
export function sendAnswer(
  c: Exchange,
  parts: OperatorParts,
  { status = 200, data, meta = {} }: Answer,
): Response {
  const body = renderJson({
    data: data as Json,
    meta: { ...metaOf(c, parts), ...meta },
    links: { self: c.req.path },
  }) // a schema of JSON describes it
  const headers = {
    ...answerHeaders(c),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
  }
  return new Response(body, { status, headers })
}

/** The answer to any error; what is not the caller's is told to the log and to nobody else. */
export function sendError(c: Exchange, parts: OperatorParts, error: unknown): Response {
  const { status, headers, body } = errorAnswer(toRefusal(error, parts.onError), metaOf(c, parts))
  return new Response(body, { status, headers: { ...headers, ...answerHeaders(c) } })
}

/** Headers of every answer. */
export const answerHeaders = (c: Exchange): Record<string, string> => ({
  'x-content-type-options': 'nosniff',
  'cache-control': CACHING.never,
  'x-request-id': c.get('requestId') ?? '',
})

const metaOf = (c: Exchange, { clock }: OperatorParts): KeyedMeta => ({
  generated_utc: toIsoInstant(clock.now()),
  timing_ms: Math.round((clock.elapsed() - c.get('startedMs')) * 1000) / 1000,
})

/** An error as the operator is told it. */
export function toRefusal(error: unknown, onError: (error: unknown) => void): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof WritesRefusedError)
    return new ApiError('unavailable', `${error.message}, then ask again`)
  if (error instanceof RedisDownError)
    return new ApiError(
      'unavailable',
      'Redis cannot be asked: whether it did what was asked is unknown; ask again',
    )
  // These say what to do, and nothing of a secret.
  if (error instanceof SealError || error instanceof DamagedLogError || error instanceof LogGoneError)
    return new ApiError('unavailable', error.message)
  onError(error)
  return toApiError(error)
}

/** The largest body of ours, a client with a thousand aliases, is a third of this. */
export const MOST_OPERATOR_BYTES = 256 << 10

/** The JSON of a request; an empty body is an empty object where `isOptional`. Throws 415, 413 or 400. */
export const readJson = (c: Exchange, isOptional = false): Promise<unknown> =>
  body.readJson(c.req.raw, MOST_OPERATOR_BYTES, isOptional)

/** The body as UTF-8 text. Throws 413 or 400. */
export const readText = (c: Exchange): Promise<string> => body.readText(c.req.raw, MOST_OPERATOR_BYTES)
