// The operator's page, rendered without scripts. A cookie opens it and nothing else; the JSON interface takes only
// the token, so a browser cannot be made to use it. The cookie is signed with the operator token and has its own
// expiry, so changing the token ends every session; Redis has the sessions, so logging out ends one.
import type { Hono, MiddlewareHandler } from 'hono'
import { getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { ApiError } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { activateClient, findClient, suspendClient } from '#signals/clients/clients.ts'
import { askRedis } from '#signals/redis/connect.ts'
import { SESSION_PREFIX } from '#signals/redis/keys.ts'
import { type Exchange, type OperatorEnv, readText, toRefusal } from '../exchange.ts'
import { type IsToken, isSame } from '../guard.ts'
import type { OperatorParts } from '../parts.ts'
import { clientOf } from '../routes/clients.ts'
import { haltRequest, haltServed, resumeAny } from '../routes/live.ts'
import { assertWebhook, replayQuery } from '../routes/webhooks.ts'
import { errorPage, loginPage, type Note, type Session, STYLE } from './layout.ts'
import { VIEWS } from './views.ts'

/** A working day. */
const SESSION_SECONDS = 12 * 3_600

const CSRF_BYTES = 16

const COOKIE = 'highwater_ops'

const COOKIE_OPTIONS = { path: '/ops', httpOnly: true, sameSite: 'Strict' } as const

export function mountPage(app: Hono<OperatorEnv>, parts: OperatorParts, isToken: IsToken): void {
  const shown = (answer: (c: Exchange) => Promise<Response>) => (c: Exchange) =>
    answer(c).catch((error: unknown) => errorPage(toRefusal(error, parts.onError)))
  const post = (path: string, answer: (c: Exchange) => Promise<Response>) =>
    app.post(
      path,
      shown(async c => {
        await assertOwnSite(c)
        return answer(c)
      }),
    )
  app.get('/ops/style.css', () => new Response(STYLE, { headers: STYLE_HEADERS }))
  app.get('/ops/login', () => loginPage(null))
  post('/ops/login', c => logIn(c, parts, isToken))
  post('/ops/logout', async c => {
    const form = await readOwnForm(c, parts)
    await askRedis(() => parts.redis.del(`${SESSION_PREFIX}${form.get('csrf')}`)) // that of the session, as was checked
    setCookie(c, COOKIE, '', { ...COOKIE_OPTIONS, maxAge: 0 })
    return redirect(c, '/ops/login')
  })
  for (const [path, view] of Object.entries(VIEWS)) {
    const answer = async (c: Exchange): Promise<Response> => {
      const session = await readSession(c, parts)
      return session === null ? redirect(c, '/ops/login') : view(c, parts, session)
    }
    app.get(path, shown(answer))
  }
  for (const [path, act] of Object.entries(FORMS)) {
    post(path, async c => redirect(c, await act(c, parts, await readOwnForm(c, parts))))
  }
}

const STYLE_HEADERS = {
  'content-type': 'text/css; charset=utf-8',
  'cache-control': 'max-age=3600',
  'x-content-type-options': 'nosniff',
}

async function logIn(
  c: Exchange,
  { token, clock, random, redis }: OperatorParts,
  isToken: IsToken,
): Promise<Response> {
  const given = (await readForm(c)).get('token') ?? ''
  if (!(await isToken(given.trim()))) return loginPage('That is not the operator token.')
  const endsMs = clock.now() + SESSION_SECONDS * 1_000
  const csrf = Buffer.from(random(CSRF_BYTES)).toString('hex')
  await askRedis(() => redis.set(SESSION_PREFIX + csrf, '', 'EX', SESSION_SECONDS))
  await setSignedCookie(c, COOKIE, `${endsMs}.${csrf}`, token, { ...COOKIE_OPTIONS, maxAge: SESSION_SECONDS })
  return redirect(c, '/ops')
}

/** The session of a request, or null if there is none, or it has expired or ended. */
async function readSession(c: Exchange, { token, clock, redis }: OperatorParts): Promise<Session | null> {
  const [endsMs, csrf = ''] = ((await getSignedCookie(c, token, COOKIE)) || '').split('.')
  if (!(clock.now() < Number(endsMs))) return null
  return (await askRedis(() => redis.exists(SESSION_PREFIX + csrf))) === 1 ? { csrf } : null
}

/**
 * Throws `forbidden` unless the browser says that a page of this host sent the form. The scheme is not compared: a
 * proxy may terminate TLS.
 */
async function assertOwnSite(c: Exchange): Promise<void> {
  try {
    await CSRF(c, async () => {})
  } catch (error) {
    throw error instanceof HTTPException ? foreignForm() : error
  }
}

const CSRF: MiddlewareHandler = csrf({
  origin: (origin, c) => URL.canParse(origin) && new URL(origin).host === new URL(c.req.url).host,
})

const foreignForm = (): ApiError =>
  new ApiError('forbidden', 'this form is not of your session: load the page again, and send it from there')

/** The form of a request, sent by a page of the session. */
async function readOwnForm(c: Exchange, parts: OperatorParts): Promise<URLSearchParams> {
  const session = await readSession(c, parts)
  if (session === null) throw new ApiError('unauthorized', 'log in first: your session is over')
  const form = await readForm(c)
  if (!isSame(form.get('csrf') ?? '', session.csrf)) throw foreignForm()
  return form
}

async function readForm(c: Exchange): Promise<URLSearchParams> {
  const media = (c.req.header('content-type') ?? '').split(';', 1)[0]
  if (media !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', 'expected a form: application/x-www-form-urlencoded')
  return new URLSearchParams(await readText(c))
}

/** Redirects after a form, so that reloading does not repeat it. */
function redirect(c: Exchange, location: string): Response {
  c.header('cache-control', 'no-store')
  return c.redirect(location, 303)
}

/** Performs the action of a form and returns the next page. */
type Act = (c: Exchange, parts: OperatorParts, form: URLSearchParams) => Promise<string>

const CLIENT = '/ops/view/clients/:client'

/** An action on one client; the next page shows the note. */
const forClient =
  (note: Note, act: (id: string, parts: OperatorParts, form: URLSearchParams) => Promise<unknown>): Act =>
  async (c, parts, form) => {
    const { id } = await findClient(parts.redis, clientOf(c))
    await act(id, parts, form)
    return `/ops/view/clients/${id}?note=${note}`
  }

const forWebhook = (note: Note, act: (id: string, parts: OperatorParts) => Promise<unknown>): Act =>
  forClient(note, async (id, parts) => act(await assertWebhook(id, parts), parts))

const forAlias =
  (note: Note, act: (alias: string, parts: OperatorParts) => Promise<void>): Act =>
  async (_, parts, form) => {
    const { alias } = parseRequest(haltRequest, fieldsOf(form))
    await act(alias, parts)
    return `/ops/view/live?note=${note}`
  }

/** The fields without the token. */
function fieldsOf(form: URLSearchParams): Record<string, string> {
  const { csrf: _, ...fields } = Object.fromEntries(form)
  return fields
}

/** Every form, by the path that it is sent to. */
export const FORMS: Readonly<Record<string, Act>> = {
  [`${CLIENT}/activate`]: forClient('activated', (id, { redis }) => activateClient(redis, id)),
  [`${CLIENT}/suspend`]: forClient('suspended', (id, { redis }) => suspendClient(redis, id)),
  [`${CLIENT}/test`]: forClient('tested', (id, { orders }) => orders.fireTest(id)),
  [`${CLIENT}/enable`]: forWebhook('enabled', (id, { orders }) => orders.enable(id)),
  [`${CLIENT}/disable`]: forWebhook('disabled', (id, { orders }) =>
    orders.disable(id, 'the operator disabled it'),
  ),
  [`${CLIENT}/replay`]: forClient('replayed', (id, { orders }, form) =>
    orders.replay(id, parseRequest(replayQuery, fieldsOf(form)).from),
  ),
  '/ops/view/live/halt': forAlias('halted', haltServed),
  '/ops/view/live/resume': forAlias('resumed', resumeAny),
}
