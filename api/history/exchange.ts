import { toIsoInstant } from '#core/calendar.ts'
import { MEDIA_TYPES } from '#core/contract/artifacts.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { FileRoute } from '#core/contract/file-routes.ts'
import { DEFAULT_DISCLAIMER, type Links, register } from '#core/contract/register.ts'
import { csvWriting } from '#core/dataset/render/csv.ts'
import type { Json } from '#core/dataset/render/json.ts'
import type { Table } from '#core/dataset/render/table.ts'
import { writeWhole } from '#core/dataset/render/text-writer.ts'
import { StoreError } from '#storage/object-store.ts'
import { UnreadableError } from '#storage/published-files.ts'
import type { Answered as ServiceAnswered } from '../service/app.ts'
import {
  type AnswerHeaders,
  type CodedBytes,
  createCodedBytes,
  type ReadyAnswer,
} from '../service/content-coding.ts'
import {
  type Clock,
  type Exchange,
  notModified,
  type Service,
  sendBytes,
  sendEnveloped,
  toApiError,
  tookMs,
} from '../service/exchange.ts'
import {
  CACHING,
  COMMON_HEADERS,
  corsHeaders,
  deprecationHeaders,
  type InterfaceSettings,
} from '../service/headers.ts'
import type { RemoteAddress } from '../service/remote-address.ts'
import type { Sent } from '../service/stream-body.ts'
import type { ComputedAnswers } from './answers/computed-answers.ts'
import type { createPublishedAnswers } from './answers/published-answers.ts'
import type { createPinnedVersions } from './versions/pinned-versions.ts'
import type { ServedVersion } from './versions/served-version.ts'
import type { VersionSource } from './versions/version-source.ts'

/** An object, and whether it is verified to be what was published: only then may caches keep it. */
export type StoredFile = { readonly answer: ReadyAnswer; readonly isProven: boolean }

