// The schema of `data` in the answer of each route. It stands apart from the table because a server never parses its own
// answers: the OpenAPI document and the tests do, and to make these schemas takes a tenth of a server's start.
import type { z } from 'zod'
import { dataset, health, readiness, summary, version, versionList } from './payloads/book.ts'
import { correlationMatrix, curvePoints, exportTable, returnPoints, trades } from './payloads/series.ts'
import { stats } from './payloads/stats.ts'
import { strategyList, strategyMetadata } from './payloads/strategy.ts'
import type { RouteId } from './route.ts'

export const ROUTE_DATA: { readonly [Id in RouteId]: z.ZodType } = {
  healthz: health,
  readyz: readiness,
  version,
  versions: versionList,
  strategies: strategyList,
  summary,
  dataset,
  correlation: correlationMatrix,
  export: exportTable,
  strategy: strategyMetadata,
  stats,
  returns: returnPoints,
  curve: curvePoints,
  trades,
}
