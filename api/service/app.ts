// The app of a service: what happens to every request, whatever route it is for.
import { Hono, type MiddlewareHandler } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import type { Method } from '#core/contract/route.ts'
import type { AnswerHeaders } from './content-coding.ts'
import { type Exchange, type Service, type ServiceEnv, sendError, tookMs } from './exchange.ts'

/** The log line of an answer: its route, and never its address or its query. */
export type Answered = {
  readonly method: string
  /** The path of the route as Hono spells it; `/*` if none matched. */
  readonly route: string
  readonly status: number
  /** Until the answer was ready to be sent. */
  readonly ms: number
}

type AppOptions = {
  readonly begin?: (c: Exchange) => void
  /** Called with every answer, before it is sent: it must be quick. */
  readonly report: (c: Exchange, answered: Answered) => void
  readonly refuse?: (c: Exchange, error: unknown) => Response
  readonly missing: string
  /** Headers of the answer to OPTIONS beside `Allow`; without it OPTIONS is refused like any other method. */
  readonly preflight?: (c: Exchange) => AnswerHeaders
  /** Throws where the caller may not even learn which methods there are. */
  readonly authorise?: (c: Exchange) => Promise<unknown>
}

export type Answer = (c: Exchange) => Response | Promise<Response>

type Answers = readonly (readonly [Method, Answer])[]

/** An app without routes: `mount` adds a path, and `dispatch` is what it adds. */
export function createServiceApp(service: Service, options: AppOptions) {
  const { begin, report, refuse = sendError, missing } = options
  const app = new Hono<ServiceEnv>()
  app.use(async (c, next) => {
    c.set('service', service)
    c.set('startedMs', service.clock.elapsed())
    begin?.(c)
    await next()
    const { method, routePath: route } = c.req
    report(c, { method, route, status: c.res.status, ms: tookMs(c) })
  })
  app.use(refuseBadHost)
  app.notFound(c => refuse(c, new ApiError('not_found', missing)))
  app.onError((error, c) => refuse(c, error))
  const dispatch = createDispatch(options)
  return {
    app,
    dispatch,
    /** `pattern` is a path as Hono spells it. */
    mount(pattern: string, answers: Answers): void {
      const answer = dispatch(answers)
      for (const [method] of answers) app.on(method, pattern, answer) // so that the app lists what it answers
      app.all(pattern, answer)
    },
  }
}

/** `/a/{sid}` as Hono spells it: `/a/:sid`. */
export const toPattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Answers the methods of a path, GET with HEAD, and refuses any other with the list of them. */
const createDispatch =
  ({ preflight, authorise }: AppOptions) =>
  (answers: Answers) => {
    const byMethod = new Map<string, Answer>(answers)
    const methods = answers.flatMap(([method]) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const allow = [...methods, ...(preflight === undefined ? [] : ['OPTIONS'])].join(', ')
    return async (c: Exchange): Promise<Response> => {
      const { method, url } = c.req
      const answer = byMethod.get(method === 'HEAD' ? 'GET' : method)
      if (answer !== undefined) {
        assertUrlLength(url)
        return answer(c)
      }
      if (method === 'OPTIONS' && preflight !== undefined)
        return new Response(null, { status: 204, headers: { ...preflight(c), allow } })
      await authorise?.(c)
      throw new ApiError('method_not_allowed', `this path answers ${allow}`, { headers: { allow } })
    }
  }

/** The host of a request that has no address; a reserved name. */
export const BAD_HOST = 'bad-host.invalid'

/** Refuses such a request as `bad_request`; a middleware, so that the refusal is logged like any other. */
const refuseBadHost: MiddlewareHandler = (c, next) => {
  if (!c.req.url.startsWith(`http://${BAD_HOST}/`)) return next()
  throw new ApiError(
    'bad_request',
    'expected one Host header with a host name or an address, and a path that begins with a slash and has no backslash',
  )
}

/** A longer address is refused: the longest legal one, a subset of a hundred ids, stays far below. */
export const LONGEST_URL = 8192

/** Throws `uri_too_long` on an address that is longer than any valid request. */
export function assertUrlLength(url: string): void {
  if (url.length <= LONGEST_URL) return
  throw new ApiError('uri_too_long', `the address is longer than ${LONGEST_URL} characters`)
}
