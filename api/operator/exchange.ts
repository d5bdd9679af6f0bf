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
import { type Answer, readSent } from '../service/page/page-route.ts'
import type { OperatorParts } from './parts.ts'

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
export const readJson = (c: service.Exchange, isOptional = false): Promise<unknown> =>
  readSent(c, MOST_OPERATOR_BYTES, isOptional)
