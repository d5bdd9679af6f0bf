// The preview: open to everybody, web pages too, and counted by the address that asks.
import type { MiddlewareHandler } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { PROGRAM_PATHS } from '#core/contract/program-query.ts'
import type { PreviewRouteId, SignalsRoute } from '#core/contract/signals-route.ts'
import {
  type Allowance,
  type LimitName,
  PREVIEW_LIMITS,
  WINDOW_SECONDS,
} from '#signals/program/preview-limits.ts'
import { corsHeaders, preflightHeaders } from '../../http/cors.ts'
import { matchesEtag } from '../../http/etag.ts'
import { CACHING } from '../../http/shared-headers.ts'
import {
  answerHeaders,
  type OpenHandler,
  type ServedParts,
  type SignalsEnv,
  type SignalsParts,
  sendError,
  sendPublished,
} from '../exchange.ts'
import { keylessSimulation } from './simulate.ts'

/** `GET /v1/program/preview`: the published record, from memory. */
const preview: OpenHandler = (c, parts) => {
  const { documents, previewEtag: etag } = parts.servedProgram()
  const caching = { etag, 'cache-control': CACHING.preview }
  if (matchesEtag(c.req.header('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { ...answerHeaders(parts), ...caching } })
  }
  const links = { self: PROGRAM_PATHS.preview, simulate: PROGRAM_PATHS.previewSimulate }
  return sendPublished(c, parts, documents.preview, links, caching)
}

/** The handlers of the preview, and what each counts as. */
export const PREVIEW_HANDLERS: {
  readonly [Id in PreviewRouteId]: { readonly limit: LimitName; readonly handle: OpenHandler }
} = {
  program_preview: { limit: 'preview', handle: preview },
  preview_simulate: { limit: 'simulate', handle: keylessSimulation },
}

/** Answers for as long as the address is within its limit; of who is above it not even the body is read. */
export async function answerPreview(
  id: PreviewRouteId,
  address: string,
  c: Parameters<OpenHandler>[0],
  parts: ServedParts,
): Promise<Response> {
  const { limit, handle } = PREVIEW_HANDLERS[id]
  const allowance = await parts.limits(limit, address)
  const response = await answerWithin(allowance, () => handle(c, parts)).catch((error: unknown) =>
    sendError(c, parts, error),
  )
  for (const [name, value] of Object.entries(limitHeaders(allowance))) response.headers.set(name, value)
  return response
}

async function answerWithin(
  { isWithin, name, resetSeconds }: Allowance,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  if (isWithin) return answer()
  throw new ApiError(
    'rate_limited',
    `an address has ${PREVIEW_LIMITS[name]} of these requests in ${WINDOW_SECONDS} seconds: ask again in ${resetSeconds}`,
    { headers: { 'retry-after': String(resetSeconds) } },
  )
}

/** As draft-ietf-httpapi-ratelimit-headers spells them. */
const limitHeaders = ({ name, remaining, resetSeconds }: Allowance): Record<string, string> => ({
  'ratelimit-policy': `"${name}";q=${PREVIEW_LIMITS[name]};w=${WINDOW_SECONDS}`,
  ratelimit: `"${name}";r=${remaining};t=${resetSeconds}`,
})

/** Lets pages of the allowed origins read every answer of a path, refusals too, and tells browsers so who ask before. */
export const forPages = (
  { allowedOrigins }: SignalsParts,
  routes: readonly SignalsRoute[],
): MiddlewareHandler<SignalsEnv> => {
  const methods = routes.map(({ method }) => method).join(', ')
  return async (c, next) => {
    await next()
    const cors = corsHeaders(allowedOrigins, c.req.header('origin'))
    const isPreflight = c.req.method === 'OPTIONS' && Object.keys(cors).length > 0
    const more = isPreflight ? preflightHeaders(c.req.header('access-control-request-headers'), methods) : {}
    for (const [name, value] of Object.entries({ ...cors, ...more })) c.res.headers.set(name, value)
  }
}
