import type { Context } from 'hono'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { DEFAULT_DISCLAIMER, type Provenance, type Register, register } from '#core/contract/register.ts'
import { renderJson } from '#core/render/json.ts'
import type { Clock } from '../clock.ts'
import { deprecationHeaders } from '../deprecation.ts'
import { errorAnswer, toApiError } from '../error-answer.ts'
import { matchesEtag } from '../etag.ts'
import { sharedHeaders } from '../shared-headers.ts'
import type { ComputedAnswers } from './computed-answers.ts'
import type { DictionaryDeltas } from './dictionary-deltas.ts'
import type { InfrastructureAnswer } from './infrastructure.ts'
import type { PinnedVersions } from './pinned-versions.ts'
import type { PublishedAnswers } from './published-answers.ts'
import type { ReadyAnswer } from './ready-answer.ts'
import type { ServedVersion } from './served-version.ts'
import type { HistorySettings } from './settings.ts'
import type { StoredFiles } from './stored-files.ts'
import type { VersionSource } from './version-source.ts'

/** Everything the history app needs of the world. */
export type HistoryParts = {
  readonly source: VersionSource
  readonly published: PublishedAnswers
  readonly deltas: DictionaryDeltas
  readonly computed: ComputedAnswers
  readonly pinned: PinnedVersions
  readonly files: StoredFiles
  readonly settings: HistorySettings
  readonly clock: Clock
  readonly isDraining: () => boolean
  /** Told of every error that is not the caller's. */
  readonly onError: (error: unknown) => void
}

/** What a request carries from its first handler to its answer. */
export type HistoryEnv = {
  Variables: {
    startedMs: number
    /** The version that the request began with: it ends with it, also where it ends in an error. */
    served: ServedVersion | null
  }
}

export type Exchange = Context<HistoryEnv>

export type Handler = (c: Exchange, parts: HistoryParts) => Response | Promise<Response>

/** A dataset answer, or 304 where the client has it. The measured time is a header: the body must not depend on it. */
export function sendReady(
  c: Exchange,
  parts: HistoryParts,
  answer: ReadyAnswer,
  caching: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers: Record<string, string> = {
    ...answerHeaders(c, parts),
    'cache-control': caching,
    ...more,
    'server-timing': `app;dur=${tookMs(c, parts)}`,
  }
  if (matchesEtag(c.req.header('if-none-match'), answer.etag)) {
    return new Response(null, { status: 304, headers: { ...headers, etag: answer.etag } })
  }
  return new Response(answer.bytes, { headers: { ...headers, ...answer.headers } })
}

/** An answer about the process: enveloped with the moment and the measured time. */
export function sendLive(
  c: Exchange,
  parts: HistoryParts,
  { data, links }: InfrastructureAnswer,
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
    return new Response(null, { status: 304, headers })
  }
  const body = renderJson({ data, meta: liveMeta(c, parts), links })
  return new Response(body, {
    headers: {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(body.length),
    },
  })
}

/** The answer to any error; what is not the caller's is told to the operator and to nobody else. */
export function sendError(c: Exchange, parts: HistoryParts, error: unknown): Response {
  if (!(error instanceof ApiError)) parts.onError(error)
  const { status, headers, body } = errorAnswer(toApiError(error), liveMeta(c, parts))
  return new Response(body, { status, headers: { ...answerHeaders(c, parts), ...headers } })
}

/** Headers of every answer to this request. */
export const answerHeaders = (c: Exchange, { settings }: HistoryParts): Record<string, string> => ({
  ...sharedHeaders(settings.allowedOrigins, c.req.header('origin')),
  ...deprecationHeaders(settings.deprecatedAtMs, settings.sunsetAtMs),
})

const liveMeta = (c: Exchange, parts: HistoryParts): Register =>
  register(provenance(c.get('served')), toIsoInstant(parts.clock.now()), tookMs(c, parts))

/** Nothing, too, where the request failed before it had a version. */
const provenance = (served: ServedVersion | null | undefined): Provenance =>
  served?.snapshot.dataset ?? { version: null, disclaimer: DEFAULT_DISCLAIMER }

const tookMs = (c: Exchange, { clock }: HistoryParts): number =>
  Math.round((clock.elapsed() - c.get('startedMs')) * 1000) / 1000
