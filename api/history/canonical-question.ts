// Reading a canonical address without the app: what nearly every request for an answer at a risk level spells.
import { ApiError } from '#core/contract/errors.ts'
import type { Params } from '#core/contract/parameters.ts'
import type { Route } from '#core/contract/route.ts'
import { canonicalPath, ROUTES } from '#core/contract/routes.ts'
import { isResource, type ResourceId } from '#core/dataset/resources/resources.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { UNROUTED } from './answered.ts'
import { resolveRequest } from './resolve-request.ts'

/** A question about the dataset, in the one spelling that it has. */
export type CanonicalQuestion = { readonly id: ResourceId; readonly params: Params }

/** The template that an address follows, for who is told. */
export const templateOf = (address: string): string => matchRoute(address)?.route.path ?? UNROUTED

/** What an address asks for; null where it is refused, spelled otherwise, or not about the dataset. */
export function readCanonical(snapshot: Snapshot, address: string): CanonicalQuestion | null {
  const { route, sid } = matchRoute(address) ?? {}
  if (route === undefined || !isResource(route.id)) return null
  const params = resolved(route, snapshot, sid ?? '', new URLSearchParams(queryIn(address)))
  if (params === null || canonicalPath(route.id, params) !== address) return null
  return { id: route.id, params }
}

const ROUTE_PATTERNS = ROUTES.map(route => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '([^/?]+)')}(?:\\?|$)`),
}))

function matchRoute(address: string): { readonly route: Route; readonly sid: string | undefined } | null {
  for (const { route, pattern } of ROUTE_PATTERNS) {
    const found = pattern.exec(address)
    if (found !== null) return { route, sid: found[1] }
  }
  return null
}

const queryIn = (address: string): string => address.split('?', 2)[1] ?? ''

function resolved(route: Route, snapshot: Snapshot, sid: string, query: URLSearchParams): Params | null {
  try {
    return resolveRequest(route, snapshot, sid, query)
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
