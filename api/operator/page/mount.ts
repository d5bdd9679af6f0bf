// The operator's page. A cookie opens it and nothing else; the JSON interface takes only the token, so a browser cannot
// be made to use it. The cookie is signed with OPERATOR_TOKEN and has its own expiry, so changing that ends every
// session; Redis has the sessions of each token, so logging out ends one, and revoking a token its own.
import { readFileSync } from 'node:fs'
import { Hono, type MiddlewareHandler } from 'hono'
import { getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { findClient } from '#signals/clients/clients.ts'
import { assertScope, listOperators, mainOperator, mayUse } from '#signals/operators/tokens.ts'
import { askRedis } from '#signals/redis/connect.ts'
import { sessionsKey } from '#signals/redis/keys.ts'
import { toPattern } from '../../service/app.ts'
import type { Exchange, ServiceEnv } from '../../service/exchange.ts'
import { readText } from '../../service/read-body.ts'
import { audited } from '../audited.ts'
import { MOST_OPERATOR_BYTES, toRefusal } from '../exchange.ts'
import { isSame, type WhoseToken } from '../guard.ts'
import type { OperatorParts } from '../parts.ts'
import { FORMS, filledAgain, inputOf, noteOf, type SentForm, sentBy } from './forms.ts'
import {
  confirmPage,
  errorPage,
  loginPage,
  type Piece,
  page,
  type Session,
  secretPage,
  type Texts,
} from './layout.ts'
import { VIEWS, type View } from './views.ts'

const readFile = (name: string): string => readFileSync(new URL(import.meta.resolve(name)), 'utf8')

/** Charts look as on the fact sheets. */
const STYLE = readFile('#pages/charts.css') + readFile('./browser/operator.css')
const ICON = readFile('#pages/icon.svg')
const SCRIPT = readFile('./browser/updates.js')

/** A working day. */
const SESSION_SECONDS = 12 * 3_600

const COOKIE = 'highwater_ops'

/** The script of a page sends it as it asks for the page again: such an answer is neither logged nor counted. */
const UPDATE_HEADER = 'x-highwater-update'

/** The header Origin has the scheme that the browser sees: a proxy may terminate TLS. */
const cookieOptions = (c: Exchange) => {
  const schemes = [c.req.header('origin'), c.req.header('x-forwarded-proto')]
  const secure = schemes.some(text => /^https\b/i.test(text ?? ''))
  return { path: '/ops', httpOnly: true, sameSite: 'Strict', secure } as const
}

export function createPage(parts: OperatorParts, whoseToken: WhoseToken): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  const refuse = (c: Exchange, error: unknown, again?: Piece | string) =>
    errorPage(toRefusal(error, parts.onError), c.req.method, backOf(c), again)
  app.onError((error, c) => refuse(c, error instanceof HTTPException ? foreignForm() : error))
  app.get('/ops/style.css', () => new Response(STYLE, { headers: fileHeaders('text/css') }))
  app.get('/ops/icon.svg', () => new Response(ICON, { headers: fileHeaders('image/svg+xml') }))
  app.get('/ops/updates.js', () => new Response(SCRIPT, { headers: fileHeaders('text/javascript') }))
  app.get('/ops/login', () => loginPage(null))
  app.post('/ops/login', OWN_SITE, c => logIn(c, parts, whoseToken))
  app.post('/ops/logout', OWN_SITE, async c => {
    const { csrf, who } = (await readOwnForm(c, parts)).session
    await askRedis(() => parts.redis.zrem(sessionsKey(who.digest), csrf))
    setCookie(c, COOKIE, '', { ...cookieOptions(c), maxAge: 0 })
    return redirect(c, '/ops/login')
  })
  for (const [path, view] of Object.entries(VIEWS)) app.get(path, c => showView(view, c, parts))
  for (const sent of FORMS) {
    app.post(toPattern(sent.path), OWN_SITE, async c => {
      const { given, session } = await readOwnForm(c, parts)
      return perform(sent, given, c, parts, session).catch((error: unknown) =>
        refuse(c, error, filledAgain(session, sent, c.req.path, given)),
      )
    })
  }
  return app
}

async function showView(view: View, c: Exchange, parts: OperatorParts): Promise<Response> {
  const session = await readSession(c, parts)
  if (session === null) return redirect(c, '/ops/login')
  const { note, ...query } = c.req.query()
  const content = await view.content({ ...query, ...c.req.param() }, parts, session)
  const [named] = Object.values(c.req.param())
  const title = named === undefined ? view.tab : `${view.names ?? ''}${named}`
  c.set('isUpdate', c.req.header(UPDATE_HEADER) !== undefined)
  return page(session, view.tab, title, html`${noteOf(note)}${content}`)
}

