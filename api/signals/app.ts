import type { Hono } from 'hono'
import { byPath } from '#core/contract/route.ts'
import type { Identity } from '#signals/clients/clients.ts'
import { type Answer, createServiceApp, toPattern } from '../service/app.ts'
import type { Exchange, ServiceEnv } from '../service/exchange.ts'
import { startServer } from '../service/http-server.ts'
import { createReference } from '../service/reference/reference.ts'
import { createRemoteAddress, type RemoteAddress } from '../service/remote-address.ts'
import { type ServedParts, type SignalsParts, type SignalsRoute, signalsService } from './exchange.ts'
import { assertMayCall, createIdentify } from './identify.ts'
import { createAccountPage } from './page/mount.ts'
import { createPrograms } from './program/prepared-program.ts'
import { programPageRoute, STYLE_PATH, sendIcon, sendStyle } from './program/program-page.ts'
import { answerPreview, forPages } from './routes/preview.ts'
import { createDocuments, SIGNALS_ROUTES, signalsDocument } from './routes.ts'

export function createSignalsApp(parts: SignalsParts): Hono<ServiceEnv> {
  const { settings, program, onAnswered } = parts
  const served = { ...parts, documents: createDocuments(settings), servedProgram: createPrograms(program) }
  const addressOf = createRemoteAddress(settings.trustedProxies)
  const service = signalsService(parts)
  const { app, mount } = createServiceApp(service, {
    report: (c, answered) => {
      const [keyId, client] = [c.get('keyId') ?? null, c.get('client') ?? null]
      if (!c.get('isUpdate')) onAnswered({ ...answered, address: addressOf(c), keyId, client })
    },
    missing: 'no such path; /openapi.json lists what there is',
    preflight: service.headers,
  })
  const { ofKey, ofRequest } = createIdentify(parts)
  const toAnswer = createAnswers(served, addressOf, ofRequest)
  for (const [path, routes] of byPath(SIGNALS_ROUTES)) {
    if (routes.some(({ group }) => group === 'preview')) app.use(path, forPages(parts, routes))
    mount(
      toPattern(path),
      routes.map(route => [route.method, toAnswer(route)]),
    )
  }
  // For browsers, so the document of the API does not list them.
  app.route('/', createAccountPage(served, { addressOf, ofKey }))
  mount('/program', [['GET', c => answerPreview(programPageRoute(c), addressOf(c), c, served)]])
  mount(STYLE_PATH, [['GET', sendStyle]])
  for (const path of ['/favicon.svg', '/favicon.ico']) mount(path, [['GET', sendIcon]])
  const reference = createReference(referenceOf(parts), () => signalsDocument(parts.settings.publicBaseUrl))
  for (const path of ['/docs', '/docs/:folder/:file']) mount(path, [['GET', reference]])
  return app
}

const referenceOf = ({ settings: { historyBaseUrl: history } }: SignalsParts) =>
  ({
    path: '/docs',
    key: 'HIGHWATER_KEY',
    links: history === null ? {} : { [`${history}/docs/guides/webhooks`]: 'Webhooks in ten minutes' },
  }) as const

/** What a group asks of its caller. Authorisation comes before validation: strangers learn nothing about parameters. */
function createAnswers(
  parts: ServedParts,
  addressOf: RemoteAddress,
  identify: (c: Exchange) => Promise<Identity>,
): (route: SignalsRoute) => Answer {
  return route => {
    if (route.group === 'preview') return c => answerPreview(route, addressOf(c), c, parts)
    if (route.group === 'open') return c => route.handler(c, parts)
    return async c => {
      const caller = await identify(c)
      assertMayCall(route.group, caller.client)
      return route.handler(c, parts, caller)
    }
  }
}

/** Starts the signals service; `toParts` gets its address. */
export const listenSignals = (createParts: (url: string) => SignalsParts, host: string, port: number) =>
  startServer(url => createSignalsApp(createParts(url)).fetch, host, port)
