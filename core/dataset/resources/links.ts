import { DEFAULT_PARAMS, type Params } from '#core/contract/parameters.ts'
import type { Links } from '#core/contract/register.ts'
import type { RouteId } from '#core/contract/route.ts'
import { canonicalPath } from '#core/contract/routes.ts'

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
