import { ApiError } from '#core/contract/errors.ts'
import { didYouMean } from '#core/contract/near-miss.ts'
import {
  dayParameter,
  type Format,
  type HistoryQuery,
  type Others,
  type Parameters,
  type Params,
  pickParameters,
  QUERY_NAMES,
  type QueryName,
} from '#core/contract/parameters.ts'
import { AS_OF_PARAMETER, PIN_PARAMETER } from '#core/contract/pins.ts'
import type { MetaExtra } from '#core/contract/register.ts'
import { getRoute, type Route } from '#core/contract/route.ts'
import type { Json } from '../render/json.ts'
import type { Table } from '../render/table.ts'
import { type Snapshot, type StrategyData, strategyOf } from '../snapshot.ts'
import { compounded, noteAt, riskFactor, riskLevel, seriesRiskMeta } from './risk-level.ts'

/** The routes that are functions of the dataset: of the whole book, or of a strategy. */
export type ResourceId =
  | ('strategies' | 'summary' | 'dataset' | 'correlation' | 'export' | 'benchmark')
  | ('strategy' | 'stats' | 'returns' | 'curve' | 'rolling' | 'risk' | 'trades' | 'live')

/** What a resource answers: a payload, which may be its rows alone, and what it adds to `meta`. */
export type Answer = { readonly meta: MetaExtra } & (
  | { readonly data: Json; readonly table?: Table }
  | { readonly data?: never; readonly table: Table }
)

/**
 * A resource is a pure function of a dataset and its parameters. The static build evaluates it at every
 * canonical point, the tier at all others; neither adds anything. Throws `not_found` for an unknown strategy.
 */
export type Resource = (snapshot: Snapshot, params: Params) => Answer

/** A route whose answer is a function of the dataset: of the whole book, or of the strategy in its path. */
export type DatasetRoute = Omit<Route<'book' | 'strategy', Resource>, 'query'> & {
  readonly id: ResourceId
  readonly query: HistoryQuery & Parameters
  readonly formats: readonly Format[]
  /** The formats that are files at the canonical points; the others are computed on demand. */
  readonly published: readonly Format[]
  /** What it does with parameters that are not its own. */
  readonly others: Others
}

type Definition = Pick<DatasetRoute, 'id' | 'path' | 'title' | 'about' | 'data' | 'handler'> &
  Partial<Pick<DatasetRoute, 'refusals' | 'example' | 'published'>> & {
    readonly parameters?: readonly Exclude<QueryName, 'format'>[]
    readonly formats?: readonly [Format, ...Format[]]
    /** Nothing in the answer depends on the risk level, so `risk_pct` is ignored instead of refused. */
    readonly isRiskFree?: true
  }

/**
 * A route with what all of them have in common; one of more than one format takes the parameter `format`. The example of a
 * route is its path without a query, of the strategy `ash`, unless it has another.
 */
export function datasetRoute({
  parameters = [],
  formats = ['json'],
  isRiskFree,
  ...definition
}: Definition): DatasetRoute {
  const names = formats.length === 1 ? parameters : [...parameters, 'format' as const]
  return {
    published: formats,
    ...getRoute({ example: { path: definition.path.replace('{sid}', 'ash') }, ...definition }),
    others: othersThan(isRiskFree ? [...names, 'risk_pct'] : names),
    group: definition.path.includes('{sid}') ? 'strategy' : 'book',
    query: pickParameters(names, formats),
    formats,
    statuses: [200, 304],
    refusals: ['not_ready', 'validation_error', ...(definition.refusals ?? [])],
  }
}

/** What a route of the history service does with names other than these: any data route may name a version. */
export const othersThan = (names: readonly string[]): Others => {
  const all: Parameters = { ...pickParameters(QUERY_NAMES, ['json']), [AS_OF_PARAMETER]: dayParameter('') }
  return {
    taken: [PIN_PARAMETER],
    refused: Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name))),
  }
}

export const pick = <Of, const Name extends keyof Of>(of: Of, ...names: readonly Name[]): Pick<Of, Name> =>
  Object.fromEntries(names.map(name => [name, of[name]])) as Pick<Of, Name> // those names and no others

/** The strategy of an id. Throws `not_found` with the message that the specification gives. */
export function findStrategy(snapshot: Snapshot, id: string): StrategyData {
  const strategy = strategyOf(snapshot, id)
  if (strategy === null) throw unknownStrategy(snapshot, id)
  return strategy
}

/** The strategy that a request names, the level that it asks for, and the factor on the base returns at it. */
export function strategyAtLevel(snapshot: Snapshot, { sid, risk_pct }: Params) {
  const strategy = findStrategy(snapshot, sid)
  const level = riskLevel(risk_pct, snapshot.dataset.max_modelled_risk_pct)
  return { strategy, level, factor: riskFactor(level, strategy.base_risk_pct) }
}

type AtLevel = ReturnType<typeof strategyAtLevel>

/**
 * A resource of one strategy at a risk level: what `compute` answers, and behind its `meta` the levels and the note on method,
 * unless it gives one. Throws `not_found` for an unknown strategy, and `validation_error` if the equity is too large to be
 * published.
 */
export const atLevel =
  (note: string, compute: (at: AtLevel, snapshot: Snapshot, params: Params) => Answer): Resource =>
  (snapshot, params) => {
    const at = strategyAtLevel(snapshot, params)
    const { strategy, level } = at
    const answer = compounded(strategy, level, () => compute(at, snapshot, params))
    const { note: own = noteAt(level, note), ...facts } = answer.meta
    return { ...answer, meta: { ...facts, ...seriesRiskMeta(level, strategy.base_risk_pct), note: own } }
  }

/**
 * The refusal of an id that names no strategy. The specification gives the message, so the nearest id that there is stands
 * in the details.
 */
export function unknownStrategy({ strategies }: Snapshot, id: string): ApiError {
  const value = id.slice(0, 64) // an id has at most 64 characters; longer texts are cut
  const known = strategies.map(strategy => strategy.id)
  const reason = didYouMean(value, known, '')
  const details = reason === '' ? null : [{ param: 'sid', value, reason }]
  return new ApiError('not_found', `unknown strategy '${value}'`, { details })
}
