import { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { allowedMethods, byPath } from '#core/contract/route.ts'
import type { Identity } from '#signals/clients/client.ts'
import { assertUrlLength, refuseBadHost, tookMs } from '../service/exchange.ts'
import { METHODS } from '../service/headers.ts'
import { type RunningServer, startServer } from '../service/http-server.ts'
import { createReference } from '../service/reference/reference.ts'
import { createRemoteAddress, type RemoteAddress } from '../service/remote-address.ts'
import {
  type Answered,
  answerHeaders,
  type Exchange,
  type ServedParts,
  type SignalsEnv,
  type SignalsParts,
  sendError,
} from './exchange.ts'
import { createIdentify, type Identify } from './identify.ts'
import { createPrograms } from './program/prepared-program.ts'
import { programPageRoute, STYLE_PATH, sendStyle } from './program/program-page.ts'
import { answerPreview, forPages } from './routes/preview.ts'
import { createDocuments, SIGNALS_ROUTES } from './routes.ts'
import type { SignalsRoute } from './signals-route.ts'

export function createSignalsApp(parts: SignalsParts): Hono<SignalsEnv> {
  const served: ServedParts = {
    ...parts,
    documents: createDocuments(parts.settings),
    servedProgram: createPrograms(parts.program),
  }
  const remoteAddress = createRemoteAddress(parts.settings.trustedProxies)
  const callers = { remoteAddress, identify: createIdentify(parts) }
  const app = new Hono<SignalsEnv>()
  app.use(async (c, next) => {
    c.set('startedMs', parts.clock.elapsed())
    await next()
    parts.onAnswered(answeredOf(c, parts, remoteAddress))
  })
  app.use(refuseBadHost)
  for (const [path, routes] of byPath(SIGNALS_ROUTES)) {
    mount(app, path, routes, served, callers)
  }
  mountProgramPage(app, served, remoteAddress)
  mountReference(app, served)
  app.notFound(c =>
    sendError(c, parts, new ApiError('not_found', 'no such path; /openapi.json lists what there is')),
  )
  app.onError((error, c) => sendError(c, parts, error))
  return app
}

const answeredOf = (c: Exchange, { clock }: SignalsParts, remoteAddress: RemoteAddress): Answered => ({
  method: c.req.method,
  route: c.req.routePath,
  status: c.res.status,
  ms: tookMs(c, clock),
  address: remoteAddress(c),
  keyId: c.get('keyId') ?? null,
  client: c.get('client') ?? null,
})

/** `/program`, and its style sheet: for browsers, so the document of the API does not list them. */
function mountProgramPage(app: Hono<SignalsEnv>, parts: ServedParts, remoteAddress: RemoteAddress): void {
  app.get('/program', c => {
    assertUrlLength(c.req.url)
    return answerPreview(programPageRoute(c), remoteAddress(c), c, parts)
  })
  app.get(STYLE_PATH, c => sendStyle(c, parts))
  for (const path of ['/program', STYLE_PATH]) closePath(app, path, parts, METHODS)
}

/** `/docs`: the API reference. Requests cannot be tried there, because nearly all need a key. */
function mountReference(app: Hono<SignalsEnv>, parts: ServedParts): void {
  const { historyBaseUrl } = parts.settings
  const reference = createReference({
    path: '/docs',
    title: 'Live trade signals: the API',
    document: '/openapi.json',
    tries: [],
    links:
      historyBaseUrl === null
        ? {}
        : { [`${historyBaseUrl}/docs/guides/webhooks`]: 'Webhooks in ten minutes' },
  })
  for (const pattern of ['/docs', '/docs/:folder/:file']) {
    app.get(pattern, c => {
      assertUrlLength(c.req.url)
      return reference(c, answerHeaders(parts))
    })
    closePath(app, pattern, parts, METHODS)
  }
}

/** Identification of the caller, by key and by network. */
type Callers = { readonly identify: Identify; readonly remoteAddress: RemoteAddress }

/** One path with all its methods, OPTIONS, and the refusal of others. */
function mount(
  app: Hono<SignalsEnv>,
  path: string,
  routes: readonly SignalsRoute[],
  parts: ServedParts,
  callers: Callers,
): void {
  const allow = [...allowedMethods(routes), 'OPTIONS'].join(', ')
  if (routes.some(({ group }) => group === 'preview')) app.use(path, forPages(parts, routes))
  for (const route of routes) {
    app.on(route.method, path, c => {
      assertUrlLength(c.req.url)
      return answer(route, c, parts, callers)
    })
  }
  closePath(app, path, parts, allow)
}

/** OPTIONS, and the refusal of other methods. */
function closePath(app: Hono<SignalsEnv>, path: string, parts: ServedParts, allow: string): void {
  app.options(path, () => new Response(null, { status: 204, headers: { ...answerHeaders(parts), allow } }))
  app.all(path, () => {
    throw new ApiError('method_not_allowed', `this path answers ${allow}`, { headers: { allow } })
  })
}

/** Authorisation comes before validation: strangers learn nothing about parameters. */
async function answer(
  route: SignalsRoute,
  c: Exchange,
  parts: ServedParts,
  { identify, remoteAddress }: Callers,
): Promise<Response> {
  if (route.group === 'preview') return answerPreview(route, remoteAddress(c), c, parts)
  if (route.group === 'open') return route.handler(c, parts)
  const caller = await identify(c)
  if (route.group === 'account') assertActive(caller)
  if (route.group === 'program') assertEntitled(caller)
  return route.handler(c, parts, caller)
}

function assertActive({ client }: Identity): void {
  if (client.status === 'active') return
  throw new ApiError('account_not_active', 'the key is valid, and the account waits for its activation')
}

/** The program is a separate entitlement, so the account need not be active for signals. */
function assertEntitled({ client }: Identity): void {
  if (client.program) return
  throw new ApiError(
    'not_entitled',
    'the key is valid, and the accumulation program is not among what it may see',
  )
}

/** Starts the signals service; `toParts` gets its address. */
export const listenSignals = (
  createParts: (url: string) => SignalsParts,
  host: string,
  port: number,
): Promise<RunningServer> => startServer(url => createSignalsApp(createParts(url)).fetch, host, port)
