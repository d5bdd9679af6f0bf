// The routes that speak of the process and of what is published: health, readiness, versions.
import { z } from 'zod'
import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import {
  dayParameter,
  type Format,
  formatParameter,
  type Parameters,
  parseQuery,
} from '#core/contract/parameters.ts'
import {
  dateWindow,
  flag,
  fraction,
  list,
  namedRecord,
  numberOrNull,
  record,
  text,
  textOrNull,
  type ValueOf,
  whole,
} from '#core/contract/payloads/field.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import type { Links } from '#core/contract/register.ts'
import { getRoute, type Route } from '#core/contract/route.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import { type Table, textColumn } from '#core/dataset/render/table.ts'
import { othersThan } from '#core/dataset/resources/resource.ts'
import { sha256 } from '#storage/digest.ts'
import { servedAt } from '#storage/pointer-log.ts'
import { API_VERSION, type Exchange, queryOf } from '../service/exchange.ts'
import { CACHING } from '../service/headers.ts'
import { type Handler, type HistoryParts, redirect, sendLive } from './exchange.ts'
import { assertKnown, type History } from './versions/history.ts'
import type { ServedVersion } from './versions/served-version.ts'

const health = () =>
  record('Liveness.', {
    status: text('`ok` when the process answers.'),
    strategy_count: whole('Strategies served; 0 without a dataset.'),
  }).meta({ id: 'Health' })

const readiness = () =>
  record('Readiness.', {
    ready: flag('True when every check holds.'),
    checks: record('The four integrity checks.', {
      manifest_loaded: flag('The manifest is the one that was published.'),
      count_matches: flag('The dataset has as many strategies as the manifest names.'),
      per_strategy_loaded: flag('Every strategy has its series and all its answers.'),
      correlation_dims: flag('The correlation matrices have a row for every strategy.'),
    }),
    dataset_age_seconds: numberOrNull('Age of the dataset version; it never makes the answer a 503.'),
    unfit_version: textOrNull(
      'The newest version where it fails its checks, so that an older one is served; else null.',
    ),
  }).meta({ id: 'Readiness' })

const version = () =>
  record('Versions of the interface and of the data.', {
    api_version: text('Version of this interface.'),
    stability: text('`stable`: removals and renames come under a new major path only.'),
    dataset_version: textOrNull('The dataset version served now.'),
    history_restated: z
      .boolean()
      .nullable()
      .describe('Whether that version alters history that the one before had published.'),
    generated_utc: textOrNull('When that version was made.'),
    window: dateWindow('Earliest and latest day of any series.'),
    max_modelled_risk_pct: fraction('The cap of `risk_pct`.').nullable(),
  }).meta({ id: 'Version' })

const publishedVersion = () =>
  namedRecord('PublishedVersion', {
    version: text('The dataset version, a UTC instant; `?dataset_version=` pins to it.'),
    published: text('When it was first served, a UTC instant.'),
    entered: textOrNull(
      'The same, if its name is more than 36 hours older; null where the name is the truth.',
    ),
    manifest_sha256: text('Digest of its manifest.'),
    is_served: flag('Whether the newest entry of the pointer log names it.'),
    is_removed: flag('Whether its files were removed: they answer 410. Known within an hour of the removal.'),
    history_restated: flag('Whether it alters history that the version before had published.'),
  })

/** Asks the list of versions for the one that was in force on a day: `?as_of=2026-11-21`. */
const versionsQuery = {
  as_of: dayParameter('A day: leads to the dataset of the version that was served at its end (UTC).'),
  format: formatParameter(['json', 'csv']),
}

const VERSIONS_OTHERS = othersThan(Object.keys(versionsQuery))

type Read = { readonly query: Parameters; readonly formats: readonly Format[] }

export type InfrastructureRoute = Omit<Route<'infrastructure', Handler>, 'query'> & Read

