// The page for subscribers: who has logged in, and that what it does is done by the keyed routes, as that client.
import type { Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { invalidParameter } from '#core/contract/errors.ts'
import type { Identity } from '#signals/clients/clients.ts'
import { digestOf } from '#signals/clients/token.ts'
import { endpointsOf } from '#signals/outbox/webhooks.ts'
import {
  beginSession,
  endSession,
  LINK_TOKEN,
  readSession,
  SESSION_SECONDS,
  useLink,
} from '#signals/subscribers/sessions.ts'
import type { Exchange, ServiceEnv } from '../../service/exchange.ts'
import { createGuessDelay } from '../../service/guessing.ts'
import { UNNAMED } from '../../service/page/forms.ts'
import { cookieOptions, createPage } from '../../service/page/mount.ts'
import type { RemoteAddress } from '../../service/remote-address.ts'
import type { ServedParts } from '../exchange.ts'
import { assertMayCall } from '../identify.ts'
import { type AccountPage, type KeyedRoute, MOST_KEYED_BYTES } from '../keyed-route.ts'
import { ACCOUNT_FORMS, ACCOUNT_SITE, type Session } from './forms.ts'
import { VIEWS } from './views.ts'

const COOKIE = 'highwater_account'

type Access = {
  readonly addressOf: RemoteAddress
  /** The owner of a key, or null. */
  ofKey(c: Exchange, key: string): Promise<Identity | null>
}

export function createAccountPage(parts: ServedParts, access: Access): Hono<ServiceEnv> {
  const { redis } = parts
  const cookie = (c: Exchange, value: string, seconds: number): void =>
    setCookie(c, COOKIE, value, cookieOptions(c, ACCOUNT_SITE, seconds))
  const delay = createGuessDelay(parts, 'too many wrong keys: wait a second, and check that the key is whole')
  return createPage<AccountPage, KeyedRoute, Session>({
    ...{ site: ACCOUNT_SITE, forms: ACCOUNT_FORMS, parts, mostBytes: MOST_KEYED_BYTES },
    ...{ views: VIEWS, cookie: COOKIE },
    below: ({ group }, { who }) => {
      if (group === 'account') assertMayCall(group, who.client)
      return ''
    },
    logIn: async (c, given) => {
      const token = await logIn(c, given.replace(/^\S+#/, ''), parts, access) // a whole link, or its token
      if (token === null) await delay(access.addressOf(c))
      else cookie(c, token, SESSION_SECONDS)
      return token === null
        ? 'This key or link is not valid. A link works once, within 15 minutes: ask the operator for a new one.'
        : null
    },
    readSession: async c => {
      const found = await sessionOf(getCookie(c, COOKIE) ?? '', parts)
      if (found === null) return null
      const { client, by, csrf } = found
      c.set('client', client.id)
      const endpoints = await endpointsOf(redis, client.id)
      return { site: ACCOUNT_SITE, csrf, name: client.id, who: { client, by }, endpoints }
    },
    end: async c => {
      await endSession(redis, getCookie(c, COOKIE) ?? '')
      cookie(c, '', 0)
    },
    act: (c, route, _, { who, endpoints }) => {
      assertMayCall(route.group, who.client)
      const { endpoint = '' } = c.get('variables') ?? {}
      if (c.req.param('endpoint') === UNNAMED && endpoints.includes(endpoint))
        throw invalidParameter(
          'endpoint',
          endpoint,
          'expected a new name: the tab Endpoints changes what is set',
        )
      return route.act(c, parts, who)
    },
    mayConfirm: ({ group }, { who }) => {
      assertMayCall(group, who.client)
      return true
    },
    pageOf: path => (path.startsWith('/account/endpoints') ? '/account/endpoints' : '/account/deliveries'),
  })
}

const sessionOf = (token: string, { redis, operatorDigest, clock }: ServedParts) =>
  readSession(redis, token, operatorDigest, clock.now())

/** The token of a new session for a key or a link; null if it is neither, or ended with what it hangs on. */
async function logIn(c: Exchange, given: string, parts: ServedParts, { ofKey }: Access) {
  const { redis, registering, clock } = parts
  const begin = (client: string, holder: Parameters<typeof beginSession>[2]) =>
    beginSession(redis, client, holder, registering.drawBytes, clock.now())
  if (!given.startsWith(LINK_TOKEN)) {
    const found = await ofKey(c, given)
    return found && begin(found.client.id, { keyId: found.keyId, digest: digestOf(given) })
  }
  const link = await useLink(redis, given)
  const token = link && (await begin(link.client, link.holder))
  return token !== null && (await sessionOf(token, parts)) !== null ? token : null
}
