import { versionFolder } from '#core/contract/artifacts.ts'
import type { Params } from '#core/contract/parameters.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { ASSETS } from '#pages/assets.ts'
import { publishedPages } from '#pages/page-routes.ts'
import type { Point } from './render-point.ts'

/** A point and how much is in its answer: cells, near enough to share out the work. */
export type SizedPoint = Point & { readonly cells: number }

/**
 * Every canonical point of a snapshot, those with the largest answers first: threads that share the work end
 * together when the last pieces are small. Equal sizes keep the order of the route table and the catalogue.
 */
export function publishedPoints(snapshot: Snapshot): SizedPoint[] {
  const byId = new Map(snapshot.strategies.map(strategy => [strategy.id, strategy]))
  const answers = DATASET_ROUTES.flatMap(route =>
    canonicalPoints(route, [...byId.keys()]).map((params): SizedPoint => {
      const cells = CELLS[route.id](snapshot, byId.get(params.sid) ?? null, params)
      return { kind: 'answer', id: route.id, params, cells }
    }),
  )
  const pages = publishedPages([...byId.keys()]).map(
    ({ route, sid }): SizedPoint => ({ kind: 'page', id: route.id, sid, cells: PAGE }),
  )
  const assets = ASSETS.map(({ name }): SizedPoint => ({ kind: 'asset', name, cells: RECORD }))
  return [...answers, ...pages, ...assets].sort((a, b) => b.cells - a.cells)
}

/** The strategy that a point is about, or '' if it is about the book: a part of a snapshot has all points of its strategy. */
export function sidOf(point: Point): string {
  if (point.kind === 'asset') return ''
  return point.kind === 'page' ? point.sid : point.params.sid
}

export const strategyFolder = (version: string, id: string): string =>
  `${versionFolder(version)}/strategies/${id}`

type Cells = (snapshot: Snapshot, strategy: StrategyData | null, params: Params) => number

const FIGURES = 150
const RECORD = 20
const DATED_VALUE = 2
const TRADE = 6
/** A page takes as long as the returns of ten years. */
const PAGE = 7000

/** Rows times columns of each answer, near enough to distinguish a large one from a small one. */
const CELLS: { readonly [Id in ResourceId]: Cells } = {
  strategies: ({ strategies }) => RECORD * strategies.length,
  summary: () => RECORD,
  dataset: ({ strategies }) => strategies.length,
  correlation: ({ strategies }) => strategies.length ** 2,
  export: ({ strategies }, _strategy, { period }) =>
    strategies.reduce((cells, { [period]: series }) => cells + series.values.length, 0),
  benchmark: snapshot => DATED_VALUE * daysOf(snapshot) * (snapshot.benchmarks.length + 1), // the equal-weight book, too
  strategy: () => RECORD,
  stats: () => FIGURES,
  returns: (_snapshot, strategy, { period }) => DATED_VALUE * (strategy?.[period].values.length ?? 0),
  curve: (_snapshot, strategy) => DATED_VALUE * (strategy?.daily.values.length ?? 0),
  rolling: () => 0, // no file
  trades: (_snapshot, strategy) => TRADE * (strategy?.trades.entry_time.length ?? 0),
}

const daysOf = ({ strategies }: Snapshot): number =>
  Math.max(0, ...strategies.map(({ daily }) => daily.values.length))
