// Answers that speak of the process: health, readiness, versions and the index.

import { parseIsoDate } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { AS_OF_PARAMETER, pinnedPath } from '#core/contract/pins.ts'
import type { ReadinessChecks } from '#core/contract/readiness-checks.ts'
import { ROUTES, routeOf } from '#core/contract/routes.ts'
import { sha256 } from '#storage/digest.ts'
import { servedAt } from '#storage/publications.ts'
import { CACHING } from '../http/headers.ts'
import {
  answerHeaders,
  type Exchange,
  type Handler,
  type HistoryParts,
  type InfrastructureAnswer,
  sendLive,
} from './exchange.ts'
import { assertKnown, type History } from './versions/history.ts'
import type { ServedVersion } from './versions/served-version.ts'

export const health = (served: ServedVersion | null): InfrastructureAnswer => ({
  data: { status: 'ok', strategy_count: served?.snapshot.strategies.length ?? 0 },
  links: { self: '/healthz', readyz: '/readyz', version: '/version' },
})

/** What is known of the version that should be served. */
export type Readiness = { readonly checks: ReadinessChecks; readonly unfitVersion: string | null }

/** Throws `not_ready` with the checks while there is nothing to serve, or while the process is on its way out. */
export function readiness(
  served: ServedVersion | null,
  { checks, unfitVersion }: Readiness,
  isDraining: boolean,
  nowMs: number,
): InfrastructureAnswer {
  if (isDraining) throw new ApiError('not_ready', 'the process is shutting down', { details: { checks } })
  if (served === null) {
    throw new ApiError('not_ready', 'no dataset is loaded that passes its integrity checks', {
      details: { checks },
    })
  }
  const age = Math.max(0, Math.floor((nowMs - Date.parse(served.version)) / 1000))
  return {
    data: { ready: true, checks, dataset_age_seconds: age, unfit_version: unfitVersion },
    links: { self: '/readyz', healthz: '/healthz', version: '/version' },
  }
}

export const API_VERSION = '1.0'

export function versions(served: ServedVersion | null): InfrastructureAnswer {
  const dataset = served?.snapshot.dataset
  return {
    data: {
      api_version: API_VERSION,
      stability: 'stable',
      dataset_version: dataset?.version ?? null,
      history_restated: served?.snapshot.dataset.history_restated ?? null,
      generated_utc: dataset?.version ?? null,
      window: dataset?.window ?? { from: null, to: null },
      max_modelled_risk_pct: dataset?.max_modelled_risk_pct ?? null,
    },
    links: {
      self: '/version',
      dataset: '/v1/dataset',
      versions: '/v1/dataset/versions',
      strategies: '/v1/strategies',
    },
  }
}

export const index = (served: ServedVersion | null): InfrastructureAnswer => ({
  data: {
    service: served?.snapshot.dataset.name ?? 'Highwater',
    endpoints: ROUTES.map(({ path, about }) => ({ path, about })),
  },
  links: {
    self: '/',
    docs: '/docs',
    openapi: '/openapi.json',
    version: '/version',
    strategies: '/v1/strategies',
  },
})

/** `/v1/dataset/versions`: what was published, newest first; with `as_of` the way to what was served on a day. */
export const listVersions: Handler = (c, parts) => {
  const days = new URL(c.req.url).searchParams.getAll(AS_OF_PARAMETER)
  if (days.length > 0) {
    const day = parseDay(days)
    return redirectTo(c, parts, versionOn(assertKnown(parts.source.history()), day))
  }
  const { publications, head } = assertKnown(parts.source.history())
  const removed = publications.filter(({ is_removed }) => is_removed).map(({ version }) => version)
  const answer = {
    data: publications.map(publication => ({ ...publication })),
    links: { self: routeOf('versions').path, dataset: '/v1/dataset', version: '/version' },
  }
  // Weak: the register tells the time, so the bytes differ while the answer is the same.
  const states = [head, c.get('served')?.version, ...removed].join(' ')
  const etag = `W/"${sha256(new TextEncoder().encode(states)).slice(0, 32)}"`
  return sendLive(c, parts, answer, CACHING.pointer, etag)
}

/** The day as it was given. Throws `validation_error` where it is none, or was given more than once. */
function parseDay(days: readonly string[]): string {
  const [day = ''] = days
  if (days.length === 1 && parseIsoDate(day) !== null) return day
  const reason = days.length > 1 ? 'given more than once' : 'must be a calendar date YYYY-MM-DD'
  throw new ApiError('validation_error', `unfit query parameters: ${AS_OF_PARAMETER}`, {
    details: [{ param: AS_OF_PARAMETER, value: days.join(',').slice(0, ECHO_LENGTH), reason }],
  })
}

/** As much of a refused value as is repeated. */
const ECHO_LENGTH = 80

function versionOn({ log }: History, day: string): string {
  const version = servedAt(log, `${day}T23:59:59Z`)
  if (version !== null) return version
  const [first] = log
  const since = first === undefined ? 'nothing is published' : `the first was published ${first.entry.at}`
  throw new ApiError('not_found', `no version was served on ${day} yet; ${since}`)
}

const redirectTo = (c: Exchange, parts: HistoryParts, version: string): Response =>
  new Response(null, {
    status: 307,
    headers: {
      ...answerHeaders(c, parts),
      'cache-control': CACHING.pointer,
      'content-length': '0',
      location: pinnedPath(version, routeOf('dataset').path),
    },
  })
