// The preview of the program: open to everybody, including web pages, and limited per address.
import type { MiddlewareHandler } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { programPreview, programSimulation } from '#core/contract/payloads/program.ts'
import { type Allowance, PREVIEW_LIMITS, WINDOW_SECONDS } from '#signals/program/preview-limits.ts'
import { type Exchange, notModified, type ServiceEnv, sendError } from '../../service/exchange.ts'
import { CACHING, corsHeaders, preflightHeaders } from '../../service/headers.ts'
import {
  type PreviewRoute,
  routesOf,
  type ServedParts,
  type SignalsParts,
  type SignalsRoute,
  sendPublished,
} from '../exchange.ts'
import { boundsText, KEYLESS_BOUNDS, simulate, simulationRequest } from '../program/simulate.ts'

const PREVIEW = '/v1/program/preview'
const SIMULATE = '/v1/program/preview/simulate'

export const PREVIEW_ROUTES = routesOf('preview', [
  {
    id: 'program_preview',
    path: PREVIEW,
    limit: 'preview',
    title: 'Preview',
    about: 'The accumulation program in one page, without a key.',
    data: programPreview,
    statuses: [200, 304],
    handler: (c, parts) => {
      const { documents, previewEtag: etag } = parts.servedProgram()
      const caching = { etag, 'cache-control': CACHING.preview }
      const known = notModified(c, etag, { ...c.get('service').headers(c), ...caching })
      return known ?? sendPublished(c, documents.preview, { self: PREVIEW, simulate: SIMULATE }, caching)
    },
  },
  {
    id: 'preview_simulate',
    method: 'POST',
    path: SIMULATE,
    limit: 'simulate',
    title: 'Simulate without a key',
    about: `The program on another equity and cadence. ${boundsText(KEYLESS_BOUNDS)}`,
    body: simulationRequest,
    data: programSimulation,
    example: { path: SIMULATE, body: { equity_usd: 10, contribution_cadence_bars: 14 } },
    handler: (c, parts) => simulate(c, parts, KEYLESS_BOUNDS, { self: SIMULATE, preview: PREVIEW }),
  },
])

/** Answers while the address is within its limit; above it not even the body is read. */
export async function answerPreview(
  { limit, handler }: Pick<PreviewRoute, 'limit' | 'handler'>,
  address: string,
  c: Exchange,
  parts: ServedParts,
): Promise<Response> {
  const allowance = await parts.limits(limit, address)
  const answer = async () => {
    if (!allowance.isWithin) throw tooMany(allowance)
    return handler(c, parts)
  }
  const response = await answer().catch((error: unknown) => sendError(c, error))
  for (const [name, value] of Object.entries(limitHeaders(allowance))) response.headers.set(name, value)
  return response
}

const tooMany = ({ name, resetSeconds }: Allowance): ApiError =>
  new ApiError(
    'rate_limited',
    `an address has ${PREVIEW_LIMITS[name]} of these requests in ${WINDOW_SECONDS} seconds: ask again in ${resetSeconds}`,
    { headers: { 'retry-after': String(resetSeconds) } },
  )

/** As in draft-ietf-httpapi-ratelimit-headers. */
const limitHeaders = ({ name, remaining, resetSeconds }: Allowance): Record<string, string> => ({
  'ratelimit-policy': `"${name}";q=${PREVIEW_LIMITS[name]};w=${WINDOW_SECONDS}`,
  ratelimit: `"${name}";r=${remaining};t=${resetSeconds}`,
})

export const forPages = (
  { allowedOrigins }: SignalsParts,
  routes: readonly SignalsRoute[],
): MiddlewareHandler<ServiceEnv> => {
  const methods = routes.map(({ method }) => method).join(', ')
  return async (c, next) => {
    await next()
    const cors =
      c.req.method === 'OPTIONS'
        ? preflightHeaders(allowedOrigins, c.req.raw.headers, methods)
        : corsHeaders(allowedOrigins, c.req.header('origin'))
    for (const [name, value] of Object.entries(cors)) c.res.headers.set(name, value)
  }
}
