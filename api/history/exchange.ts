import type { Context } from 'hono'
import { toIsoInstant } from '#core/calendar.ts'
import { MEDIA_TYPES } from '#core/contract/artifacts.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { FileRoute } from '#core/contract/file-routes.ts'
import { REQUEST_ID_PATTERN } from '#core/contract/openapi.ts'
import {
  DEFAULT_DISCLAIMER,
  type Links,
  type Provenance,
  type Register,
  register,
} from '#core/contract/register.ts'
import { csvWriting } from '#core/dataset/render/csv.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import type { Table } from '#core/dataset/render/table.ts'
import { writeWhole } from '#core/dataset/render/text-writer.ts'
import type { ReadyAnswer } from '../service/content-coding.ts'
import { type Clock, type ServiceEnv, sendBytes, sendRefusal, toApiError, tookMs } from '../service/exchange.ts'
import { deprecationHeaders, matchesEtag, sharedHeaders } from '../service/headers.ts'
import type { RemoteAddress } from '../service/remote-address.ts'
import type { Sent } from '../service/stream-body.ts'
import type { ComputedAnswers } from './answers/computed-answers.ts'
import type { PublishedAnswers } from './answers/published-answers.ts'
import type { PinnedVersions } from './versions/pinned-versions.ts'
import type { ServedVersion } from './versions/served-version.ts'
import type { VersionSource } from './versions/version-source.ts'

/** An object, and whether it is verified to be what was published: only then may caches keep it. */
export type StoredFile = { readonly answer: ReadyAnswer; readonly isProven: boolean }

/** Objects of the public store as they are. */
export type StoredFiles = {
  /**
   * The object of a route; `variable` is what stands for its variable. Null if there is none. Rejects with a StoreError
   * if the store cannot be read, and with a DamagedFileError if the object is not the one that was published.
   */
  read(file: FileRoute, variable: string): Promise<StoredFile | null>
}

/** The services and settings of the history app. */
export type HistoryParts = {
  readonly source: VersionSource
  readonly published: PublishedAnswers
  readonly computed: ComputedAnswers
  readonly pinned: PinnedVersions
  readonly files: StoredFiles
  readonly settings: HistorySettings
  readonly clock: Clock
  readonly isDraining: () => boolean
  /** The client of a request, behind proxies that are trusted. */
  readonly clientOf: RemoteAddress
  /** An id for a request without one in `X-Request-Id`. */
  readonly newRequestId: () => string
  /** Called with every answer, before it is sent: it must be quick. */
  readonly onAnswered: (answered: Answered) => void
  /** Called for every error that the caller did not cause, with the id of the request. */
  readonly onError: (error: unknown, requestId?: string) => void
}

/** The state of a request. */
export type HistoryEnv = ServiceEnv & {
  Variables: {
    /** The version at the start of the request, which answers it to the end. */
    served: ServedVersion | null
    /** What the log and the metrics report of the answer; each is absent until it is known. */
    route?: string
    kind?: AnswerKind
    bytes?: number
    /** How an answer ended that was made while it was sent. */
    sent?: Promise<Sent>
    requestId?: string
  }
}

export type Exchange = Context<HistoryEnv>

export type Handler = (c: Exchange, parts: HistoryParts) => Response | Promise<Response>

/** A dataset answer, or 304 if the client has it. The measured time is a header, because the body must not depend on it. */
export function sendReady(
  c: Exchange,
  parts: HistoryParts,
  answer: ReadyAnswer,
  caching: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers = datasetHeaders(c, parts, caching, more)
  if (matchesEtag(c.req.header('if-none-match'), answer.etag)) return notModified(headers, answer.etag)
  c.set('bytes', answer.bytes.length)
  if (answer.file !== undefined && c.req.header('x-sendfile-type') === 'X-Accel-Redirect')
    return leaveToNginx(c, { ...headers, ...answer.headers }, answer.file)
  if (answer.release !== undefined) c.env?.outgoing?.once('close', answer.release)
  return new Response(answer.bytes, { headers: { ...headers, ...answer.headers } })
}

/**
 * Leaves the file to nginx, whose requests ask for that (`deploy/nginx`): a slow reader then holds nothing here. Because of
 * `Vary` no cache gives this to a request that does not ask for it.
 */
function leaveToNginx(c: Exchange, headers: Readonly<Record<string, string>>, file: string): Response {
  c.set('bytes', 0)
  const path = { 'x-accel-redirect': `/.published/${file}`, 'content-length': '0' }
  return new Response(null, { headers: { ...headers, ...path, vary: `${headers.vary}, X-Sendfile-Type` } })
}

