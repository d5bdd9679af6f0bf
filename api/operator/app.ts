import type { Hono } from 'hono'
import { byPath } from '#core/contract/route.ts'
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import { assertScope } from '#signals/operators/tokens.ts'
import { assertUrlLength, createServiceApp, toPattern } from '../service/app.ts'
import type { Bytes } from '../service/content-coding.ts'
import { type Exchange, type ServiceEnv, sendBytes, sendEnveloped } from '../service/exchange.ts'
import { OPENAPI_TYPE } from '../service/headers.ts'
import { type RunningServer, startServer } from '../service/http-server.ts'
import { createReference } from '../service/reference/reference.ts'
import { audited } from './audited.ts'
import { type OperatorParts, operatorService, readJson } from './exchange.ts'
import { assertHost, createTokenCheck, operatorOf, type WhoseToken } from './guard.ts'
import type { OperatorRoute } from './operator-route.ts'
import { createOperatorPage } from './page/mount.ts'
import { OPERATOR_ROUTES, operatorDocument } from './routes.ts'

/**
 * The operator's interface as a Hono app: JSON below `/ops` with the token, the page at `/ops` with a session, and
 * without either `/healthz`, `/metrics`, which name no client, `/openapi.json` and `/docs`.
 */
export function createOperatorApp(parts: OperatorParts): Hono<ServiceEnv> {
  const whoseToken = createTokenCheck(parts)
  const { app, mount } = createServiceApp(operatorService(parts), {
    begin: c => c.set('requestId', parts.newRequestId()),
    report: (c, answered) => {
      if (!c.get('isUpdate')) parts.onAnswered({ requestId: c.get('requestId') ?? '', ...answered })
    },
    missing: 'no such path; the page is at /ops',
    authorise: c => operatorOf(c, whoseToken),
  })
  app.use(async (c, next) => {
    assertHost(c, parts)
    assertUrlLength(c.req.url)
    await next()
  })
  app.get('/healthz', c => sendEnveloped(c, { status: 'ok' }, { self: c.req.path }))
  app.get('/metrics', async c => {
    const { contentType, text } = await parts.metrics()
    return new Response(text, { headers: { ...c.get('service').headers(c), 'content-type': contentType } })
  })
  let openApi: Bytes | undefined // made at its first request, which keeps the start short
  app.get('/openapi.json', c => {
    openApi ??= renderJson(operatorDocument() as Json) // zod makes plain JSON, and calls it unknown
    return sendBytes(c, openApi, { 'content-type': OPENAPI_TYPE })
  })
  const reference = createReference(REFERENCE, operatorDocument)
  for (const path of ['/docs', '/docs/:folder/:file']) app.get(path, reference)
  app.route('/', createOperatorPage(parts, whoseToken))
  for (const [path, routes] of byPath(OPERATOR_ROUTES))
    mount(
      toPattern(path),
      routes.map(route => [route.method, c => answer(route, c, parts, whoseToken)]),
    )
  return app
}

const REFERENCE = {
  path: '/docs',
  key: 'OPERATOR_TOKEN',
  address: 'OPERATOR_URL',
  links: { '/ops': 'The page of the operator' },
} as const

/** Authorisation comes before validation. */
async function answer(route: OperatorRoute, c: Exchange, parts: OperatorParts, whoseToken: WhoseToken) {
  const who = await operatorOf(c, whoseToken)
  const act = () => route.handler(c, parts, who)
  const isRead = route.method === 'GET'
  if (isRead) assertScope(who, route.scope)
  const { data, meta, status } = isRead
    ? await act()
    : await audited({ who, route, path: c.req.param(), sent: await sentWith(c, route) }, parts, act)
  const links = { self: c.req.path }
  return sendEnveloped(c, data as Json, links, meta, {}, status ?? route.statuses?.[0]) // a schema of JSON describes it
}

/** The fields of the query or the body, for the log. A name of a query that is not declared gets a question mark: it is no field. */
async function sentWith(c: Exchange, { query, body, isBodyOptional }: OperatorRoute) {
  if (query !== undefined) return c.req.query()
  const unread = Object.keys(c.req.query()).map(name => [`?${name}`, null])
  const found = body === undefined ? {} : await readJson(c, isBodyOptional).catch(() => null)
  const isObject = typeof found === 'object' && found !== null && !Array.isArray(found)
  return { ...(isObject ? found : {}), ...Object.fromEntries(unread) }
}

export function listenOperator(parts: OperatorParts, host: string, port: number): Promise<RunningServer> {
  const app = createOperatorApp(parts)
  return startServer(() => app.fetch, host, port)
}
