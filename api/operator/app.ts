import { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { allowedMethods, byPath, toPattern } from '#core/contract/route.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import { assertScope } from '#signals/operators/tokens.ts'
import { assertUrlLength, refuseBadHost, tookMs } from '../http/exchange.ts'
import { type RunningServer, startServer } from '../http/http-server.ts'
import { API_VERSION } from '../signals/settings.ts'
import { audited } from './audited.ts'
import {
  answerHeaders,
  type Exchange,
  type OperatorEnv,
  readJson,
  sendAnswer,
  sendError,
} from './exchange.ts'
import { assertHost, createTokenCheck, operatorOf, type WhoseToken } from './guard.ts'
import type { OperatorRoute } from './operator-route.ts'
import { mountPage } from './page/mount.ts'
import type { OperatorParts } from './parts.ts'
import { OPERATOR_ROUTES, operatorDocument } from './routes.ts'

/**
 * The operator's interface as a Hono app: JSON below `/ops` with the token, the page at `/ops` with a session, and
 * without either `/healthz`, `/metrics`, which name no client, and `/openapi.json`.
 */
export function createOperatorApp(parts: OperatorParts): Hono<OperatorEnv> {
  const app = new Hono<OperatorEnv>()
  app.use(async (c, next) => {
    c.set('startedMs', parts.clock.elapsed())
    c.set('requestId', parts.newRequestId())
    await next()
    const ms = tookMs(c, parts.clock)
    const { method, routePath: route } = c.req
    parts.onAnswered({ requestId: c.get('requestId'), method, route, status: c.res.status, ms })
  })
  app.use(refuseBadHost)
  app.use(async (c, next) => {
    assertHost(c, parts)
    assertUrlLength(c.req.url)
    await next()
  })
  app.get('/healthz', c => sendAnswer(c, parts, { data: { status: 'ok' } }))
  app.get('/metrics', async c => {
    const { contentType, text } = await parts.metrics()
    return new Response(text, { headers: { ...answerHeaders(c), 'content-type': contentType } })
  })
  app.get('/openapi.json', c => new Response(OPENAPI, { headers: { ...answerHeaders(c), ...OPENAPI_MEDIA } }))
  const whoseToken = createTokenCheck(parts)
  mountPage(app, parts, whoseToken)
  for (const [path, routes] of byPath(OPERATOR_ROUTES)) mount(app, toPattern(path), routes, parts, whoseToken)
  app.notFound(c => sendError(c, parts, new ApiError('not_found', 'no such path; the page is at /ops')))
  app.onError((error, c) => sendError(c, parts, error))
  return app
}

const OPENAPI = renderJson(operatorDocument(API_VERSION) as Json) // zod makes plain JSON, and calls it unknown

const OPENAPI_MEDIA = { 'content-type': 'application/openapi+json; charset=utf-8' }

/** One path with all its methods. Authorisation comes before validation. */
function mount(
  app: Hono<OperatorEnv>,
  path: string,
  routes: readonly OperatorRoute[],
  parts: OperatorParts,
  whoseToken: WhoseToken,
): void {
  for (const route of routes) {
    const { method, handler } = route
    app.on(method, path, async c => {
      const who = await operatorOf(c, whoseToken)
      if (method === 'GET') {
        assertScope(who, route.scope)
        return sendAnswer(c, parts, await handler(c, parts, who))
      }
      const intent = { who, route, path: c.req.param(), sent: await sentWith(c, route) }
      return sendAnswer(c, parts, await audited(intent, parts, () => handler(c, parts, who)))
    })
  }
  const allow = allowedMethods(routes).join(', ')
  app.all(path, async c => {
    await operatorOf(c, whoseToken)
    throw new ApiError('method_not_allowed', `this path answers ${allow}`, { headers: { allow } })
  })
}

/**
 * The fields of the query, if the route has one, or else of the body, for the log; the handler refuses what is wrong.
 * The names of a query that the route does not declare get a question mark, so that none is taken for a field.
 */
async function sentWith(c: Exchange, { query, body, isBodyOptional }: OperatorRoute) {
  if (query !== undefined) return c.req.query()
  const unread = Object.keys(c.req.query()).map(name => [`?${name}`, null])
  const found = body === undefined ? {} : await readJson(c, isBodyOptional).catch(() => null)
  const isObject = typeof found === 'object' && found !== null && !Array.isArray(found)
  return { ...(isObject ? found : {}), ...Object.fromEntries(unread) }
}

/** Starts the operator's interface. */
export function listenOperator(parts: OperatorParts, host: string, port: number): Promise<RunningServer> {
  const app = createOperatorApp(parts)
  return startServer(() => app.fetch, host, port)
}
