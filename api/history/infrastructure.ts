// The routes that speak of the process and of what is published: health, readiness, versions.
import { z } from 'zod'
import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import {
  dayParameter,
  type Format,
  formatParameter,
  type Outcome,
  type Parameters,
  parseQuery,
} from '#core/contract/parameters.ts'
import { dateWindow, fraction } from '#core/contract/payloads/field.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import type { Links } from '#core/contract/register.ts'
import { getRoute, type Route } from '#core/contract/route.ts'
import type { ValueOf } from '#core/contract/value-of.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import type { Json } from '#core/dataset/render/json.ts'
import { type Table, textColumn } from '#core/dataset/render/table.ts'
import { othersThan } from '#core/dataset/resources/resource.ts'
import { sha256 } from '#storage/digest.ts'
import { servedAt } from '#storage/publications.ts'
import { CACHING } from '../service/headers.ts'
import { answerHeaders, type Exchange, type Handler, type HistoryParts, sendLive } from './exchange.ts'
import { assertKnown, type History } from './versions/history.ts'
import type { ServedVersion } from './versions/served-version.ts'

export const API_VERSION = '1.0'

const health = () =>
  z
    .looseObject({
      status: z.string().describe('`ok` when the process answers.'),
      strategy_count: z.int().describe('Strategies served; 0 without a dataset.'),
    })
    .describe('Liveness.')
    .meta({ id: 'Health' })

const readiness = () =>
  z
    .looseObject({
      ready: z.boolean().describe('True when every check holds.'),
      checks: z
        .looseObject({
          manifest_loaded: z.boolean().describe('The manifest is the one that was published.'),
          count_matches: z.boolean().describe('The dataset has as many strategies as the manifest names.'),
          per_strategy_loaded: z.boolean().describe('Every strategy has its series and all its answers.'),
          correlation_dims: z.boolean().describe('The correlation matrices have a row for every strategy.'),
        })
        .describe('The four integrity checks.'),
      dataset_age_seconds: z
        .number()
        .nullable()
        .describe('Age of the dataset version; it never makes the answer a 503.'),
      unfit_version: z
        .string()
        .nullable()
        .describe('The newest version where it fails its checks, so that an older one is served; else null.'),
    })
    .describe('Readiness.')
    .meta({ id: 'Readiness' })

const version = () =>
  z
    .looseObject({
      api_version: z.string().describe('Version of this interface.'),
      stability: z.string().describe('`stable`: removals and renames come under a new major path only.'),
      dataset_version: z.string().nullable().describe('The dataset version served now.'),
      history_restated: z
        .boolean()
        .nullable()
        .describe('Whether that version alters history that the one before had published.'),
      generated_utc: z.string().nullable().describe('When that version was made.'),
      window: dateWindow('Earliest and latest day of any series.'),
      max_modelled_risk_pct: fraction('The cap of `risk_pct`.').nullable(),
    })
    .describe('Versions of the interface and of the data.')
    .meta({ id: 'Version' })

const publishedVersion = () =>
  z
    .looseObject({
      version: z.string().describe('The dataset version, a UTC instant; `?dataset_version=` pins to it.'),
      published: z.string().describe('When it was first served, a UTC instant.'),
      entered: z
        .string()
        .nullable()
        .describe('The same, if its name is more than 36 hours older; null where the name is the truth.'),
      manifest_sha256: z.string().describe('Digest of its manifest.'),
      is_served: z.boolean().describe('Whether the newest entry of the pointer log names it.'),
      is_removed: z
        .boolean()
        .describe('Whether its files were removed: they answer 410. Known within an hour of the removal.'),
      history_restated: z
        .boolean()
        .describe('Whether it alters history that the version before had published.'),
    })
    .meta({ id: 'PublishedVersion' })

const versionList = () =>
  z.array(publishedVersion()).describe('Every version that was published, newest first.')

const day = dayParameter('A day: leads to the dataset of the version that was served at its end (UTC).')

/** Longer values are cut in refusals. */
const ECHO_LENGTH = 80

/** Asks the list of versions for the one that was in force on a day: `?as_of=2026-11-21`. */
const versionsQuery = { as_of: { ...day, parse: parseDay }, format: formatParameter(['json', 'csv']) }

const VERSIONS_OTHERS = othersThan(Object.keys(versionsQuery))

function parseDay(texts: readonly string[]): Outcome<EpochDay | null> {
  const outcome = day.parse(texts)
  if (!('problem' in outcome)) return outcome
  return { problem: { ...outcome.problem, value: texts.join(',').slice(0, ECHO_LENGTH) } }
}

export type InfrastructureRoute = Omit<Route<'infrastructure', Handler>, 'query'> & {
  readonly about: string
  readonly query: Parameters
  readonly formats: readonly Format[]
}

type Definition = Omit<InfrastructureRoute, 'method' | 'group' | 'query' | 'formats'> & {
  readonly query?: Parameters
  readonly formats?: readonly Format[]
}

const infrastructureRoute = (definition: Definition): InfrastructureRoute => ({
  group: 'infrastructure',
  query: {},
  formats: ['json'],
  ...getRoute(definition),
})

