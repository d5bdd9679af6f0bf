// The operator's page. A cookie opens it and nothing else; the JSON interface takes only the token, so a browser cannot
// be made to use it. The cookie is signed with OPERATOR_TOKEN and has its own expiry, so changing that ends every
// session; Redis has the sessions of each token, so logging out ends one, and revoking a token its own.
import type { Hono, MiddlewareHandler } from 'hono'
import { getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { ApiError } from '#core/contract/errors.ts'
import {
  assertScope,
  listOperators,
  mainOperator,
  missingScope,
  type Operator,
} from '#signals/operators/tokens.ts'
import { askRedis } from '#signals/redis/connect.ts'
import { sessionsKey } from '#signals/redis/keys.ts'
import { audited } from '../audited.ts'
import { type Exchange, type OperatorEnv, readText, toRefusal } from '../exchange.ts'
import { isSame, type WhoseToken } from '../guard.ts'
import type { OperatorParts } from '../parts.ts'
import { OPERATOR_ROUTES } from '../routes.ts'
import { FORMS, fieldsOf } from './forms.ts'
import { confirmPage, errorPage, loginPage, mainOf, type Session, STYLE } from './layout.ts'
import { createUpdates, SCRIPT, wantsUpdates } from './updates.ts'
import { VIEWS, type View } from './views.ts'

/** A working day. */
const SESSION_SECONDS = 12 * 3_600

const CSRF_BYTES = 16

const COOKIE = 'highwater_ops'

/** The header Origin has the scheme that the browser sees: a proxy may terminate TLS. */
const cookieOptions = (c: Exchange) => {
  const schemes = [c.req.header('origin'), `${c.req.header('x-forwarded-proto')}:`]
  const secure = schemes.some(text => text?.startsWith('https:'))
  return { path: '/ops', httpOnly: true, sameSite: 'Strict', secure } as const
}

/** Each form with the route whose action it is, which declares what its token needs. */
const SENT_FORMS = Object.entries(FORMS).map(([path, form]) => ({
  ...form,
  path,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
  route: OPERATOR_ROUTES.find(({ id }) => id === form.action)!, // a test compares them
}))

const isSendable = (path: string, who: Operator): boolean =>
  SENT_FORMS.some(({ pattern, route }) => pattern.test(path) && missingScope(who, route.scope) === null)

export function mountPage(app: Hono<OperatorEnv>, parts: OperatorParts, whoseToken: WhoseToken): void {
  const shown = (answer: (c: Exchange) => Promise<Response>) => (c: Exchange) =>
    answer(c).catch((error: unknown) => errorPage(toRefusal(error, parts.onError), c.req.method, backOf(c)))
  const post = (path: string, answer: (c: Exchange) => Promise<Response>) =>
    app.post(
      path,
      shown(async c => {
        await assertOwnSite(c)
        return answer(c)
      }),
    )
  app.get('/ops/style.css', () => new Response(STYLE, { headers: fileHeaders('text/css') }))
  app.get('/ops/updates.js', () => new Response(SCRIPT, { headers: fileHeaders('text/javascript') }))
  const update = createUpdates(parts)
  app.get('/ops/login', () => loginPage(null))
  post('/ops/login', c => logIn(c, parts, whoseToken))
  post('/ops/logout', async c => {
    const { csrf, who } = (await readOwnForm(c, parts)).session
    await askRedis(() => parts.redis.zrem(sessionsKey(who.digest), csrf))
    setCookie(c, COOKIE, '', { ...cookieOptions(c), maxAge: 0 })
    return redirect(c, '/ops/login')
  })
  for (const [path, view] of Object.entries(VIEWS)) {
    const answer = async (c: Exchange): Promise<Response> => {
      const session = await readSession(c, parts)
      if (wantsUpdates(c)) return session === null ? NO_UPDATES() : update(c, () => contentOf(c, view, parts))
      return session === null ? redirect(c, '/ops/login') : view(c, parts, session)
    }
    app.get(path, shown(answer))
  }
  for (const { path, route, act, warn } of SENT_FORMS) {
    post(path, async c => {
      const { form, session } = await readOwnForm(c, parts)
      const asks = form.get('confirm') !== 'yes' && session.may(c.req.path)
      const warning = asks ? ((await warn?.(c, parts, form)) ?? null) : null
      if (warning === null) {
        const intent = { who: session.who, route, path: c.req.param(), sent: fieldsOf(form) }
        const next = await audited(intent, parts, () => act(c, parts, form, session))
        return typeof next === 'string' ? redirect(c, next) : next
      }
      return confirmPage(session, warning, c.req.path, fieldsOf(form))
    })
  }
}

/** The page that a request came from; the overview if that was none of ours, or a confirmation, which no link shows. */
function backOf(c: Exchange): string {
  const from = URL.parse(c.req.header('referer') ?? '')
  if (from?.host !== new URL(c.req.url).host || !from.pathname.startsWith('/ops/view/')) return '/ops'
  const isConfirmation = from.pathname === c.req.path && !Object.hasOwn(VIEWS, c.req.path)
  return isConfirmation ? '/ops' : from.pathname + from.search
}

/** To which a browser does not connect again. */
const NO_UPDATES = (): Response => new Response(null, { status: 204 })

/** The content of a page now; null if the session is over. */
async function contentOf(c: Exchange, view: View, parts: OperatorParts): Promise<string | null> {
  const session = await readSession(c, parts)
  return session === null ? null : mainOf(await view(c, parts, session))
}

const fileHeaders = (mediaType: string) => ({
  'content-type': `${mediaType}; charset=utf-8`,
  'cache-control': 'max-age=3600',
  'x-content-type-options': 'nosniff',
})

async function logIn(
  c: Exchange,
  { token, clock, random, redis }: OperatorParts,
  whoseToken: WhoseToken,
): Promise<Response> {
  const given = (await readForm(c)).get('token') ?? ''
  const who = await whoseToken(given.trim())
  if (who === null) return loginPage('That is not the token of an operator.')
  assertScope(who, 'read')
  const endsMs = clock.now() + SESSION_SECONDS * 1_000
  const csrf = Buffer.from(random(CSRF_BYTES)).toString('hex')
  const sessions = sessionsKey(who.digest)
  const kept = redis.multi().zremrangebyscore(sessions, 0, clock.now()).zadd(sessions, endsMs, csrf)
  await askRedis(() => kept.expire(sessions, SESSION_SECONDS).exec())
  const options = { ...cookieOptions(c), maxAge: SESSION_SECONDS }
  await setSignedCookie(c, COOKIE, `${endsMs}.${csrf}.${who.name}`, token, options)
  return redirect(c, '/ops')
}

/** The session of a request, or null if there is none, or it has expired or ended. */
async function readSession(c: Exchange, { token, clock, redis }: OperatorParts): Promise<Session | null> {
  const [endsMs, csrf = '', name = ''] = ((await getSignedCookie(c, token, COOKIE)) || '').split('.')
  if (!(clock.now() < Number(endsMs))) return null
  const who = [mainOperator(token), ...(await listOperators(redis))].find(each => each.name === name)
  if (who === undefined) return null
  const end = await askRedis(() => redis.zscore(sessionsKey(who.digest), csrf))
  return end === null ? null : { csrf, who, may: path => isSendable(path, who) }
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

/** The form of a request, sent by a page of the session, and who sent it. */
async function readOwnForm(c: Exchange, parts: OperatorParts) {
  const session = await readSession(c, parts)
  if (session === null) throw new ApiError('unauthorized', 'log in first: your session is over')
  const form = await readForm(c)
  if (!isSame(form.get('csrf') ?? '', session.csrf)) throw foreignForm()
  return { form, session }
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
