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
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { readHead } from '#signals/log/read-log.ts'
import { isOperator, MAIN_OPERATOR } from '#signals/operators/tokens.ts'
import { askRedis } from '#signals/redis/connect.ts'
import { SESSION_PREFIX } from '#signals/redis/keys.ts'
import { audited } from '../audited.ts'
import { type Exchange, type OperatorEnv, readText, toRefusal } from '../exchange.ts'
import { isSame, type WhoseToken } from '../guard.ts'
import type { OperatorParts } from '../parts.ts'
import { clientOf } from '../routes/clients.ts'
import { haltKnown, haltRequest, resumeAny } from '../routes/live.ts'
import { assertWebhook, replayQuery } from '../routes/webhooks.ts'
import { confirmPage, errorPage, loginPage, type Note, type Session, STYLE, type Warning } from './layout.ts'
import { VIEWS } from './views.ts'

/** A working day. */
const SESSION_SECONDS = 12 * 3_600

const CSRF_BYTES = 16

const COOKIE = 'highwater_ops'

const COOKIE_OPTIONS = { path: '/ops', httpOnly: true, sameSite: 'Strict' } as const

export function mountPage(app: Hono<OperatorEnv>, parts: OperatorParts, whoseToken: WhoseToken): void {
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
  post('/ops/login', c => logIn(c, parts, whoseToken))
  post('/ops/logout', async c => {
    const { form } = await readOwnForm(c, parts)
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
  for (const [path, { action, act, warn }] of Object.entries(FORMS)) {
    post(path, async c => {
      const { form, session } = await readOwnForm(c, parts)
      const warning = form.get('confirm') === 'yes' ? null : ((await warn?.(c, parts, form)) ?? null)
      if (warning === null) {
        const intent = { who: session.who, action, fields: { ...fieldsOf(form), ...c.req.param() } }
        return redirect(c, await audited(intent, parts, () => act(c, parts, form)))
      }
      return confirmPage(session, warning, c.req.path, fieldsOf(form))
    })
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
  whoseToken: WhoseToken,
): Promise<Response> {
  const given = (await readForm(c)).get('token') ?? ''
  const who = await whoseToken(given.trim())
  if (who === null) return loginPage('That is not the token of an operator.')
  const endsMs = clock.now() + SESSION_SECONDS * 1_000
  const csrf = Buffer.from(random(CSRF_BYTES)).toString('hex')
  await askRedis(() => redis.set(SESSION_PREFIX + csrf, who, 'EX', SESSION_SECONDS))
  await setSignedCookie(c, COOKIE, `${endsMs}.${csrf}`, token, { ...COOKIE_OPTIONS, maxAge: SESSION_SECONDS })
  return redirect(c, '/ops')
}

/** The session of a request, or null if there is none, or it has expired or ended. */
async function readSession(c: Exchange, { token, clock, redis }: OperatorParts): Promise<Session | null> {
  const [endsMs, csrf = ''] = ((await getSignedCookie(c, token, COOKIE)) || '').split('.')
  if (!(clock.now() < Number(endsMs))) return null
  const who = await askRedis(() => redis.get(SESSION_PREFIX + csrf))
  return who !== null && (await isOperator(redis, who || MAIN_OPERATOR))
    ? { csrf, who: who || MAIN_OPERATOR }
    : null // one of an earlier release has no name
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

/** Performs the action of a form and returns the next page. */
type Act = (c: Exchange, parts: OperatorParts, form: URLSearchParams) => Promise<string>

/** An action, by the id of its route in the JSON interface, and what must be confirmed before it; null if nothing must be. */
type Form = {
  readonly action: string
  readonly act: Act
  readonly warn?: (c: Exchange, parts: OperatorParts, form: URLSearchParams) => Promise<Warning | null>
}

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

/** A warning about a client that exists. */
const aboutClient =
  (warn: (id: string, parts: OperatorParts, form: URLSearchParams) => Promise<Warning> | Warning) =>
  async (c: Exchange, parts: OperatorParts, form: URLSearchParams): Promise<Warning> => {
    const { id } = await findClient(parts.redis, clientOf(c))
    return { ...(await warn(id, parts, form)), back: `/ops/view/clients/${id}` }
  }

/** What the form itself says, without the token and the confirmation. */
function fieldsOf(form: URLSearchParams): Record<string, string> {
  const { csrf: _, confirm: __, ...fields } = Object.fromEntries(form)
  return fields
}

const rangeOf = (form: URLSearchParams) => parseRequest(replayQuery, fieldsOf(form))

/** Every form, by the path that it is sent to. What stops signals or sends them again is confirmed first. */
export const FORMS: Readonly<Record<string, Form>> = {
  [`${CLIENT}/activate`]: {
    action: 'activate',
    act: forClient('activated', (id, { redis }) => activateClient(redis, id)),
  },
  [`${CLIENT}/suspend`]: {
    action: 'suspend',
    act: forClient('suspended', (id, { redis }) => suspendClient(redis, id)),
    warn: aboutClient(id => ({
      title: `Suspend ${id}?`,
      says: 'Its pulls are refused and its deliveries stop, at once. Its keys, its webhook and what it may see stay as they are: activate it to go on.',
      label: 'Suspend',
    })),
  },
  [`${CLIENT}/test`]: { action: 'test', act: forClient('tested', (id, { orders }) => orders.fireTest(id)) },
  [`${CLIENT}/enable`]: {
    action: 'enable_webhook',
    act: forWebhook('enabled', (id, { orders }) => orders.enable(id)),
  },
  [`${CLIENT}/disable`]: {
    action: 'disable_webhook',
    act: forWebhook('disabled', (id, { orders }) => orders.disable(id, 'the operator disabled it')),
    warn: aboutClient(id => ({
      title: `Disable the webhook of ${id}?`,
      says: 'Nothing is sent to it until it is enabled again. Signals that are fired meanwhile wait, and are sent then.',
      label: 'Disable',
    })),
  },
  [`${CLIENT}/replay`]: {
    action: 'replay',
    act: forClient('replayed', (id, { orders }, form) => orders.replay(id, rangeOf(form))),
    warn: aboutClient(async (id, { redis, newEpoch }, form) => {
      const { from, to, only } = rangeOf(form)
      const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, (await readHead(redis, newEpoch)).seq)
      const count = Math.max(0, last - from + 1)
      const what = from === to ? `signal ${from}` : `signals ${from} to ${last}`
      const which =
        only === 'exhausted' ? 'those that were given up' : 'those that it may see, delivered before or not'
      return {
        title: only === 'exhausted' ? `Send ${id} what was given up again?` : `Send ${id} ${what} again?`,
        says: `Of ${count} ${count === 1 ? 'signal' : 'signals'}, ${which} are sent to its webhook. A receiver drops what it has by signal_id.`,
        label: 'Send again',
      }
    }),
  },
  '/ops/view/live/halt': {
    action: 'halt',
    act: forAlias('halted', haltKnown),
    warn: async (_, __, form) =>
      form.get('alias') === EVERY_ALIAS
        ? {
            title: 'Halt every strategy?',
            says: 'From now on no client gets a long or a short of any strategy, whatever fires it. A flat is still sent. It lasts until you resume.',
            label: 'Halt all',
            back: '/ops/view/live',
          }
        : null,
  },
  '/ops/view/live/resume': { action: 'resume', act: forAlias('resumed', resumeAny) },
}