export const INFRASTRUCTURE_ROUTES: readonly InfrastructureRoute[] = [
  infrastructureRoute({
    id: 'healthz',
    path: '/healthz',
    title: 'Liveness',
    about: 'Answers 200 as long as the process lives, with or without a dataset.',
    data: health,
    handler: (c, parts) => {
      const data: ValueOf<ReturnType<typeof health>> = {
        status: 'ok',
        strategy_count: c.get('served')?.snapshot.strategies.length ?? 0,
      }
      const links = { self: '/healthz', readyz: '/readyz', version: '/version' }
      return sendLive(c, parts, { data: data as Json, links }, CACHING.never)
    },
  }),
  infrastructureRoute({
    id: 'readyz',
    path: '/readyz',
    title: 'Readiness',
    about:
      'Answers 200 when a dataset is loaded and its integrity checks hold, else 503 with the checks in details.',
    data: readiness,
    refusals: ['not_ready'],
    handler: (c, parts) => {
      const data = assertReady(c.get('served'), parts)
      const links = { self: '/readyz', healthz: '/healthz', version: '/version' }
      return sendLive(c, parts, { data: data as Json, links }, CACHING.never)
    },
  }),
  infrastructureRoute({
    id: 'version',
    path: '/version',
    title: 'Versions',
    about:
      'Version of the interface and of the dataset that is served now. Poll this to learn of a new dataset.',
    data: version,
    statuses: [200, 304],
    handler: (c, parts) => {
      const served = c.get('served')
      const dataset = served?.snapshot.dataset
      const data: ValueOf<ReturnType<typeof version>> = {
        api_version: API_VERSION,
        stability: 'stable',
        dataset_version: dataset?.version ?? null,
        history_restated: dataset?.history_restated ?? null,
        generated_utc: dataset === undefined ? null : effectiveInstant(dataset),
        window: dataset?.window ?? { from: null, to: null },
        max_modelled_risk_pct: dataset?.max_modelled_risk_pct ?? null,
      }
      const links: Links = {
        self: '/version',
        dataset: '/v1/dataset',
        versions: '/v1/dataset/versions',
        strategies: '/v1/strategies',
      }
      // Weak: `meta` has the time, so the bytes differ while the answer is the same.
      const etag = `W/"${served?.version ?? 'none'}"`
      return sendLive(c, parts, { data: data as Json, links }, CACHING.pointer, etag)
    },
  }),
  infrastructureRoute({
    id: 'versions',
    path: '/v1/dataset/versions',
    title: 'Published versions',
    about: 'All published versions, newest first; with `as_of` the way to the one that was served on a day.',
    query: versionsQuery,
    formats: ['json', 'csv'],
    data: versionList,
    statuses: [200, 304, 307],
    refusals: ['not_found', 'not_ready'],
    handler: (c, parts) => {
      const { searchParams } = new URL(c.req.url)
      const { as_of, format } = parseQuery(versionsQuery, searchParams, VERSIONS_OTHERS)
      const history = assertKnown(parts.source.history())
      return as_of === null
        ? listVersions(c, parts, history, format)
        : redirectTo(c, parts, versionOn(history, as_of))
    },
  }),
]

/** Throws `not_ready` with the checks while there is nothing to serve, or while the process is shutting down. */
function assertReady(
  served: ServedVersion | null,
  { source, clock, isDraining }: HistoryParts,
): ValueOf<ReturnType<typeof readiness>> {
  const checks = source.checks()
  if (isDraining()) throw new ApiError('not_ready', 'the process is shutting down', { details: { checks } })
  if (served === null) {
    throw new ApiError('not_ready', 'no dataset is loaded that passes its integrity checks', {
      details: { checks },
    })
  }
  const age = Math.max(0, Math.floor((clock.now() - Date.parse(served.version)) / 1000))
  return { ready: true, checks, dataset_age_seconds: age, unfit_version: source.unfitVersion() }
}

/** What was published, newest first. */
function listVersions(
  c: Exchange,
  parts: HistoryParts,
  { publications, head }: History,
  format: Format,
): Response {
  const removed = publications.filter(({ is_removed }) => is_removed).map(({ version }) => version)
  const answer = {
    data: publications.map(publication => ({ ...publication })),
    links: { self: '/v1/dataset/versions', dataset: '/v1/dataset', version: '/version' },
    ...(format === 'csv' ? { table: versionTable(publications) } : {}),
  }
  // Weak: `meta` has the time, so the bytes differ while the answer is the same.
  const states = [head, c.get('served')?.version, ...removed].join(' ')
  const etag = `W/"${sha256(states).slice(0, 32)}"`
  return sendLive(c, parts, answer, CACHING.pointer, etag)
}

const versionTable = (publications: History['publications']): Table => ({
  kind: 'table',
  rows: publications.length,
  columns: Object.keys(publishedVersion().shape).map(name =>
    textColumn(name, row => String(publications[row]![name as keyof History['publications'][number]] ?? '')),
  ),
})

function versionOn({ log }: History, asOf: EpochDay): string {
  const day = toIsoDate(asOf)
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
      location: pinnedPath(version, '/v1/dataset'),
    },
  })
