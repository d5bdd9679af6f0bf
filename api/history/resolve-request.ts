import { ApiError } from '#core/contract/errors.ts'
import { type Params, parseParams } from '#core/contract/parameters.ts'
import type { Route } from '#core/contract/route.ts'
import { findStrategy } from '#core/dataset/resources/find-strategy.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'

/**
 * What a request asks for, in the canonical form. Refuses in the order of the contract: an unknown strategy in the
 * path, then every unfit parameter at once, then an unknown id in `ids`.
 */
export function resolveRequest(
  route: Route,
  snapshot: Snapshot,
  sid: string,
  query: URLSearchParams,
): Params {
  if (route.kind === 'strategy') findStrategy(snapshot, sid)
  const { params, problems } = parseParams(route.query, route.formats, query)
  if (problems.length > 0) {
    const names = [...new Set(problems.map(({ param }) => param))].join(', ')
    throw new ApiError('validation_error', `unfit query parameters: ${names}`, { details: problems })
  }
  for (const id of params.ids ?? []) findStrategy(snapshot, id)
  return { ...params, sid, ids: canonicalIds(snapshot, params.ids) }
}

/** Naming every strategy in catalogue order is the same as naming none. */
function canonicalIds({ strategies }: Snapshot, ids: readonly string[] | null): readonly string[] | null {
  if (ids === null || ids.length !== strategies.length) return ids
  return strategies.every(({ id }, i) => id === ids[i]) ? null : ids
}
