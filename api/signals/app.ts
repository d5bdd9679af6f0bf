import { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { SIGNALS_ROUTES, type SignalsRoute, type SignalsRouteId } from '#core/contract/signals-routes.ts'
import type { Identity } from '#signals/clients/client.ts'
import { assertUrlLength } from '../assert-url-length.ts'
import { createDocuments } from './documents.ts'
import {
  answerHeaders,
  type Exchange,
  type ServedParts,
  type SignalsEnv,
  type SignalsParts,
  sendError,
} from './exchange.ts'
import { KEYED_HANDLERS, OPEN_HANDLERS } from './handlers.ts'
import { createIdentify, type Identify } from './identify.ts'

/** The signals service as a Hono app: every route of the table, and the refusals of everything else. */
export function createSignalsApp(parts: SignalsParts): Hono<SignalsEnv> {
  assertProgramAlias(parts.settings.programAlias)
  const identify = createIdentify(parts)
  const served: ServedParts = { ...parts, documents: createDocuments(parts.settings) }
  const app = new Hono<SignalsEnv>()
  app.use(async (c, next) => {
    c.set('startedMs', parts.clock.elapsed())
    await next()
  })
  for (const [path, routes] of Map.groupBy(SIGNALS_ROUTES, route => route.path)) {
    mount(app, path, routes, served, identify)
  }
  app.notFound(c =>
    sendError(c, parts, new ApiError('not_found', 'no such path; /openapi.json lists what there is')),
  )
  app.onError((error, c) => sendError(c, parts, error))
  return app
}

/** It stands beside `aliases` in the answer of whoami. */
function assertProgramAlias(alias: string): void {
  if (ID_PATTERN.test(alias) && alias !== 'aliases') return
  throw new Error(
    `the alias of the program cannot be '${alias}': take 1 to 64 of a-z, 0-9, - and _, but not the word aliases`,
  )
}

/** One path with all its methods: those of the table answer, OPTIONS tells, anything else is refused. */
function mount(
  app: Hono<SignalsEnv>,
  path: string,
  routes: readonly SignalsRoute[],
  parts: ServedParts,
  identify: Identify,
): void {
  const allow = [
    ...routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    'OPTIONS',
  ].join(', ')
  for (const route of routes) {
    app.on(route.method, path, c => {
      assertUrlLength(c.req.url)
      return answer(route, c, parts, identify)
    })
  }
  app.options(path, () => new Response(null, { status: 204, headers: { ...answerHeaders(parts), allow } }))
  app.all(path, () => {
    throw new ApiError('method_not_allowed', `this path answers ${allow}`, { headers: { allow } })
  })
}

/** Who asks comes before what is asked: a stranger learns nothing of the parameters. */
async function answer(
  { id, access }: SignalsRoute,
  c: Exchange,
  parts: ServedParts,
  identify: Identify,
): Promise<Response> {
  if (isOpen(id)) return OPEN_HANDLERS[id](c, parts)
  const caller = await identify(c)
  if (access === 'account') assertActive(caller)
  return KEYED_HANDLERS[id](c, parts, caller)
}

const isOpen = (id: SignalsRouteId): id is keyof typeof OPEN_HANDLERS => Object.hasOwn(OPEN_HANDLERS, id)

function assertActive({ client }: Identity): void {
  if (client.status === 'active') return
  throw new ApiError('account_not_active', 'the key is valid, and the account waits for its activation')
}