type Definition = Omit<InfrastructureRoute, 'method' | 'group' | keyof Read> & Partial<Read>

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
    handler: c => {
      const strategy_count = c.get('served')?.snapshot.strategies.length ?? 0
      const data = { status: 'ok', strategy_count } satisfies ValueOf<ReturnType<typeof health>>
      const links = { self: '/healthz', readyz: '/readyz', version: '/version' }
      return sendLive(c, { data, links }, CACHING.never)
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
      const data = assertReady(c.get('served') ?? null, parts)
      const links = { self: '/readyz', healthz: '/healthz', version: '/version' }
      return sendLive(c, { data, links }, CACHING.never)
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
    handler: c => {
      const served = c.get('served')
      const dataset = served?.snapshot.dataset
      const data = {
        api_version: API_VERSION,
        stability: 'stable',
        dataset_version: dataset?.version ?? null,
        history_restated: dataset?.history_restated ?? null,
        generated_utc: dataset === undefined ? null : effectiveInstant(dataset),
        window: dataset?.window ?? { from: null, to: null },
        max_modelled_risk_pct: dataset?.max_modelled_risk_pct ?? null,
      } satisfies ValueOf<ReturnType<typeof version>>
      const links: Links = {
        self: '/version',
        dataset: '/v1/dataset',
        versions: '/v1/dataset/versions',
        strategies: '/v1/strategies',
      }
      // Weak: `meta` has the time, so the bytes differ while the answer is the same.
      const etag = `W/"${served?.version ?? 'none'}"`
      return sendLive(c, { data, links }, CACHING.pointer, { etag })
    },
  }),
  infrastructureRoute({
    id: 'versions',
    path: '/v1/dataset/versions',
    title: 'Published versions',
    about: 'All published versions, newest first; with `as_of` the way to the one that was served on a day.',
    query: versionsQuery,
    formats: ['json', 'csv'],
    data: () => list('Every version that was published, newest first.', publishedVersion()),
    statuses: [200, 304, 307],
    refusals: ['not_found', 'not_ready'],
    handler: (c, parts) => {
      const { as_of, format } = parseQuery(versionsQuery, queryOf(c), VERSIONS_OTHERS)
      const history = assertKnown(parts.source.history())
      return as_of === null
        ? listVersions(c, history, format)
        : redirect(c, pinnedPath(versionOn(history, as_of), '/v1/dataset'), CACHING.pointer)
    },
  }),
]

/** Throws `not_ready` with the checks while there is nothing to serve, or while the process is shutting down. */
function assertReady(served: ServedVersion | null, { source, clock, isDraining }: HistoryParts) {
  const checks = source.checks()
  if (served === null || isDraining()) {
    const missing = 'no dataset is loaded that passes its integrity checks'
    const why = isDraining() ? 'the process is shutting down' : missing
    throw new ApiError('not_ready', why, { details: { checks } })
  }
  const age = Math.max(0, Math.floor((clock.now() - Date.parse(served.version)) / 1000))
  const answer = { ready: true, checks, dataset_age_seconds: age, unfit_version: source.unfitVersion() }
  return answer satisfies ValueOf<ReturnType<typeof readiness>>
}

function listVersions(c: Exchange, { log, publications }: History, format: Format): Response {
  const removed = publications.filter(({ is_removed }) => is_removed).map(({ version }) => version)
  const answer = {
    data: publications.map(publication => ({ ...publication })),
    links: { self: '/v1/dataset/versions', dataset: '/v1/dataset', version: '/version' },
    ...(format === 'csv' ? { table: versionTable(publications) } : {}),
  }
  // Weak: `meta` has the time, so the bytes differ while the answer is the same.
  const states = [log.at(-1)?.sha256, c.get('served')?.version, ...removed].join(' ')
  const etag = `W/"${sha256(states).slice(0, 32)}"`
  return sendLive(c, answer, CACHING.pointer, { etag })
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
