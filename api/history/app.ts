import type { Hono } from 'hono'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { REQUEST_ID_PATTERN } from '#core/contract/openapi.ts'
import { pinnedTemplate } from '#core/contract/pins.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { PAGE_ROUTES } from '#pages/page-routes.ts'
import { createServiceApp, type Answered as ServiceAnswered, toPattern } from '../service/app.ts'
import type { Exchange, ServiceEnv } from '../service/exchange.ts'
import { COMMON_HEADERS, OPENAPI_TYPE, preflightHeaders } from '../service/headers.ts'
import { latestHandler, pinnedHandler } from './answers/answer-resource.ts'
import {
  type AnswerKind,
  assertServed,
  createTexts,
  type Handler,
  type HistoryParts,
  historyService,
} from './exchange.ts'
import { createFamilyHandler, createFileHandler } from './files/stored-files.ts'
import { INFRASTRUCTURE_ROUTES } from './infrastructure.ts'
import { createDocsHandler, DOCS_PATTERN } from './pages/docs.ts'
import {
  answerFile,
  createPageHandler,
  iconHandler,
  indexHandler,
  isPinnedFile,
  refuse,
} from './pages/pages.ts'
import { atomFeed, jsonFeed, robotsText, sitemap } from './pages/site-texts.ts'
import { historyDocument, toLlmsText } from './routes.ts'

/** The history service as a Hono app: every route of the table, and the refusals of everything else. */
export function createHistoryApp(parts: HistoryParts): Hono<ServiceEnv> {
  const { allowedOrigins } = parts.settings
  const { app, dispatch, mount } = createServiceApp(historyService(parts), {
    begin: c => beginRequest(c, parts),
    report: (c, answered) => reportAnswer(c, answered, parts),
    refuse: (c, error) => refuse(c, parts, error),
    missing: 'no such path; / lists what there is',
    preflight: c => ({ ...COMMON_HEADERS, ...preflightHeaders(allowedOrigins, c.req.raw.headers) }),
  })
  const get = (path: string, handler: Handler): void =>
    mount(toPattern(path), [['GET', c => handler(c, parts)]])
  for (const { path, handler } of INFRASTRUCTURE_ROUTES) get(path, handler)
  for (const route of DATASET_ROUTES) {
    get(route.path, latestHandler(route))
    get(pinnedTemplate(route), pinnedHandler(route))
  }
  for (const file of FILE_ROUTES.filter(({ of }) => !(of in FAMILIES)))
    get(file.path, createFileHandler(file))
  for (const family of ['log', 'seals'] as const) get(FAMILIES[family], createFamilyHandler(family))
  get('/', indexHandler)
  for (const page of PAGE_ROUTES.filter(({ path }) => path !== '/')) get(page.path, createPageHandler(page))
  for (const path of ['/favicon.svg', '/favicon.ico']) get(path, iconHandler)
  const { publicBaseUrl } = parts.settings
  const served = (c: Exchange) => assertServed(c, parts).snapshot
  const text = (path: string, mediaType: string, write: (c: Exchange) => string | Promise<string>): void =>
    get(path, createTexts(write, mediaType))
  text('/feed.atom', 'application/atom+xml; charset=utf-8', c => atomFeed(served(c), publicBaseUrl))
  text('/feed.json', 'application/feed+json; charset=utf-8', c => jsonFeed(served(c), publicBaseUrl))
  text('/sitemap.xml', 'application/xml; charset=utf-8', c => sitemap(served(c), publicBaseUrl))
  text('/robots.txt', 'text/plain; charset=utf-8', () => robotsText(publicBaseUrl))
  text('/llms.txt', 'text/plain; charset=utf-8', () => toLlmsText(publicBaseUrl))
  text('/openapi.json', OPENAPI_TYPE, async () => JSON.stringify(await historyDocument(publicBaseUrl)))
  const docs = createDocsHandler(parts.settings)
  for (const path of ['/docs', DOCS_PATTERN]) get(path, docs)
  const file = async (c: Exchange) => (await answerFile(c, parts)) ?? c.notFound()
  const pinnedFile = dispatch([['GET', file]])
  app.all('*', c => (isPinnedFile(c.req.path) ? pinnedFile(c) : file(c)))
  return app
}

/** Its id, that of the proxy in front or a new one, and its version. */
function beginRequest(c: Exchange, { source, newRequestId }: HistoryParts): void {
  const given = c.req.header('x-request-id')
  c.set('requestId', given !== undefined && REQUEST_ID_PATTERN.test(given) ? given : newRequestId())
  c.set('served', source.current())
}

/**
 * Entries of the log, their signatures and time stamps under one pattern, and so the seals: a variable beside a folder would make the
 * router take its slower way for every request of every route.
 */
const FAMILIES = {
  log: '/v1/pointer/:name{(?:signatures/)?[0-9a-f]+\\.(?:json|sig)|anchors/[0-9a-f]+}',
  seals: '/v1/seals/:name{(?:[a-z]+/)?[0-9a-z.-]+}',
}

/** `/a/:sid`, with its expression if it has one, as `/a/{sid}`. */
const toTemplate = (pattern: string): string => pattern.replaceAll(/:(\w+)(?:\{.*\})?/g, '{$1}')

const NOT_MODIFIED = 304

/** Reports an outcome at once, or at the end of an answer that is made while it is sent. Reading its headers would copy them. */
function reportAnswer(c: Exchange, answered: ServiceAnswered, { onAnswered }: HistoryParts): void {
  const { method, status, ms } = answered
  const route = c.get('route') ?? (answered.route === '/*' ? 'none' : toTemplate(answered.route))
  const bytes = method === 'HEAD' || status === NOT_MODIFIED ? 0 : (c.get('bytes') ?? 0)
  const version = c.get('served')?.version ?? null
  const request_id = c.get('requestId') ?? ''
  const line = { request_id, method, route, kind: kindOf(c, status), version, status }
  const sent = c.get('sent')
  if (sent === undefined) onAnswered({ ...line, ms, bytes })
  else
    void sent.then(({ bytes, isWhole }) =>
      onAnswered({ ...line, kind: isWhole ? line.kind : 'cut', ms, bytes }),
    )
}

function kindOf(c: Exchange, status: number): AnswerKind {
  if (status >= 400) return 'refused'
  return status === NOT_MODIFIED ? '304' : (c.get('kind') ?? 'live')
}
