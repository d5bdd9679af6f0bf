import { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { pinnedTemplate } from '#core/contract/pins.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { assertUrlLength } from '../http/assert-url-length.ts'
import { corsHeaders, preflightHeaders } from '../http/cors.ts'
import { createReference, REFERENCE_PATTERNS } from '../http/reference/answer-reference.ts'
import { COMMON_HEADERS, METHODS } from '../http/shared-headers.ts'
import { createDocumentHandler, createLlmsHandler } from './document.ts'
import {
  answerHeaders,
  type Exchange,
  type Handler,
  type HistoryEnv,
  type HistoryParts,
  sendError,
} from './exchange.ts'
import { createFileHandler, createLogHandler } from './file-handler.ts'
import { handlerOf, pinnedHandlerOf } from './handlers.ts'
import { createIndexHandler } from './index-handler.ts'
import { tellAnswer } from './tell-answer.ts'

/** The history service as a Hono app: every route of the table, and the refusals of everything else. */
export function createHistoryApp(parts: HistoryParts): Hono<HistoryEnv> {
  const app = new Hono<HistoryEnv>()
  app.use(async (c, next) => {
    c.set('startedMs', parts.clock.elapsed())
    c.set('served', parts.source.current())
    await next()
    tellAnswer(c, parts)
  })
  for (const route of ROUTES) {
    mount(app, parts, route.path, handlerOf(route))
    const pinned = pinnedHandlerOf(route)
    if (pinned !== null) mount(app, parts, pinnedTemplate(route), pinned)
  }
  for (const file of FILE_ROUTES.filter(each => each.of !== 'log')) {
    mount(app, parts, file.path, createFileHandler(file))
  }
  mount(app, parts, LOG_TEMPLATE, createLogHandler(), LOG_PATTERN)
  mount(app, parts, '/', createIndexHandler())
  mount(app, parts, '/openapi.json', createDocumentHandler(parts.settings))
  mount(app, parts, '/llms.txt', createLlmsHandler(parts.settings))
  const reference = createReference(REFERENCE)
  for (const pattern of REFERENCE_PATTERNS)
    mount(app, parts, pattern, c => reference(c, answerHeaders(c, parts)))
  app.notFound(c => sendError(c, parts, new ApiError('not_found', 'no such path; / lists what there is')))
  app.onError((error, c) => sendError(c, parts, error))
  return app
}

const REFERENCE = {
  title: 'Historical strategy data: the API',
  document: '/openapi.json',
  tries: ['get'],
  links: { '/': 'Index' },
} as const

/** `/a/{sid}` as `/a/:sid`. */
const toPattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/**
 * Entries of the log and their signatures under one pattern: a variable beside a folder would make the router take its
 * slower way for every request of every route.
 */
const LOG_PATTERN = '/v1/pointer/:name{(?:signatures/)?[0-9a-f]+\\.(?:json|sig)}'

/** As it is told of in logs and metrics. */
const LOG_TEMPLATE = '/v1/pointer/{name}'

/** One path with all its methods: GET (and with it HEAD) answers, OPTIONS tells, anything else is refused. */
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
    return tellOptions(c, parts)
  })
  app.all(pattern, c => {
    c.set('route', template)
    throw new ApiError('method_not_allowed', `this path answers ${METHODS}`, { headers: { allow: METHODS } })
  })
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
