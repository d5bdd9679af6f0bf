import type { RouteId } from '#core/contract/route.ts'
import type { Resource } from './answer.ts'
import { correlation } from './correlation.ts'
import { curve } from './curve.ts'
import { dataset } from './dataset.ts'
import { exportAll } from './export.ts'
import { returns } from './returns.ts'
import { stats } from './stats.ts'
import { strategies } from './strategies.ts'
import { strategy } from './strategy.ts'
import { summary } from './summary.ts'
import { trades } from './trades.ts'

/** The routes that are functions of the dataset. */
export type ResourceId = Exclude<RouteId, 'healthz' | 'readyz' | 'version' | 'versions'>

export const RESOURCES: { readonly [Id in ResourceId]: Resource } = {
  strategies,
  summary,
  dataset,
  correlation,
  export: exportAll,
  strategy,
  stats,
  returns,
  curve,
  trades,
}

export const isResource = (id: RouteId): id is ResourceId => id in RESOURCES
