import { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { pinnedTemplate } from '#core/contract/pins.ts'
import { toPattern } from '#core/contract/route.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { PAGE_ROUTES } from '#pages/page-routes.ts'
import { assertUrlLength, refuseBadHost, tookMs } from '../service/exchange.ts'
import { COMMON_HEADERS, METHODS, preflightHeaders } from '../service/headers.ts'
import { latestHandler, pinnedHandler } from './answers/answer-resource.ts'
import {
  type Answered,
  type AnswerKind,
  type Exchange,
  type Handler,
  type HistoryEnv,
  type HistoryParts,
  requestIdOf,
  sendError,
  UNROUTED,
} from './exchange.ts'
import { createFileHandler, createLogHandler } from './files/stored-files.ts'
import { INFRASTRUCTURE_ROUTES } from './infrastructure.ts'
import { createDocsHandler, DOCS_PATTERN } from './pages/docs.ts'
import { feedHandler } from './pages/feed.ts'
import { answerFile, createPageHandler, indexHandler, isFilePath, refuse } from './pages/pages.ts'
import { createDocumentHandler, createLlmsHandler } from './routes.ts'

/** The history service as a Hono app: every route of the table, and the refusals of everything else. */
export function createHistoryApp(parts: HistoryParts): Hono<HistoryEnv> {
  const app = new Hono<HistoryEnv>()
  app.use(async (c, next) => {
    c.set('startedMs', parts.clock.elapsed())
    c.set('served', parts.source.current())
    await next()
    reportAnswer(c, parts)
  })
  app.use(refuseBadHost)
  for (const { path, handler } of INFRASTRUCTURE_ROUTES) mount(app, parts, path, handler)
  for (const route of DATASET_ROUTES) {
    mount(app, parts, route.path, latestHandler(route))
    mount(app, parts, pinnedTemplate(route), pinnedHandler(route))
  }
  for (const file of FILE_ROUTES.filter(each => each.of !== 'log')) {
    mount(app, parts, file.path, createFileHandler(file))
  }
  mount(app, parts, LOG_TEMPLATE, createLogHandler(), LOG_PATTERN)
  mount(app, parts, '/', indexHandler)
  for (const page of PAGE_ROUTES.filter(({ path }) => path !== '/'))
    mount(app, parts, page.path, createPageHandler(page))
  mount(app, parts, '/feed.atom', feedHandler)
  mount(app, parts, '/openapi.json', createDocumentHandler(parts.settings))
  mount(app, parts, '/llms.txt', createLlmsHandler(parts.settings))
  const docs = createDocsHandler(parts.settings)
  mount(app, parts, '/docs', docs)
  mount(app, parts, '/docs/{file}', docs, DOCS_PATTERN)
  app.notFound(async c => {
    const { method, path } = c.req
    if (isFilePath(path) && method === 'OPTIONS') return listMethods(c, parts)
    if (isFilePath(path) && method !== 'GET' && method !== 'HEAD') return sendError(c, parts, wrongMethod())
    const file = await answerFile(c, parts).catch((error: unknown) => refuse(c, parts, error))
    return file ?? refuse(c, parts, new ApiError('not_found', 'no such path; / lists what there is'))
  })
  app.onError((error, c) => refuse(c, parts, error))
  return app
}

/**
 * Entries of the log, their signatures and time stamps under one pattern: a variable beside a folder would make the router take its
 * slower way for every request of every route.
 */
const LOG_PATTERN = '/v1/pointer/:name{(?:signatures/)?[0-9a-f]+\\.(?:json|sig)|anchors/[0-9a-f]+}'

/** The route of these paths in logs and metrics. */
const LOG_TEMPLATE = '/v1/pointer/{name}'

/** One path with all its methods: GET (and with it HEAD) answers, OPTIONS lists the methods, anything else is refused. */
function mount(
  app: Hono<HistoryEnv>,
  parts: HistoryParts,
  template: string,
  handler: Handler,
  pattern = toPattern(template),
): void {
  app.get(pattern, c => {
    c.set('route', template)
    assertUrlLength(c.req.url)
    return handler(c, parts)
  })
  app.options(pattern, c => {
    c.set('route', template)
    return listMethods(c, parts)
  })
  app.all(pattern, c => {
    c.set('route', template)
    throw wrongMethod()
  })
}

const wrongMethod = (): ApiError =>
  new ApiError('method_not_allowed', `this path answers ${METHODS}`, { headers: { allow: METHODS } })

function listMethods(c: Exchange, { settings }: HistoryParts): Response {
  const preflight = preflightHeaders(settings.allowedOrigins, c.req.raw.headers)
  return new Response(null, { status: 204, headers: { ...COMMON_HEADERS, allow: METHODS, ...preflight } })
}

const NOT_MODIFIED = 304
const FIRST_REFUSAL = 400

/** Reports the outcome of a request: at once, or at the end of an answer that is made while it is sent. */
function reportAnswer(c: Exchange, parts: HistoryParts): void {
  const answered = answeredOf(c, parts)
  const sent = c.get('sent')
  if (sent === undefined) parts.onAnswered(answered)
  else
    void sent.then(({ bytes, isWhole }) => parts.onAnswered({ ...answered, bytes, ...(isWhole ? {} : CUT) }))
}

const CUT = { kind: 'cut' } as const

/** The outcome of a request. The headers of the answer are not read: reading them would copy them. */
function answeredOf(c: Exchange, parts: HistoryParts): Answered {
  const { status } = c.res
  const { method } = c.req
  return {
    request_id: requestIdOf(c, parts),
    method,
    route: c.get('route') ?? UNROUTED,
    kind: kindOf(c, status),
    version: c.get('served')?.version ?? null,
    status,
    ms: tookMs(c, parts.clock),
    bytes: method === 'HEAD' || status === NOT_MODIFIED ? 0 : (c.get('bytes') ?? 0),
  }
}

function kindOf(c: Exchange, status: number): AnswerKind {
  if (status >= FIRST_REFUSAL) return 'refused'
  return status === NOT_MODIFIED ? '304' : (c.get('kind') ?? 'live')
}
