import { ApiError } from '#core/contract/errors.ts'
import { DEFAULT_PARAMS, type Params } from '#core/contract/parameters.ts'
import type { Links, MetaExtra } from '#core/contract/register.ts'
import type { RouteId } from '#core/contract/route.ts'
import { canonicalPath } from '#core/contract/routes.ts'
import type { Json } from '../render/json.ts'
import type { Table } from '../render/table.ts'
import { type Snapshot, type StrategyData, strategyOf } from '../snapshot.ts'

/** What a resource answers: a payload, what it adds to the register, its relations, and its rows where CSV exists. */
export type Answer = {
  readonly data: Json
  readonly meta: MetaExtra
  readonly links: Links
  readonly table?: Table
}

/**
 * A resource is a pure function of a dataset and its parameters. The static build evaluates it at every canonical
 * point, the thin tier at all others; neither adds anything. Throws ApiError `not_found` for an unknown strategy.
 */
export type Resource = (snapshot: Snapshot, params: Params) => Answer

/** The strategy of an id. Throws `not_found` with the message that the specification gives. */
export function findStrategy(snapshot: Snapshot, id: string): StrategyData {
  const strategy = strategyOf(snapshot, id)
  if (strategy === null) throw unknownStrategy(id)
  return strategy
}

/** The refusal of an id that names no strategy. */
export const unknownStrategy = (id: string): ApiError =>
  new ApiError('not_found', `unknown strategy '${id.slice(0, LONGEST_ECHO)}'`)

/** An id is 64 characters at the most; whatever else came in its place is not repeated whole. */
const LONGEST_ECHO = 64

const BOOK_ROUTES = ['strategies', 'summary', 'dataset', 'correlation', 'export'] as const
const STRATEGY_ROUTES = ['strategy', 'stats', 'returns', 'curve', 'trades'] as const

/** `self` and the other resources that speak of the whole book. */
export const bookLinks = (id: RouteId, params: Params): Links => ({
  self: canonicalPath(id, params),
  ...siblings(BOOK_ROUTES, id, DEFAULT_PARAMS),
})

/** `self`, the other resources of the same strategy, and the way back to the catalogue. */
export const strategyLinks = (id: RouteId, params: Params): Links => ({
  self: canonicalPath(id, params),
  ...siblings([...STRATEGY_ROUTES, 'strategies'], id, { ...DEFAULT_PARAMS, sid: params.sid }),
})

const siblings = (ids: readonly RouteId[], self: RouteId, params: Params): Links =>
  Object.fromEntries(ids.filter(id => id !== self).map(id => [id, canonicalPath(id, params)]))
