import type { Redis } from 'ioredis'
import { ApiError } from '#core/contract/errors.ts'
import type { KeyedMetaExtra } from '#core/contract/payloads/meta.ts'
import type { Links } from '#core/contract/register.ts'
import { getRoute, type Method, type Route } from '#core/contract/route.ts'
import type { Json } from '#core/dataset/render/json.ts'
import type { Identity } from '#signals/clients/clients.ts'
import { LogGoneError } from '#signals/log/guard.ts'
import { DamagedLogError } from '#signals/log/read-log.ts'
import type { RegisterParts } from '#signals/outbox/register-webhook.ts'
import type { LimitName, PreviewLimits } from '#signals/program/preview-limits.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { ServedProgram } from '#storage/published-files.ts'
import type { Answered as ServiceAnswered } from '../service/app.ts'
import type { AnswerHeaders, Bytes } from '../service/content-coding.ts'
import {
  type Clock,
  type Exchange,
  keyedMeta,
  type Service,
  sendBytes,
  toApiError,
} from '../service/exchange.ts'
import { CACHING, COMMON_HEADERS, deprecationHeaders, type InterfaceSettings } from '../service/headers.ts'
import type { PreparedProgram } from './program/prepared-program.ts'

export type SignalsSettings = InterfaceSettings & {
  /** Public address of the history service; null if it is not stated. */
  readonly historyBaseUrl: string | null
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[]
}

export type SignalsParts = {
  readonly redis: Redis
  readonly clock: Clock
  readonly settings: SignalsSettings
  /** Has the records of seals. */
  readonly privateStore: ObjectStore
  /** The accumulation program that is served now; null if none is published. */
  readonly program: () => ServedProgram | null
  readonly limits: PreviewLimits
  readonly allowedOrigins: ReadonlySet<string>
  readonly registering: RegisterParts
  readonly isDraining: () => boolean
  /** The digest of OPERATOR_TOKEN: sessions that its holder's links began end with it. */
  readonly operatorDigest: string
  readonly pause: (ms: number) => Promise<unknown>
  /** Throws a ClockError while nothing is fired because of the clock. */
  readonly assertClock: () => Promise<void>
  readonly onAnswered: (answered: Answered) => void
  /** Called for every error that neither the caller nor an unreachable Redis caused. */
  readonly onError: (error: unknown) => void
}

/** One request as it may be logged: its route and never its URL, and the id of a key and never the key. */
export type Answered = ServiceAnswered & {
  readonly address: string
  /** Null unless a key was given that has its form. */
  readonly keyId: string | null
  /** Null unless the key was valid. */
  readonly client: string | null
}

declare module 'hono' {
  /** Each is absent until it is known. */
  interface ContextVariableMap {
    keyId?: string
    client?: string
  }
}

/** The parts, and what the app has derived from them. */
export type ServedParts = SignalsParts & {
  readonly documents: { readonly signalSchema: () => Json; readonly openApi: () => Bytes }
  /** Throws `not_found` where there is none. */
  readonly servedProgram: () => PreparedProgram
}

/**
 * `open` needs no key, `key` any valid one, `account` one of an active client, `program` one of a client, active or not, that
 * is entitled to the program. `preview` needs none, is limited per address, and may be read by web pages.
 */
export type SignalsGroup = SignalsRoute['group']

type OpenHandler = (c: Exchange, parts: ServedParts) => Response | Promise<Response>

export type KeyedHandler = (c: Exchange, parts: ServedParts, caller: Identity) => Response | Promise<Response>

export type PreviewRoute = Route<'preview', OpenHandler> & { readonly limit: LimitName }

export type SignalsRoute =
  | PreviewRoute
  | Route<'open', OpenHandler>
  | Route<'key', KeyedHandler>
  | Route<'account', KeyedHandler>
  | Route<'program', KeyedHandler>

type RouteOf<Group extends SignalsGroup> = Extract<SignalsRoute, { readonly group: Group }>

/** The routes of a group; those without a method are read with GET. */
export const routesOf = <Group extends SignalsGroup>(
  group: Group,
  definitions: readonly (Omit<RouteOf<Group>, 'group' | 'method'> & { readonly method?: Method })[],
) => definitions.map(definition => ({ group, ...getRoute(definition) }))

/** A record in the envelope, with the exact bytes that are stored of it. */
export function sendPublished(
  c: Exchange,
  data: Uint8Array,
  links: Links,
  headers: AnswerHeaders = {},
  more: KeyedMetaExtra = {},
): Response {
  const meta = { ...keyedMeta(c), ...more }
  const after = `,"meta":${JSON.stringify(meta)},"links":${JSON.stringify(links)}}`
  return sendBytes(c, Buffer.concat([Buffer.from('{"data":'), data, Buffer.from(after)]), headers)
}

/** No CORS: keys do not belong in browsers. What a key may see is nobody else's: no cache keeps a refusal either. */
export const signalsService = ({ clock, settings, onError }: SignalsParts): Service => ({
  clock,
  headers: () => ({ ...COMMON_HEADERS, ...deprecationHeaders(settings), 'cache-control': CACHING.never }),
  meta: keyedMeta,
  toRefusal: error => toRefusal(error, onError),
})

function toRefusal(error: unknown, onError: (error: unknown) => void): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof RedisDownError)
    return new ApiError(
      'unavailable',
      'keys and signals cannot be looked up for now; no signal is lost, ask again in a moment',
    )
  onError(error)
  return error instanceof DamagedLogError || error instanceof LogGoneError
    ? new ApiError('unavailable', 'the log of signals must be repaired first; the operator has been alerted')
    : toApiError(error)
}