export const datasetHeaders = (
  c: Exchange,
  parts: HistoryParts,
  caching: string,
  more: Readonly<Record<string, string>>,
): Record<string, string> => ({
  'server-timing': `app;dur=${tookMs(c, parts.clock)}`,
  ...answerHeaders(c, parts),
  'cache-control': caching,
  ...more,
})

/** 304, with the validator that the client has. */
export const notModified = (headers: Readonly<Record<string, string>>, etag: string): Response =>
  new Response(null, { status: 304, headers: { ...headers, etag } })

/** What an infrastructure endpoint says, before the envelope. */
export type InfrastructureAnswer = { readonly data: Json; readonly links: Links; readonly table?: Table }

/** An answer about the process: enveloped with the moment and the measured time, or its table as CSV. */
export function sendLive(
  c: Exchange,
  parts: HistoryParts,
  { data, links, table }: InfrastructureAnswer,
  caching: string,
  etag: string | null = null,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers: Record<string, string> = {
    ...answerHeaders(c, parts),
    'cache-control': caching,
    ...(etag === null ? {} : { etag }),
    ...more,
  }
  if (etag !== null && matchesEtag(c.req.header('if-none-match'), etag)) {
    return notModified(headers, etag)
  }
  const body =
    table === undefined
      ? renderJson({ data, meta: liveMeta(c, parts), links })
      : writeWhole(csvWriting(table))
  c.set('bytes', body.length)
  return sendBytes(body, table === undefined ? headers : { 'content-type': MEDIA_TYPES.csv, ...headers })
}

/** The answer to any error. Details of an error that the caller did not cause go to the operator only. */
export function sendError(c: Exchange, parts: HistoryParts, error: unknown): Response {
  const requestId = requestIdOf(c, parts)
  if (!(error instanceof ApiError)) parts.onError(error, requestId)
  const own = { 'x-request-id': requestId } // a user quotes it, and the operator finds it in the log
  const refusal = sendRefusal(toApiError(error), liveMeta(c, parts), { ...answerHeaders(c, parts), ...own })
  c.set('bytes', Number(refusal.headers.get('content-length')))
  return refusal
}

export const answerHeaders = (c: Exchange, { settings }: HistoryParts): Record<string, string> => ({
  ...sharedHeaders(settings.allowedOrigins, c.req.header('origin')),
  ...deprecationHeaders(settings.deprecatedAtMs, settings.sunsetAtMs),
})

const liveMeta = (c: Exchange, parts: HistoryParts): Register =>
  register(provenance(c.get('served')), toIsoInstant(parts.clock.now()), tookMs(c, parts.clock))

/** Without a version if none is served or the request failed before it had one. */
const provenance = (served: ServedVersion | null | undefined): Provenance =>
  served?.snapshot.dataset ?? { version: null, disclaimer: DEFAULT_DISCLAIMER }

/** The id of a request: that of the proxy in front, or a new one. */
export function requestIdOf(c: Exchange, { newRequestId }: HistoryParts): string {
  const known = c.get('requestId')
  if (known !== undefined) return known
  const given = c.req.header('x-request-id')
  const id = given !== undefined && REQUEST_ID_PATTERN.test(given) ? given : newRequestId()
  c.set('requestId', id)
  return id
}

export type HistorySettings = {
  /** Origins of web pages that may read the service. */
  readonly allowedOrigins: ReadonlySet<string>
  /** Address of the service as its users see it, without a slash at the end. */
  readonly publicBaseUrl: string
  /** The same of the signals service; null if it is not stated. */
  readonly signalsBaseUrl: string | null
  /** When this version of the interface was deprecated, epoch ms, null as long as it is not. */
  readonly deprecatedAtMs: number | null
  /** When it will stop answering, epoch ms, null if no date is set. */
  readonly sunsetAtMs: number | null
}

/**
 * Where an answer came from: a published file, a computation, the client's own copy, a refusal, or the process. `cut`: it
 * was made while it was sent, and broke off.
 */
export type AnswerKind = 'static' | 'computed' | 'cut' | '304' | 'refused' | 'live'

/** The log line of an answer: routes, names and numbers, and never an address or a query. */
export type Answered = {
  readonly request_id: string
  readonly method: string
  /** The template of the route; UNROUTED if no route matched. */
  readonly route: string
  readonly kind: AnswerKind
  /** The version that answered, null if none did. */
  readonly version: string | null
  readonly status: number
  /** Until the answer was ready to be sent. */
  readonly ms: number
  /** Of the body, as far as it was sent. */
  readonly bytes: number
}

/** The route of a path that matches none. */
export const UNROUTED = 'none'
