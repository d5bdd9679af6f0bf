import { ApiError } from '#core/contract/errors.ts'
import type { SentAlert } from '#signals/alerts.ts'
import type { RandomBytes } from '#signals/clients/token.ts'
import { LogGoneError } from '#signals/log/guard.ts'
import { DamagedLogError } from '#signals/log/read-log.ts'
import type { Operator } from '#signals/operators/tokens.ts'
import type { RegisterParts } from '#signals/outbox/register-webhook.ts'
import { SealError } from '#signals/outbox/secret-box.ts'
import { RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import type { OverviewParts } from '#signals/views/overview.ts'
import type { Published } from '#signals/views/published.ts'
import { messageOf } from '#storage/error-code.ts'
import type { FleetProgress } from '#storage/fleet-progress.ts'
import { StoreError } from '#storage/object-store.ts'
import type { Answered as ServiceAnswered } from '../service/app.ts'
import * as service from '../service/exchange.ts'
import { CACHING } from '../service/headers.ts'
import { type Answer, readSent } from '../service/page/page-route.ts'

export type Answered = ServiceAnswered & { readonly requestId: string }

export type OperatorParts = OverviewParts & {
  readonly clock: service.Clock
  /** OPERATOR_TOKEN, whose name is `operator`. It also signs the cookies of the page. */
  readonly token: string
  /** Allowed values of the Host header, without a port. */
  readonly hosts: ReadonlySet<string>
  /** The base risk of a strategy in the catalogue of the served dataset; undefined if it is not known. */
  readonly baseRiskOf: (alias: string) => number | undefined
  /** Where the page of subscribers is, such as `https://signals.example.org/account`. */
  readonly accountUrl: string
  readonly programAlias: () => string
  readonly random: RandomBytes
  readonly newRequestId: () => string
  readonly registering: RegisterParts
  /** The used share of the disk of Redis, 0 to 1; null if unknown. */
  readonly diskUsed?: () => Promise<number | null>
  /** Null if nothing is published. */
  readonly published: () => Promise<Published | null>
  /** Serves an older version again. Rejects with a sentence that has the fix. */
  readonly rollBack: (version: string) => Promise<void>
  /** The alerts that this process sent, newest first. */
  readonly alerts: () => readonly SentAlert[]
  readonly builds: () => Promise<readonly FleetProgress[]>
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** Called with the time from a fire to its acknowledgement by the disk. */
  readonly onFired?: (durableMs: number) => void
  readonly pause: (ms: number) => Promise<unknown>
  /** Called with the number of wrong tokens in this minute, if they are too many for mistakes. */
  readonly onGuessing: (wrongTokens: number) => void
  /** Called after every action that was logged. */
  readonly onAction: () => void
  readonly onAnswered: (answered: Answered) => void
  /** Called for every error that the caller did not cause. */
  readonly onError: (error: unknown) => void
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
export const readJson = (c: service.Exchange, isOptional = false): Promise<unknown> =>
  readSent(c, MOST_OPERATOR_BYTES, isOptional)
