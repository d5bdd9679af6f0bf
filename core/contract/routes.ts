// The route table of the history service: what there is, what it accepts and what it answers. The app, the static
// build, the OpenAPI document and the tests all loop over it.
import { canonicalQuery, DEFAULT_PARAMS, FORMATS, type Params } from './parameters.ts'
import type { Route, RouteId } from './route.ts'

const JSON_ONLY = ['json'] as const
const JSON_OR_CSV = ['json', 'csv'] as const

export const ROUTES: readonly Route[] = [
  {
    id: 'healthz',
    path: '/healthz',
    kind: 'infrastructure',
    title: 'Liveness',
    about: 'Answers 200 as long as the process lives, with or without a dataset.',
    query: [],
    formats: JSON_ONLY,
    refusals: [],
  },
  {
    id: 'readyz',
    path: '/readyz',
    kind: 'infrastructure',
    title: 'Readiness',
    about:
      'Answers 200 when a dataset is loaded and its integrity checks hold, else 503 with the checks in details.',
    query: [],
    formats: JSON_ONLY,
    refusals: ['not_ready'],
  },
  {
    id: 'version',
    path: '/version',
    kind: 'infrastructure',
    title: 'Versions',
    about:
      'Version of the interface and of the dataset that is served now. Poll this to learn of a new dataset.',
    query: [],
    formats: JSON_ONLY,
    refusals: [],
  },
  {
    id: 'versions',
    path: '/v1/dataset/versions',
    kind: 'infrastructure',
    title: 'Published versions',
    about: 'All published versions, newest first; with `as_of` the way to the one that was served on a day.',
    query: [],
    formats: JSON_ONLY,
    refusals: ['not_found', 'validation_error', 'not_ready'],
  },
  {
    id: 'strategies',
    path: '/v1/strategies',
    kind: 'book',
    title: 'Catalogue',
    about: 'All strategies with five headline figures each, in catalogue order.',
    query: [],
    formats: JSON_ONLY,
    refusals: ['not_ready'],
  },
  {
    id: 'summary',
    path: '/v1/summary',
    kind: 'book',
    title: 'Summary of the book',
    about: 'Coverage, the equal-weight book and how far the strategies are different bets.',
    query: [],
    formats: JSON_ONLY,
    refusals: ['not_ready'],
  },
  {
    id: 'dataset',
    path: '/v1/dataset',
    kind: 'book',
    title: 'Dataset',
    about: 'What the dataset is made of and which version it is.',
    query: [],
    formats: JSON_ONLY,
    refusals: ['not_ready'],
  },
  {
    id: 'correlation',
    path: '/v1/correlation',
    kind: 'book',
    title: 'Correlation matrix',
    about: 'Pearson correlation of daily or weekly returns, of all strategies or of a subset.',
    query: ['period', 'ids'],
    formats: JSON_ONLY,
    refusals: ['not_found', 'validation_error', 'not_ready', 'overloaded'],
  },
  {
    id: 'export',
    path: '/v1/export',
    kind: 'book',
    title: 'Export',
    about:
      'The returns of all strategies side by side, whole or from one date to another, as JSON with their correlation or as CSV, Arrow or Parquet.',
    query: ['period', 'risk_pct', 'from', 'to', 'format'],
    formats: FORMATS,
    refusals: ['validation_error', 'not_ready', 'overloaded'],
  },
  {
    id: 'strategy',
    path: '/v1/strategies/{sid}',
    kind: 'strategy',
    title: 'Strategy',
    about: 'Everything about a strategy but its figures.',
    query: [],
    formats: JSON_ONLY,
    refusals: ['not_found', 'not_ready'],
  },
  {
    id: 'stats',
    path: '/v1/strategies/{sid}/stats',
    kind: 'strategy',
    title: 'Statistics',
    about: 'The statistics of a strategy at any risk level, and the due diligence block at base risk.',
    query: ['risk_pct'],
    formats: JSON_ONLY,
    refusals: ['not_found', 'validation_error', 'not_ready'],
  },
  {
    id: 'returns',
    path: '/v1/strategies/{sid}/returns',
    kind: 'strategy',
    title: 'Returns',
    about: 'Daily or weekly returns, whole or from one date to another, at any risk level.',
    query: ['period', 'risk_pct', 'from', 'to', 'format'],
    formats: JSON_OR_CSV,
    refusals: ['not_found', 'validation_error', 'not_ready'],
  },
  {
    id: 'curve',
    path: '/v1/strategies/{sid}/curve',
    kind: 'strategy',
    title: 'Equity curve',
    about: 'The daily equity, compounded from 1.0, at any risk level.',
    query: ['risk_pct', 'format'],
    formats: JSON_OR_CSV,
    refusals: ['not_found', 'validation_error', 'not_ready'],
  },
  {
    id: 'trades',
    path: '/v1/strategies/{sid}/trades',
    kind: 'strategy',
    title: 'Trades',
    about: 'The outcomes of all closed trades.',
    query: ['format'],
    formats: FORMATS,
    refusals: ['not_found', 'validation_error', 'not_ready'],
  },
]

const BY_ID = new Map(ROUTES.map(route => [route.id, route]))

/** The route of an id. */
export function routeOf(id: RouteId): Route {
  const route = BY_ID.get(id)
  if (route === undefined) throw new Error(`no route '${id}' in the table`)
  return route
}

/** The one path and query of an answer: parameters sorted and printed canonically, defaults left out. */
export function canonicalPath(id: RouteId, params: Params): string {
  const route = routeOf(id)
  const path = route.path.replace('{sid}', params.sid)
  const query = canonicalQuery(route.query, params)
  return query === '' ? path : `${path}?${query}`
}

/** The parameters of every canonical point of a route: the points that are files. */
export function canonicalPoints(route: Route, ids: readonly string[]): Params[] {
  if (route.kind === 'infrastructure') return []
  const sids = route.kind === 'strategy' ? ids : ['']
  const periods = route.query.includes('period') ? (['daily', 'weekly'] as const) : (['daily'] as const)
  return sids.flatMap(sid =>
    periods.flatMap(period => route.formats.map(format => ({ ...DEFAULT_PARAMS, sid, period, format }))),
  )
}
