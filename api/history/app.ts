import type { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
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
import { createIconHandler, robotsText, sitemap } from './pages/crawlers.ts'
import { createDocsHandler, DOCS_PATTERN } from './pages/docs.ts'
import { createFeedHandler } from './pages/feed.ts'
import { answerFile, createPageHandler, indexHandler, isFilePath, refuse } from './pages/pages.ts'
import { historyDocument, toLlmsText } from './routes.ts'

/** The history service as a Hono app: every route of the table, and the refusals of everything else. */
export function createHistoryApp(parts: HistoryParts): Hono<ServiceEnv> {
  const { allowedOrigins } = parts.settings
  const templates = new Map<string, string>()
  const { app, dispatch, mount } = createServiceApp(historyService(parts), {
    begin: c => beginRequest(c, parts),
    report: (c, answered) => {
      const route = c.get('route') ?? templates.get(answered.route) ?? 'none'
      reportAnswer(c, { ...answered, route }, parts)
    },
    refuse: (c, error) => refuse(c, parts, error),
    missing: MISSING,
    preflight: c => ({ ...COMMON_HEADERS, ...preflightHeaders(allowedOrigins, c.req.raw.headers) }),
  })
  const get = (template: string, handler: Handler, pattern = toPattern(template)): void => {
    templates.set(pattern, template)
    mount(pattern, [['GET', c => handler(c, parts)]])
  }
  for (const { path, handler } of INFRASTRUCTURE_ROUTES) get(path, handler)
  for (const route of DATASET_ROUTES) {
    get(route.path, latestHandler(route))
    get(pinnedTemplate(route), pinnedHandler(route))
  }
  for (const file of FILE_ROUTES.filter(({ of }) => !(of in FAMILIES)))
    get(file.path, createFileHandler(file))
  for (const family of ['log', 'seals'] as const) {
    const { template, pattern } = FAMILIES[family]
    get(template, createFamilyHandler(family), pattern)
  }
  get('/', indexHandler)
  for (const page of PAGE_ROUTES.filter(({ path }) => path !== '/')) get(page.path, createPageHandler(page))
  get('/feed.atom', createFeedHandler('atom+xml'))
  get('/feed.json', createFeedHandler('feed+json'))
  const { publicBaseUrl } = parts.settings
  const robots = createTexts(() => robotsText(publicBaseUrl), PLAIN)
  get('/robots.txt', robots)
  const map = createTexts(c => sitemap(assertServed(c, parts).snapshot, publicBaseUrl), XML)
  get('/sitemap.xml', map)
  for (const path of ['/favicon.svg', '/favicon.ico']) get(path, createIconHandler())
  const document = async () => JSON.stringify(await historyDocument(publicBaseUrl))
  get('/openapi.json', createTexts(document, OPENAPI_TYPE))
  const llms = createTexts(() => toLlmsText(publicBaseUrl), PLAIN)
  get('/llms.txt', llms)
  const docs = createDocsHandler(parts.settings)
  get('/docs', docs)
  get('/docs/{file}', docs, DOCS_PATTERN)
  const files = dispatch([['GET', c => answerElse(c, parts)]])
  app.notFound(async c => {
    const answering = isFilePath(c.req.path) ? files(c) : answerElse(c, parts)
    return answering.catch((error: unknown) => refuse(c, parts, error))
  })
  return app
}

async function answerElse(c: Exchange, parts: HistoryParts): Promise<Response> {
  const file = await answerFile(c, parts)
  if (file !== null) return file
  throw new ApiError('not_found', MISSING)
}

const PLAIN = 'text/plain; charset=utf-8'
const XML = 'application/xml; charset=utf-8'

const MISSING = 'no such path; / lists what there is'

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
  log: {
    template: '/v1/pointer/{name}',
    pattern: '/v1/pointer/:name{(?:signatures/)?[0-9a-f]+\\.(?:json|sig)|anchors/[0-9a-f]+}',
  },
  seals: { template: '/v1/seals/{name}', pattern: '/v1/seals/:name{(?:[a-z]+/)?[0-9a-z.-]+}' },
}

const NOT_MODIFIED = 304

/** Reports an outcome at once, or at the end of an answer that is made while it is sent. Reading its headers would copy them. */
function reportAnswer(c: Exchange, answered: ServiceAnswered, { onAnswered }: HistoryParts): void {
  const { method, route, status, ms } = answered
  const bytes = method === 'HEAD' || status === NOT_MODIFIED ? 0 : (c.get('bytes') ?? 0)
  const version = c.get('served')?.version ?? null
  const request_id = c.get('requestId') ?? ''
  const line = { request_id, method, route, kind: kindOf(c, status), version, status }
  const sent = c.get('sent')
  if (sent === undefined) onAnswered({ ...line, ms, bytes })
  else void sent.then(({ bytes, isWhole }) => onAnswered({ ...line, ...(isWhole ? {} : CUT), ms, bytes }))
}

const CUT = { kind: 'cut' } as const

function kindOf(c: Exchange, status: number): AnswerKind {
  if (status >= 400) return 'refused'
  return status === NOT_MODIFIED ? '304' : (c.get('kind') ?? 'live')
}
