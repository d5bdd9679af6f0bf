import { ApiError } from '#core/contract/errors.ts'
import { LogGoneError } from '#signals/log/guard.ts'
import { DamagedLogError } from '#signals/log/read-log.ts'
import type { Operator } from '#signals/operators/tokens.ts'
import { SealError } from '#signals/outbox/secret-box.ts'
import { RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { messageOf } from '#storage/error-code.ts'
import { StoreError } from '#storage/object-store.ts'
import * as service from '../service/exchange.ts'
import { CACHING } from '../service/headers.ts'
import * as body from '../service/read-body.ts'
import type { OperatorParts } from './parts.ts'

declare module 'hono' {
  /** Set by the forms of the page, in the place of what a request of the JSON interface carries. */
  interface ContextVariableMap {
    body?: Promise<unknown>
    query?: unknown
    /** Set if the page asks for itself again, to follow what happens. */
    isUpdate?: boolean
  }
}

/** A handler's answer: `data` of the envelope, and the status if it is not the first one of the route. */
export type Answer<Data = unknown> = {
  readonly status?: 200 | 201
  readonly data: Data
  readonly meta?: { next?: number | null }
}

export type Handler<Data = unknown> = (
  c: service.Exchange,
  parts: OperatorParts,
  who: Operator,
) => Promise<Answer<Data>>

export const operatorService = ({ clock, onError }: OperatorParts): service.Service => ({
  clock,
  headers: c => ({
    'x-content-type-options': 'nosniff',
    'cache-control': CACHING.never,
    'x-request-id': c.get('requestId') ?? '',
  }),
  meta: service.keyedMeta,
  toRefusal: error => toRefusal(error, onError),
})

/** Errors whose messages have the fix and no secret. */
const TELLING = [SealError, DamagedLogError, LogGoneError, StoreError]

export function toRefusal(error: unknown, onError: (error: unknown) => void): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof WritesRefusedError)
    return new ApiError('unavailable', `${error.message}, then ask again`)
  if (error instanceof RedisDownError)
    return new ApiError(
      'unavailable',
      'Redis does not answer: the outcome is unknown; send the request again',
    )
  if (TELLING.some(kind => error instanceof kind)) return new ApiError('unavailable', messageOf(error))
  onError(error)
  return service.toApiError(error)
}

/** Three times the largest valid body, a client with a thousand aliases. */
export const MOST_OPERATOR_BYTES = 256 << 10

/** The JSON of a request; an empty body is an empty object if `isOptional`. Throws 415, 413 or 400. */
export function readJson(c: service.Exchange, isOptional = false): Promise<unknown> {
  const reading = c.get('body') ?? body.readJson(c.req.raw, MOST_OPERATOR_BYTES, isOptional)
  c.set('body', reading) // the audit log reads it first
  return reading
}
