import type { Route, RouteId } from '#core/contract/route.ts'
import { isResource, type ResourceId } from '#core/dataset/resources/render-answer.ts'
import { CACHING } from '../http/shared-headers.ts'
import { latestHandler, pinnedHandler } from './answers/answer-resource.ts'
import { type Handler, sendLive } from './exchange.ts'
import { health, readiness, versions } from './infrastructure.ts'
import { listVersions } from './version-list.ts'

/** The handler of a route of the table. */
export function handlerOf(route: Route): Handler {
  const { id } = route
  return isResource(id) ? latestHandler(route, id) : INFRASTRUCTURE[id]
}

/** The handler of the twins of a route, null where it speaks of the process and has none. */
export function pinnedHandlerOf(route: Route): Handler | null {
  const { id } = route
  return isResource(id) ? pinnedHandler(route, id) : null
}

const INFRASTRUCTURE: { readonly [Id in Exclude<RouteId, ResourceId>]: Handler } = {
  healthz: (c, parts) => sendLive(c, parts, health(c.get('served')), CACHING.never),
  readyz: (c, parts) => {
    const { source, clock, isDraining } = parts
    const known = { checks: source.checks(), unfitVersion: source.unfitVersion() }
    const answer = readiness(c.get('served'), known, isDraining(), clock.now())
    return sendLive(c, parts, answer, CACHING.never)
  },
  version: (c, parts) => {
    const served = c.get('served')
    // Weak: the register tells the time, so the bytes differ while the answer is the same.
    return sendLive(c, parts, versions(served), CACHING.pointer, `W/"${served?.version ?? 'none'}"`)
  },
  versions: listVersions,
}
