import { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { allowedMethods, byPath } from '#core/contract/route.ts'
import type { Identity } from '#signals/clients/client.ts'
import { assertUrlLength } from '../http/exchange.ts'
import { type RunningServer, startServer } from '../http/http-server.ts'
import { createReference, REFERENCE_PATTERNS } from '../http/reference/reference.ts'
import {
  answerHeaders,
  type Exchange,
  type ServedParts,
  type SignalsEnv,
  type SignalsParts,
  sendError,
} from './exchange.ts'
import { createIdentify, type Identify } from './identify.ts'
import { createPrograms } from './program/prepared-program.ts'
import { createRemoteAddress, type RemoteAddress } from './remote-address.ts'
import { answerPreview, forPages } from './routes/preview.ts'
import { createDocuments, SIGNALS_ROUTES } from './routes.ts'
import type { SignalsRoute } from './signals-route.ts'

/** The signals service as a Hono app: every route of the table, and the refusals of everything else. */
export function createSignalsApp(parts: SignalsParts): Hono<SignalsEnv> {
  const served: ServedParts = {
    ...parts,
    documents: createDocuments(parts.settings),
    servedProgram: createPrograms(parts.program),
  }
  const remoteAddress = createRemoteAddress(parts.settings.trustedProxies)
  const callers = { remoteAddress, identify: createIdentify(parts, remoteAddress) }
  const app = new Hono<SignalsEnv>()
  app.use(async (c, next) => {
    c.set('startedMs', parts.clock.elapsed())
    await next()
  })
  for (const [path, routes] of byPath(SIGNALS_ROUTES)) {
    mount(app, path, routes, served, callers)
  }
  mountReference(app, served)
  app.notFound(c =>
    sendError(c, parts, new ApiError('not_found', 'no such path; /openapi.json lists what there is')),
  )
  app.onError((error, c) => sendError(c, parts, error))
  return app
}

/** `/docs`: the interface for people. Nothing can be tried there, because nearly all of it needs a key. */
function mountReference(app: Hono<SignalsEnv>, parts: ServedParts): void {
  const reference = createReference({
    title: 'Live trade signals: the API',
    document: '/openapi.json',
    tries: [],
    links: {},
  })
  for (const pattern of REFERENCE_PATTERNS) {
    app.get(pattern, c => {
      assertUrlLength(c.req.url)
      return reference(c, answerHeaders(parts))
    })
    closePath(app, pattern, parts, 'GET, HEAD, OPTIONS')
  }
}

/** Who asks: by the key, and by the network. */
type Callers = { readonly identify: Identify; readonly remoteAddress: RemoteAddress }

/** One path with all its methods: those of the table answer, OPTIONS tells, anything else is refused. */
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

/** OPTIONS tells the methods of a path, and every other one is refused. */
function closePath(app: Hono<SignalsEnv>, path: string, parts: ServedParts, allow: string): void {
  app.options(path, () => new Response(null, { status: 204, headers: { ...answerHeaders(parts), allow } }))
  app.all(path, () => {
    throw new ApiError('method_not_allowed', `this path answers ${allow}`, { headers: { allow } })
  })
}

/** Who asks comes before what is asked: a stranger learns nothing of the parameters. */
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

/** The operator grants the program by itself, so it needs no account that is active for signals. */
function assertEntitled({ client }: Identity): void {
  if (client.program) return
  throw new ApiError(
    'not_entitled',
    'the key is valid, and the accumulation program is not among what it may see',
  )
}

/** Starts the signals service; its parts are made once the address is known. */
export const listenSignals = (
  createParts: (url: string) => SignalsParts,
  host: string,
  port: number,
): Promise<RunningServer> => startServer(url => createSignalsApp(createParts(url)).fetch, host, port)
