import { ApiError } from '#core/contract/errors.ts'
import {
  type Format,
  type HistoryQuery,
  type Parameters,
  type Params,
  pickParameters,
  type QueryName,
} from '#core/contract/parameters.ts'
import type { MetaExtra } from '#core/contract/register.ts'
import { getRoute, type Route } from '#core/contract/route.ts'
import type { Json } from '../render/json.ts'
import type { Table } from '../render/table.ts'
import { type Snapshot, type StrategyData, strategyOf } from '../snapshot.ts'

/** The routes that are functions of the dataset. */
export type ResourceId =
  | 'strategies'
  | 'summary'
  | 'dataset'
  | 'correlation'
  | 'export'
  | 'benchmark'
  | 'strategy'
  | 'stats'
  | 'returns'
  | 'curve'
  | 'rolling'
  | 'trades'

/** What a resource answers: a payload, what it adds to `meta`, and its rows if it has a table. */
export type Answer = {
  readonly data: Json
  readonly meta: MetaExtra
  readonly table?: Table
}

/**
 * A resource is a pure function of a dataset and its parameters. The static build evaluates it at every
 * canonical point, the tier at all others; neither adds anything. Throws `not_found` for an unknown strategy.
 */
export type Resource = (snapshot: Snapshot, params: Params) => Answer

/** A route whose answer is a function of the dataset: of the whole book, or of the strategy in its path. */
export type DatasetRoute = Omit<Route<'book' | 'strategy', Resource>, 'query'> & {
  readonly id: ResourceId
  readonly about: string
  readonly query: HistoryQuery & Parameters
  readonly formats: readonly Format[]
  /** Always computed on demand: none of its answers is a file. */
  readonly isComputed?: true
}

type Definition = Pick<DatasetRoute, 'id' | 'path' | 'title' | 'about' | 'data' | 'handler'> &
  Partial<Pick<DatasetRoute, 'refusals' | 'example' | 'isComputed'>> & {
    readonly parameters?: readonly Exclude<QueryName, 'format'>[]
    readonly formats?: readonly [Format, ...Format[]]
  }

/** A route with what all of them have in common; one of more than one format takes the parameter `format`. */
export function datasetRoute({
  parameters = [],
  formats = ['json'],
  ...definition
}: Definition): DatasetRoute {
  const names = formats.length === 1 ? parameters : [...parameters, 'format' as const]
  return {
    ...getRoute(definition),
    group: definition.path.includes('{sid}') ? 'strategy' : 'book',
    query: pickParameters(names, formats),
    formats,
    statuses: [200, 304],
    refusals: ['not_ready', ...(definition.refusals ?? [])],
  }
}

/** The strategy of an id. Throws `not_found` with the message that the specification gives. */
export function findStrategy(snapshot: Snapshot, id: string): StrategyData {
  const strategy = strategyOf(snapshot, id)
  if (strategy === null) throw unknownStrategy(id)
  return strategy
}

/** The refusal of an id that names no strategy. */
export const unknownStrategy = (id: string): ApiError =>
  new ApiError('not_found', `unknown strategy '${id.slice(0, LONGEST_ECHO)}'`)

/** An id has at most 64 characters; longer texts are cut. */
const LONGEST_ECHO = 64
