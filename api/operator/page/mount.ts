// The operator's page. Its cookie is signed with OPERATOR_TOKEN and has its own expiry, so changing that ends every session;
// Redis has the sessions of each token, so logging out ends one, and revoking a token its own.
import type { Hono } from 'hono'
import { getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie'
import { html } from 'hono/html'
import { assertScope, listOperators, mainOperator, mayUse } from '#signals/operators/tokens.ts'
import { askRedis } from '#signals/redis/connect.ts'
import { sessionsKey } from '#signals/redis/keys.ts'
import type { Exchange, ServiceEnv } from '../../service/exchange.ts'
import type { Piece } from '../../service/page/layout.ts'
import { cookieOptions, createPage } from '../../service/page/mount.ts'
import { variablesIn } from '../../service/page/page-route.ts'
import { audited } from '../audited.ts'
import { MOST_OPERATOR_BYTES, type OperatorParts } from '../exchange.ts'
import type { WhoseToken } from '../guard.ts'
import type { OperatorPage, OperatorRoute } from '../operator-route.ts'
import { OPERATOR_FORMS, OPERATOR_SITE, SCOPES, type Session, type Tab } from './site.ts'
import { VIEWS } from './views.ts'

/** A working day. */
const SESSION_SECONDS = 12 * 3_600

const COOKIE = 'highwater_ops'

export const createOperatorPage = (parts: OperatorParts, whoseToken: WhoseToken): Hono<ServiceEnv> =>
  createPage<OperatorPage, OperatorRoute, Session>({
    site: OPERATOR_SITE,
    parts,
    forms: OPERATOR_FORMS,
    mostBytes: MOST_OPERATOR_BYTES,
    ...{ views: VIEWS, cookie: COOKIE, below: ({ tab }, session) => scopeLine(session, tab) },
    logIn: (c, given) => logIn(c, given, parts, whoseToken),
    readSession: c => readSession(c, parts),
    end: async (c, { csrf, who }) => {
      await askRedis(() => parts.redis.zrem(sessionsKey(who.digest), csrf))
      setCookie(c, COOKIE, '', cookieOptions(c, OPERATOR_SITE, 0))
    },
    act: (c, route, sent, { who }) =>
      audited({ who, route, path: variablesIn(c), sent }, parts, () => route.handler(c, parts, who)),
    mayConfirm: ({ scope }, { who }) => mayUse(who, scope),
    pageOf: path => /^\/ops\/view\/(?:clients\/[^/]+|clients|signals|live|audit)/.exec(path)?.[0] ?? '/ops',
  })

/** What a token may not do is said, and not offered. */
function scopeLine({ who }: Session, tab: string): Piece | string {
  const scope = SCOPES[tab as Tab] // views have no others
  if (mayUse(who, scope)) return ''
  return html`<p class="panel dim">The actions of this page need a token with the scope <code>${scope}</code>: yours has ${who.scopes.join(', ')}.</p>`
}

async function logIn(
  c: Exchange,
  given: string,
  { token, clock, random, redis }: OperatorParts,
  whoseToken: WhoseToken,
) {
  const who = await whoseToken(given)
  if (who === null) return 'That is not the token of an operator.'
  assertScope(who, 'read')
  const endsMs = clock.now() + SESSION_SECONDS * 1_000
  const csrf = Buffer.from(random(16)).toString('hex')
  const sessions = sessionsKey(who.digest)
  const kept = redis.multi().zremrangebyscore(sessions, 0, clock.now()).zadd(sessions, endsMs, csrf)
  await askRedis(() => kept.expire(sessions, SESSION_SECONDS).exec())
  const options = cookieOptions(c, OPERATOR_SITE, SESSION_SECONDS)
  await setSignedCookie(c, COOKIE, `${endsMs}.${csrf}.${who.name}`, token, options)
  return null
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
  return { site: OPERATOR_SITE, csrf, name: who.name, who, served: parts.aliases() }
}
