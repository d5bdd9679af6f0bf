import { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import type { Route } from '#core/contract/route.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { corsHeaders, preflightHeaders } from '../cors.ts'
import { COMMON_HEADERS, METHODS } from '../shared-headers.ts'
import { createDocumentHandler } from './document.ts'
import { type Exchange, type Handler, type HistoryEnv, type HistoryParts, sendError } from './exchange.ts'
import { handlerOf } from './handlers.ts'
import { createIndexHandler } from './index-handler.ts'

/** A longer address is refused: the longest legal one, a subset of a hundred ids, stays far below. */
const LONGEST_URL = 8192

/** The history service as a Hono app: every route of the table, and the refusals of everything else. */
export function createHistoryApp(parts: HistoryParts): Hono<HistoryEnv> {
  const app = new Hono<HistoryEnv>()
  app.use(async (c, next) => {
    c.set('startedMs', parts.clock.elapsed())
    c.set('served', parts.source.current())
    await next()
  })
  for (const route of ROUTES) mount(app, parts, toPattern(route), handlerOf(route))
  mount(app, parts, '/', createIndexHandler())
  mount(app, parts, '/openapi.json', createDocumentHandler(parts.settings))
  app.notFound(c => sendError(c, parts, new ApiError('not_found', 'no such path; / lists what there is')))
  app.onError((error, c) => sendError(c, parts, error))
  return app
}

const toPattern = ({ path }: Route): string => path.replace('{sid}', ':sid')

/** One path with all its methods: GET (and with it HEAD) answers, OPTIONS tells, anything else is refused. */
function mount(app: Hono<HistoryEnv>, parts: HistoryParts, pattern: string, handler: Handler): void {
  app.get(pattern, c => {
    assertUrlLength(c)
    return handler(c, parts)
  })
  app.options(pattern, c => tellOptions(c, parts))
  app.all(pattern, () => {
    throw new ApiError('method_not_allowed', `this path answers ${METHODS}`, { headers: { allow: METHODS } })
  })
}

function assertUrlLength(c: Exchange): void {
  if (c.req.url.length <= LONGEST_URL) return
  throw new ApiError('uri_too_long', `the address is longer than ${LONGEST_URL} characters`)
}

function tellOptions(c: Exchange, { settings }: HistoryParts): Response {
  const cors = corsHeaders(settings.allowedOrigins, c.req.header('origin'))
  const isAllowed = Object.keys(cors).length > 0
  const preflight = isAllowed ? preflightHeaders(c.req.header('access-control-request-headers')) : {}
  return new Response(null, {
    status: 204,
    headers: { ...COMMON_HEADERS, allow: METHODS, ...cors, ...preflight },
  })
}
