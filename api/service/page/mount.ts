// A page of a service: its views, and the forms of its routes. A cookie opens it and nothing else; the JSON interface takes only
// the token, so a browser cannot be made to use it.
import { readFileSync } from 'node:fs'
import { Hono, type MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { digestOf, matchesDigest } from '#signals/clients/token.ts'
import { toPattern } from '../app.ts'
import type { Exchange, ServiceEnv } from '../exchange.ts'
import { readText } from '../read-body.ts'
import { type Fields, type Forms, type SentForm, variablesSent } from './forms.ts'
import { inputOf, problemsOf, sentBy } from './inputs.ts'
import {
  confirmPage,
  errorPage,
  loginPage,
  type Piece,
  page,
  type RefusedForm,
  type Session,
  type Site,
  secretPage,
  type Texts,
} from './layout.ts'
import type { Answer, PageKind, PageRoute } from './page-route.ts'

const readFile = (name: string): string => readFileSync(new URL(import.meta.resolve(name)), 'utf8')

/** What pages load. Charts look as on the fact sheets. */
const FILES = [
  ['style.css', 'text/css', readFile('#pages/charts.css') + readFile('./browser/page.css')],
  ['icon.svg', 'image/svg+xml', readFile('#pages/icon.svg')],
  ['updates.js', 'text/javascript', readFile('./browser/updates.js')],
  ['login.js', 'text/javascript', readFile('./browser/login.js')],
] as const

const FILE_HEADERS = { 'cache-control': 'max-age=3600', 'x-content-type-options': 'nosniff' }

/** The script of a page sends it as it asks for the page again: such an answer is neither logged nor counted. */
const UPDATE_HEADER = 'x-highwater-update'

export type View<Parts, S> = {
  readonly tab: string
  /** What its address names, if the title does not name it by the variable alone. */
  readonly names?: string
  /** Whose caller may see it, where not every session may. */
  readonly group?: 'account'
  /** `asked` has the variables of the address and the fields of the query. */
  readonly content: (asked: Texts, parts: Parts, session: S) => Promise<Piece>
}

/** A page, as far as it is not that of another service. */
type Own<K extends PageKind, R extends PageRoute<K>, S extends Session<K['who']>> = {
  readonly site: Site
  readonly views: Readonly<Record<string, View<K['parts'], S>>>
  readonly forms: Forms<R, S>
  readonly parts: K['parts']
  readonly cookie: string
  readonly mostBytes: number
  /** Begins a session with the token that was given, and sets its cookie; says what is wrong if none begins. */
  logIn(c: Exchange, given: string): Promise<string | null>
  /** The session of a request, or null if there is none, or it has expired or ended. */
  readSession(c: Exchange): Promise<S | null>
  /** Ends a session. */
  end(c: Exchange, session: S): Promise<unknown>
  /** Throws if a view may not be seen; gives what stands below it. */
  below(view: View<K['parts'], S>, session: S): Piece | string
  /** Calls a route for the one who has logged in. */
  act(c: Exchange, route: R, sent: Fields, session: S): Promise<Answer>
  /** False, or an error, if an action is to be refused before its confirmation is asked for. */
  mayConfirm(route: R, session: S): boolean
  /** The page behind a form. */
  pageOf(path: string): string
}

export function createPage<K extends PageKind, R extends PageRoute<K>, S extends Session<K['who']>>(
  own: Own<K, R, S>,
): Hono<ServiceEnv> {
  const { site, forms } = own
  const { home } = site
  const app = new Hono<ServiceEnv>()
  const refuse = (c: Exchange, error: unknown, form: RefusedForm = {}) =>
    errorPage(site, toRefusal(c, error), c.req.method, backOf(c, site, own.views), form)
  app.onError((error, c) => refuse(c, error instanceof HTTPException ? foreignForm() : error))
  for (const [name, mediaType, text] of FILES) {
    const headers = { ...FILE_HEADERS, 'content-type': `${mediaType}; charset=utf-8` }
    const isServed = name !== 'login.js' || site.login.hasLinks
    if (isServed) app.get(`${home}/${name}`, () => new Response(text, { headers }))
  }
  app.get(`${home}/login`, c => loginPage(site, null, c.req.query('ended') !== undefined))
  app.post(`${home}/login`, OWN_SITE, async c => {
    const problem = await own.logIn(c, (await readForm(c, own.mostBytes)).token ?? '')
    if (problem === null) return redirect(c, home)
    return (await own.readSession(c)) === null ? loginPage(site, problem) : redirect(c, `${home}?note=still`)
  })
  app.post(`${home}/logout`, OWN_SITE, async c => {
    await own.end(c, (await readOwnForm(c, own)).session)
    return redirect(c, `${home}/login`)
  })
  for (const [path, view] of Object.entries(own.views)) app.get(path, c => showView(view, c, own))
  for (const sent of forms.forms) {
    app.post(toPattern(sent.path), OWN_SITE, async c => {
      const { given, session } = await readOwnForm(c, own)
      const variables = variablesSent(c.req.param(), given)
      c.set('variables', variables)
      return perform(sent, given, c, own, session).catch((error: unknown) => {
        const refusal = toRefusal(c, error)
        const { byName, says } = problemsOf(refusal, [...sent.variables, ...sent.fields])
        return refuse(c, refusal, { says, ...forms.filledAgain(session, sent, variables, given, byName) })
      })
    })
  }
  app.get(`${site.below}*`, c =>
    refuse(c, new ApiError('not_found', 'there is no such page: the link above leads to the first one')),
  )
  return app
}

async function showView<K extends PageKind, R extends PageRoute<K>, S extends Session<K['who']>>(
  view: View<K['parts'], S>,
  c: Exchange,
  own: Own<K, R, S>,
): Promise<Response> {
  const { site, forms, cookie } = own
  const session = await own.readSession(c)
  if (session === null)
    return redirect(c, `${site.home}/login${getCookie(c, cookie) === undefined ? '' : '?ended'}`)
  const { note, ...query } = c.req.query()
  const below = own.below(view, session)
  const content = await view.content({ ...query, ...c.req.param() }, own.parts, session)
  const [named] = Object.values(c.req.param())
  const title = named === undefined ? view.tab : `${view.names ?? ''}${named}`
  c.set('isUpdate', c.req.header(UPDATE_HEADER) !== undefined)
  return page(session, view.tab, title, html`${forms.noteOf(note)}${content}${below}`)
}

/** Asks for the confirmation of a form, or calls its route, which takes the fields as it takes a body or a query. */
async function perform<K extends PageKind, R extends PageRoute<K>, S extends Session<K['who']>>(
  { form, route, fields }: SentForm<R>,
  { confirm, ...given }: Texts,
  c: Exchange,
  own: Own<K, R, S>,
  session: S,
): Promise<Response> {
  const filled = { ...given }
  for (const [name, make] of Object.entries(form.makes ?? {})) filled[name] ||= make(own.parts)
  const sent = sentBy(fields, filled)
  const back = own.pageOf(c.req.path)
  c.set('body', Promise.resolve(sent))
  c.set('query', sent)
  const isAsked = form.warn !== undefined && confirm !== 'yes'
  if (isAsked && own.mayConfirm(route, session)) {
    const warning = await form.warn?.(await route.ask(c, own.parts, session.who), own.parts, session.who)
    const [title, says, button = form.offers[0]?.button.replace('…', '') ?? ''] = warning ?? []
    const asked = fields.filter(({ name }) => name === form.asks && !filled[name])
    const inputs = asked.map(each => inputOf(each, { values: {}, form: c.req.path }))
    if (title !== undefined && says !== undefined)
      return confirmPage(session, [title, says, button], c.req.path, filled, back, inputs)
  }
  const { data } = await own.act(c, route, sent, session)
  const { secret } = route
  const text = secret && z.looseObject({ [secret.field]: z.string() }).safeParse(data).data?.[secret.field]
  if (secret !== undefined && text !== undefined) return secretPage(session, secret, text, back)
  const note = form.isIdle?.(data) ? `${route.id}.idle` : route.id
  return redirect(c, `${form.next?.(data) ?? back}?note=${note}`)
}

/** The page that a request came from; the first page if that was none of ours, or a confirmation, which no link shows. */
function backOf(c: Exchange, { home, below }: Site, views: object): string {
  const from = URL.parse(c.req.header('referer') ?? '')
  if (from?.host !== new URL(c.req.url).host || !from.pathname.startsWith(below)) return home
  const isConfirmation = from.pathname === c.req.path && !Object.hasOwn(views, c.req.path)
  return isConfirmation ? home : from.pathname + from.search
}

/** A cookie outlives its session by a day: the login then says that it ended. */
const REMEMBERED_SECONDS = 86_400

/**
 * Of a session of so many seconds; of none it forgets the cookie. Out of reach of scripts and of other sites. The header Origin has
 * the scheme that the browser sees: a proxy may terminate TLS.
 */
export const cookieOptions = (c: Exchange, { home }: Pick<Site, 'home'>, seconds: number) => {
  const schemes = [c.req.header('origin'), c.req.header('x-forwarded-proto')]
  const secure = schemes.some(text => /^https\b/i.test(text ?? ''))
  const maxAge = seconds === 0 ? 0 : seconds + REMEMBERED_SECONDS
  return { path: home, httpOnly: true, sameSite: 'Strict', secure, maxAge } as const
}

/** Refuses a form unless a page of this host sent it; of any scheme, because a proxy may terminate TLS. */
const OWN_SITE: MiddlewareHandler = csrf({
  origin: (origin, c) => URL.canParse(origin) && new URL(origin).host === new URL(c.req.url).host,
})

const foreignForm = (): ApiError =>
  new ApiError('forbidden', 'this form is not of your session: load the page again, and send it from there')

async function readOwnForm<S extends Session>(
  c: Exchange,
  { readSession, mostBytes }: { readonly mostBytes: number; readSession(c: Exchange): Promise<S | null> },
) {
  const session = await readSession(c)
  if (session === null) throw new ApiError('unauthorized', 'log in first: your session is over')
  const { csrf = '', ...given } = await readForm(c, mostBytes)
  if (!matchesDigest(csrf, digestOf(session.csrf))) throw foreignForm()
  return { given, session }
}

async function readForm(c: Exchange, mostBytes: number): Promise<Texts> {
  const media = (c.req.header('content-type') ?? '').split(';', 1)[0]
  if (media !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', 'expected a form: application/x-www-form-urlencoded')
  const form = new URLSearchParams(await readText(c.req.raw, mostBytes))
  // What was chosen of several is a list of words.
  return Object.fromEntries([...form.keys()].map(name => [name, form.getAll(name).join(' ').trim()]))
}

const toRefusal = (c: Exchange, error: unknown): ApiError => c.get('service').toRefusal(error, c)

/** Redirects after a form, so that reloading does not repeat it. */
function redirect(c: Exchange, location: string): Response {
  c.header('cache-control', 'no-store')
  return c.redirect(location, 303)
}
