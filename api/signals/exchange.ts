import type { Context } from 'hono'
import type { Redis } from 'ioredis'
import { ApiError } from '#core/contract/errors.ts'
import type { KeyedMetaExtra } from '#core/contract/keyed-meta.ts'
import type { Links } from '#core/contract/register.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import type { RegisterParts } from '#signals/delivery/register-webhook.ts'
import { LogGoneError } from '#signals/log/guard.ts'
import { DamagedLogError } from '#signals/log/read-log.ts'
import type { PreviewLimits } from '#signals/program/preview-limits.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import type { ServedProgram } from '#storage/published-program.ts'
import * as http from '../service/exchange.ts'
import { CACHING, COMMON_HEADERS, deprecationHeaders } from '../service/headers.ts'
import type { PreparedProgram } from './program/prepared-program.ts'
import type { SignalsSettings } from './settings.ts'

/** The environment of the signals app. */
export type SignalsParts = {
  readonly redis: Redis
  readonly clock: http.Clock
  readonly settings: SignalsSettings
  /** The accumulation program that is served now; null if none is published. */
  readonly program: () => ServedProgram | null
  /** Counts requests of the preview. */
  readonly limits: PreviewLimits
  /** Origins of web pages that may read the preview. */
  readonly allowedOrigins: ReadonlySet<string>
  /** For registrations by clients. */
  readonly registering: RegisterParts
  /** A new name for the history of a log. */
  readonly newEpoch: () => string
  readonly isDraining: () => boolean
  /** Throws a ClockError while nothing is fired because of the clock. */
  readonly assertClock: () => Promise<void>
  readonly onAnswered: (answered: Answered) => void
  /** Called for every error that neither the caller nor an unreachable Redis caused. */
  readonly onError: (error: unknown) => void
}

/** One request as it may be logged: its route and never its URL, and the id of a key and never the key. */
export type Answered = {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
  /** The network of the caller. */
  readonly address: string
  /** Null unless a key was given that has its form. */
  readonly keyId: string | null
  /** Null unless the key was valid. */
  readonly client: string | null
}

export type SignalsEnv = http.ServiceEnv & { Variables: { keyId?: string; client?: string } }

export type Exchange = Context<SignalsEnv>

/** Documents that are the same in every answer. */
export type Documents = {
  readonly signalSchema: Json
  readonly openApi: Uint8Array<ArrayBuffer>
}

/** The parts, and what the app has derived from them. */
export type ServedParts = SignalsParts & {
  readonly documents: Documents
  /** Throws `not_found` where there is none. */
  readonly servedProgram: () => PreparedProgram
}

export const sendEnveloped = (
  c: Exchange,
  parts: SignalsParts,
  data: Json,
  links: Links,
  more: KeyedMetaExtra = {},
): Response => sendJson(parts, { data, meta: { ...http.keyedMeta(c, parts.clock), ...more }, links })

/** A published record of the program in the envelope, with its exact bytes. */
export function sendPublished(
  c: Exchange,
  parts: SignalsParts,
  data: Uint8Array,
  links: Links,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const after = `,"meta":${JSON.stringify(http.keyedMeta(c, parts.clock))},"links":${JSON.stringify(links)}}`
  const body = Buffer.concat([Buffer.from('{"data":'), data, Buffer.from(after)])
  return sendBytes(parts, body, headers)
}

/** A JSON answer without an envelope. */
export const sendJson = (parts: SignalsParts, value: Json): Response => sendBytes(parts, renderJson(value))

/** An answer that is already made: JSON unless `media` says otherwise. */
export const sendBytes = (
  parts: SignalsParts,
  body: Uint8Array<ArrayBuffer>,
  media: Readonly<Record<string, string>> = {},
): Response => http.sendBytes(body, { ...answerHeaders(parts), ...media })

/** The answer to any error. What a key may see is nobody else's: no cache keeps a refusal either. */
export const sendError = (c: Exchange, parts: SignalsParts, error: unknown): Response =>
  http.sendRefusal(
    toRefusal(error, parts.onError),
    http.keyedMeta(c, parts.clock),
    answerHeaders(parts),
    true,
  )

/** Headers of every answer. No CORS: keys do not belong in browsers. */
export const answerHeaders = ({ settings }: SignalsParts): Record<string, string> => ({
  ...COMMON_HEADERS,
  ...deprecationHeaders(settings.deprecatedAtMs, settings.sunsetAtMs),
  'cache-control': CACHING.never,
})

function toRefusal(error: unknown, onError: (error: unknown) => void): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof RedisDownError) {
    return new ApiError(
      'unavailable',
      'keys and signals cannot be looked up for now; no signal is lost, ask again in a moment',
    )
  }
  onError(error)
  return error instanceof DamagedLogError || error instanceof LogGoneError
    ? new ApiError('unavailable', 'the log of signals must be repaired first; the operator has been alerted')
    : http.toApiError(error)
}
