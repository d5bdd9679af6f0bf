// The table of the routes that are functions of the dataset, and the points that are published as files.
import { canonicalUrl, DEFAULT_PARAMS, type Params } from '#core/contract/parameters.ts'
import type { Links } from '#core/contract/register.ts'
import { correlation } from './correlation.ts'
import { benchmark, exportAll } from './export.ts'
import { live } from './live.ts'
import type { DatasetRoute, ResourceId } from './resource.ts'
import { curve, returns } from './returns.ts'
import { risk } from './risk.ts'
import { rolling } from './rolling.ts'
import { stats } from './stats.ts'
import { dataset, strategies, strategy } from './strategies.ts'
import { summary } from './summary.ts'
import { trades } from './trades.ts'

const BY_ID: { readonly [Id in ResourceId]: DatasetRoute } = {
  strategies,
  summary,
  dataset,
  correlation,
  export: exportAll,
  benchmark,
  strategy,
  stats,
  returns,
  curve,
  rolling,
  risk,
  trades,
  live,
}

export const DATASET_ROUTES: readonly DatasetRoute[] = Object.values(BY_ID)

export const routeOf = (id: ResourceId): DatasetRoute => BY_ID[id]

const pathOf = (id: ResourceId, sid: string): string => routeOf(id).path.replace('{sid}', sid)

/** The one path and query of an answer: parameters sorted and printed canonically, defaults left out. */
export const canonicalPath = (id: ResourceId, params: Params): string =>
  canonicalUrl(pathOf(id, params.sid), routeOf(id).query, params)

/** The parameters of every canonical point of a route: the points that are files. */
export function canonicalPoints({ group, query, published }: DatasetRoute, ids: readonly string[]): Params[] {
  const sids = group === 'strategy' ? ids : ['']
  const periods = 'period' in query ? (['daily', 'weekly'] as const) : (['daily'] as const)
  return sids.flatMap(sid =>
    periods.flatMap(period => published.map(format => ({ ...DEFAULT_PARAMS, sid, period, format }))),
  )
}

/** `self` and the other resources of the book, or of the same strategy with a link to the catalogue. */
export function linksOf({ id, group }: DatasetRoute, params: Params): Links {
  const ids = DATASET_ROUTES.filter(route => route.group === group).map(route => route.id)
  const others = (group === 'book' ? ids : [...ids, 'strategies' as const]).filter(other => other !== id)
  return {
    self: canonicalPath(id, params),
    ...Object.fromEntries(others.map(other => [other, pathOf(other, params.sid)])),
  }
}