export type HistoryParts = {
  readonly source: VersionSource
  readonly published: ReturnType<typeof createPublishedAnswers>
  readonly computed: ComputedAnswers
  readonly pinned: ReturnType<typeof createPinnedVersions>
  readonly files: {
    /**
     * The object of a route in the public store, by what stands for its variable; null if there is none. Rejects with a
     * StoreError if the store cannot be read, and with an UnreadableError if it is not the one that was published.
     */
    read(file: FileRoute, variable: string): Promise<StoredFile | null>
  }
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

declare module 'hono' {
  interface ContextVariableMap {
    /** The version at the start of the request, which answers it to the end. */
    served?: ServedVersion | null
    /** The template of the route, where it is not the one that matched. */
    route?: string
    kind?: AnswerKind
    /** How an answer ended that was made while it was sent. */
    sent?: Promise<Sent>
  }
}

export type Handler = (c: Exchange, parts: HistoryParts) => Response | Promise<Response>

/** The version at the start of a request. Throws `not_ready` if there is none. */
export function assertServed(c: Exchange, { source }: HistoryParts): ServedVersion {
  const served = c.get('served') ?? null
  if (served !== null) return served
  throw new ApiError('not_ready', 'no dataset is loaded yet', { details: { checks: source.checks() } })
}

/** A dataset answer, or 304 if the client has it. The measured time is a header, because the body must not depend on it. */
export function sendReady(c: Exchange, answer: ReadyAnswer, caching: string, more: AnswerHeaders = {}) {
  const headers = datasetHeaders(c, caching, more)
  const known = notModified(c, answer.etag, headers)
  if (known !== null) return known
  c.set('bytes', answer.bytes.length)
  if (answer.file !== undefined && c.req.header('x-sendfile-type') === 'X-Accel-Redirect')
    return leaveToNginx(c, { ...headers, ...answer.headers }, answer.file)
  if (answer.release !== undefined) c.env?.outgoing?.once('close', answer.release)
  return new Response(answer.bytes, { headers: { ...headers, ...answer.headers } })
}

export const sendText = async (c: Exchange, coded: CodedBytes, caching: string, more: AnswerHeaders = {}) =>
  sendReady(c, await coded(c.req.header('accept-encoding')), caching, more)

/** Answers texts that are written and compressed at their first request, and again once another version is served. */
export function createTexts(
  write: (c: Exchange, parts: HistoryParts) => string | Promise<string>,
  mediaType: string,
  more: AnswerHeaders = {},
): Handler {
  const texts = new Map<string, Promise<CodedBytes>>()
  let of: ServedVersion | null | undefined
  const encode = async (c: Exchange, parts: HistoryParts): Promise<CodedBytes> =>
    createCodedBytes(await write(c, parts), mediaType)
  return async (c, parts) => {
    const { path } = c.req
    if (of !== c.get('served')) texts.clear()
    of = c.get('served')
    const text = texts.get(path) ?? encode(c, parts)
    texts.set(path, text)
    text.catch(() => texts.delete(path)) // the next request tries again
    return sendText(c, await text, CACHING.dataset, more)
  }
}

/** Leaves the file to nginx, whose requests ask for it: a slow reader then holds nothing here. By `Vary` no cache gives this to others. */
function leaveToNginx(c: Exchange, headers: AnswerHeaders, file: string): Response {
  c.set('bytes', 0)
  const path = { 'x-accel-redirect': `/.published/${file}`, 'content-length': '0' }
  return new Response(null, { headers: { ...headers, ...path, vary: `${headers.vary}, X-Sendfile-Type` } })
}

export const datasetHeaders = (c: Exchange, caching: string, more: AnswerHeaders): AnswerHeaders => ({
  'server-timing': `app;dur=${tookMs(c)}`,
  ...cachedHeaders(c, caching, more),
})

const cachedHeaders = (c: Exchange, caching: string, more: AnswerHeaders): AnswerHeaders => ({
  ...c.get('service').headers(c),
  'cache-control': caching,
  ...more,
})

/** An answer about the process: enveloped with the moment and the measured time, or its table as CSV. */
export function sendLive(
  c: Exchange,
  { data, links, table }: { readonly data: Json; readonly links: Links; readonly table?: Table },
  caching: string,
  more: AnswerHeaders = {},
): Response {
  const headers = cachedHeaders(c, caching, more)
  const known = more.etag === undefined ? null : notModified(c, more.etag, headers)
  if (known !== null) return known
  return table === undefined
    ? sendEnveloped(c, data, links, {}, headers)
    : sendBytes(c, writeWhole(csvWriting(table)), { 'content-type': MEDIA_TYPES.csv, ...headers })
}

export const redirect = (c: Exchange, location: string, caching: string, more: AnswerHeaders = {}) =>
  new Response(null, {
    status: 307,
    headers: { ...cachedHeaders(c, caching, more), 'content-length': '0', location },
  })

/** `meta` of answers about the process names no version if none is served. */
export const historyService = ({ clock, settings, onError }: HistoryParts): Service => ({
  clock,
  headers: c => ({
    ...COMMON_HEADERS,
    ...corsHeaders(settings.allowedOrigins, c.req.header('origin')),
    ...deprecationHeaders(settings),
  }),
  meta: c => {
    const served = c.get('served')?.snapshot.dataset ?? { version: null, disclaimer: DEFAULT_DISCLAIMER }
    return register(served, toIsoInstant(clock.now()), tookMs(c))
  },
  toRefusal: (error, c) => {
    if (error instanceof ApiError) return error
    onError(error, c.get('requestId'))
    return error instanceof StoreError || error instanceof UnreadableError
      ? new ApiError('unavailable', 'the store cannot be read at the moment')
      : toApiError(error)
  },
})

export type HistorySettings = InterfaceSettings & {
  readonly allowedOrigins: ReadonlySet<string>
  /** Public address of the signals service; null if it is not stated. */
  readonly signalsBaseUrl: string | null
}

/** Where an answer came from: `live` is the process, `304` the client's own copy; `cut` was made while it was sent, and broke off. */
export type AnswerKind = 'static' | 'computed' | 'cut' | '304' | 'refused' | 'live'

/** The log line of an answer: routes, names and numbers. */
export type Answered = ServiceAnswered & {
  readonly request_id: string
  readonly kind: AnswerKind
  /** The version that answered, null if none did. */
  readonly version: string | null
  /** Of the body, as far as it was sent. */
  readonly bytes: number
}
