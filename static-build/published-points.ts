import type { Params } from '#core/contract/parameters.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { Point } from './render-point.ts'

/** A point and how much is in its answer: cells, near enough to share out the work. */
export type SizedPoint = Point & { readonly cells: number }

/**
 * Every canonical point of a snapshot, those with the largest answers first: threads that share the work end
 * together when the last pieces are small. Equal sizes keep the order of the route table and the catalogue.
 */
export function publishedPoints(snapshot: Snapshot): SizedPoint[] {
  const byId = new Map(snapshot.strategies.map(strategy => [strategy.id, strategy]))
  const points = DATASET_ROUTES.flatMap(route =>
    canonicalPoints(route, [...byId.keys()]).map(params => ({ id: route.id, params })),
  )
  const sized = points.map(point => {
    const strategy = byId.get(point.params.sid) ?? null
    return { ...point, cells: CELLS[point.id](snapshot, strategy, point.params) }
  })
  return sized.sort((a, b) => b.cells - a.cells)
}

type Cells = (snapshot: Snapshot, strategy: StrategyData | null, params: Params) => number

const FIGURES = 150
const RECORD = 20
const DATED_VALUE = 2
const TRADE = 6

/** Rows times columns of each answer, near enough to distinguish a large one from a small one. */
const CELLS: { readonly [Id in ResourceId]: Cells } = {
  strategies: ({ strategies }) => RECORD * strategies.length,
  summary: () => RECORD,
  dataset: ({ strategies }) => strategies.length,
  correlation: ({ strategies }) => strategies.length ** 2,
  export: ({ strategies }, _strategy, { period }) =>
    strategies.reduce((cells, { [period]: series }) => cells + series.values.length, 0),
  benchmark: ({ benchmarks }) => benchmarks.reduce((cells, { daily }) => cells + daily.values.length, 0),
  strategy: () => RECORD,
  stats: () => FIGURES,
  returns: (_snapshot, strategy, { period }) => DATED_VALUE * (strategy?.[period].values.length ?? 0),
  curve: (_snapshot, strategy) => DATED_VALUE * (strategy?.daily.values.length ?? 0),
  rolling: () => 0, // no file
  trades: (_snapshot, strategy) => TRADE * (strategy?.trades.entry_time.length ?? 0),
}
