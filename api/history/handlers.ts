import { ApiError } from '#core/contract/errors.ts'
import type { Route, RouteId } from '#core/contract/route.ts'
import { canonicalPath } from '#core/contract/routes.ts'
import { isResource, type ResourceId } from '#core/resources/resources.ts'
import { CACHING } from '../shared-headers.ts'
import { type Exchange, type Handler, type HistoryParts, sendLive, sendReady } from './exchange.ts'
import { health, readiness, versions } from './infrastructure.ts'
import type { ReadyAnswer } from './ready-answer.ts'
import { resolveRequest } from './resolve-request.ts'
import type { ServedVersion } from './served-version.ts'

/** The handler of a route of the table. */
export function handlerOf(route: Route): Handler {
  const { id } = route
  return isResource(id) ? (c, parts) => answerResource(c, parts, route, id) : INFRASTRUCTURE[id]
}

const INFRASTRUCTURE: { readonly [Id in Exclude<RouteId, ResourceId>]: Handler } = {
  healthz: (c, parts) => sendLive(c, parts, health(c.get('served')), CACHING.never),
  readyz: (c, parts) => {
    const { source, clock, isDraining } = parts
    const answer = readiness(c.get('served'), source.checks(), isDraining(), clock.now())
    return sendLive(c, parts, answer, CACHING.never)
  },
  version: (c, parts) => {
    const served = c.get('served')
    // Weak: the register tells the time, so the bytes differ while the answer is the same.
    return sendLive(c, parts, versions(served), CACHING.pointer, `W/"${served?.version ?? 'none'}"`)
  },
}

/** A dataset answer: the published file where the request is at a canonical point, else computed. */
async function answerResource(
  c: Exchange,
  parts: HistoryParts,
  route: Route,
  id: ResourceId,
): Promise<Response> {
  const served = c.get('served')
  if (served === null) {
    throw new ApiError('not_ready', 'no dataset is loaded yet', {
      details: { checks: parts.source.checks() },
    })
  }
  const answer =
    (await readSpelledOut(c, parts, served)) ?? (await resolveAndRead(c, parts, served, route, id))
  return sendReady(c, parts, answer, CACHING.dataset)
}

/** Nearly every request spells a published path letter by letter, and needs no parsing at all. */
async function readSpelledOut(
  c: Exchange,
  parts: HistoryParts,
  served: ServedVersion,
): Promise<ReadyAnswer | null> {
  const artifact = served.artifacts.get(spelledPath(c))
  return artifact === undefined ? null : parts.published.read(artifact, c.req.header('accept-encoding'))
}

/** Path and query as they came, without parsing the address. */
const spelledPath = ({ req: { url } }: Exchange): string => url.slice(url.indexOf('/', url.indexOf('//') + 2))

async function resolveAndRead(
  c: Exchange,
  parts: HistoryParts,
  served: ServedVersion,
  route: Route,
  id: ResourceId,
): Promise<ReadyAnswer> {
  const query = new URL(c.req.url).searchParams
  const params = resolveRequest(route, served.snapshot, c.req.param('sid') ?? '', query)
  const accept = c.req.header('accept-encoding')
  const canonical = canonicalPath(id, params)
  const isTried = canonical === spelledPath(c) // and its file is lost: reading it again would only tell so twice
  const artifact = isTried ? undefined : served.artifacts.get(canonical)
  const published = artifact === undefined ? null : await parts.published.read(artifact, accept)
  return published ?? parts.computed.compute(served, id, params, accept)
}