/** Asks for the confirmation of a form, or calls its route, which takes the fields as it takes a body or a query. */
async function perform(
  { form, route, fields }: SentForm,
  { confirm, ...given }: Texts,
  c: Exchange,
  parts: OperatorParts,
  session: Session,
): Promise<Response> {
  const filled = { ...given }
  for (const [name, make] of Object.entries(form.makes ?? {})) filled[name] ||= make(parts)
  const sent = sentBy(fields, filled)
  const back = pageOf(c.req.path)
  c.set('body', Promise.resolve(sent))
  c.set('query', sent)
  if (form.warn !== undefined && confirm !== 'yes' && mayUse(session.who, route.scope)) {
    const client = c.req.param('client')
    if (client !== undefined) await findClient(parts.redis, client)
    const warning = await form.warn(await route.ask(c), parts)
    const [title, says, button = form.offers[0]?.button.replace('…', '') ?? ''] = warning ?? []
    const inputs = fields.filter(({ name }) => name === form.asks && !filled[name]).map(each => inputOf(each))
    if (title !== undefined && says !== undefined)
      return confirmPage(session, [title, says, button], c.req.path, filled, back, inputs)
  }
  const intent = { who: session.who, route, path: c.req.param(), sent }
  const { data } = await audited(intent, parts, () => route.handler(c, parts, session.who))
  const { secret } = route
  const text = secret && z.looseObject({ [secret.field]: z.string() }).safeParse(data).data?.[secret.field]
  if (secret !== undefined && text !== undefined) return secretPage(session, secret, text, back)
  const note = form.isIdle?.(data) ? `${route.id}.idle` : route.id
  return redirect(c, `${form.next?.(data) ?? back}?note=${note}`)
}

const pageOf = (path: string): string =>
  /^\/ops\/view\/(?:clients\/[^/]+|clients|signals|live|audit)/.exec(path)?.[0] ?? '/ops'

/** The page that a request came from; the overview if that was none of ours, or a confirmation, which no link shows. */
function backOf(c: Exchange): string {
  const from = URL.parse(c.req.header('referer') ?? '')
  if (from?.host !== new URL(c.req.url).host || !from.pathname.startsWith('/ops/view/')) return '/ops'
  const isConfirmation = from.pathname === c.req.path && !Object.hasOwn(VIEWS, c.req.path)
  return isConfirmation ? '/ops' : from.pathname + from.search
}

const fileHeaders = (mediaType: string) => ({
  'content-type': `${mediaType}; charset=utf-8`,
  'cache-control': 'max-age=3600',
  'x-content-type-options': 'nosniff',
})

async function logIn(c: Exchange, { token, clock, random, redis }: OperatorParts, whoseToken: WhoseToken) {
  const { token: given = '' } = await readForm(c)
  const who = await whoseToken(given)
  if (who === null) return loginPage('That is not the token of an operator.')
  assertScope(who, 'read')
  const endsMs = clock.now() + SESSION_SECONDS * 1_000
  const csrf = Buffer.from(random(16)).toString('hex')
  const sessions = sessionsKey(who.digest)
  const kept = redis.multi().zremrangebyscore(sessions, 0, clock.now()).zadd(sessions, endsMs, csrf)
  await askRedis(() => kept.expire(sessions, SESSION_SECONDS).exec())
  const options = { ...cookieOptions(c), maxAge: SESSION_SECONDS }
  await setSignedCookie(c, COOKIE, `${endsMs}.${csrf}.${who.name}`, token, options)
  return redirect(c, '/ops')
}

/** The session of a request, or null if there is none, or it has expired or ended. */
async function readSession(c: Exchange, parts: OperatorParts): Promise<Session | null> {
  const { token, clock, redis } = parts
  const [endsMs, csrf = '', name = ''] = ((await getSignedCookie(c, token, COOKIE)) || '').split('.')
  if (!(clock.now() < Number(endsMs))) return null
  const who = [mainOperator(token), ...(await listOperators(redis))].find(each => each.name === name)
  if (who === undefined) return null
  const end = await askRedis(() => redis.zscore(sessionsKey(who.digest), csrf))
  if (end === null) return null
  return { csrf, who, served: parts.aliases() }
}

/** Refuses a form unless a page of this host sent it; of any scheme, because a proxy may terminate TLS. */
const OWN_SITE: MiddlewareHandler = csrf({
  origin: (origin, c) => URL.canParse(origin) && new URL(origin).host === new URL(c.req.url).host,
})

const foreignForm = (): ApiError =>
  new ApiError('forbidden', 'this form is not of your session: load the page again, and send it from there')

async function readOwnForm(c: Exchange, parts: OperatorParts) {
  const session = await readSession(c, parts)
  if (session === null) throw new ApiError('unauthorized', 'log in first: your session is over')
  const { csrf = '', ...given } = await readForm(c)
  if (!isSame(csrf, session.csrf)) throw foreignForm()
  return { given, session }
}

async function readForm(c: Exchange): Promise<Texts> {
  const media = (c.req.header('content-type') ?? '').split(';', 1)[0]
  if (media !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', 'expected a form: application/x-www-form-urlencoded')
  const form = [...new URLSearchParams(await readText(c.req.raw, MOST_OPERATOR_BYTES))]
  return Object.fromEntries(form.map(([name, text]) => [name, text.trim()]))
}

/** Redirects after a form, so that reloading does not repeat it. */
function redirect(c: Exchange, location: string): Response {
  c.header('cache-control', 'no-store')
  return c.redirect(location, 303)
}
