import { ApiError } from '#core/contract/errors.ts'
import { SIGNAL_SCHEMA_VERSION } from '#core/contract/signal.ts'
import { accountPath, HISTORY_PATH, parseAccountQuery } from '#core/contract/signal-query.ts'
import type { PreviewRouteId, SignalsRouteId } from '#core/contract/signals-route.ts'
import { confirmKey } from '#signals/clients/api-keys.ts'
import { accountFor } from '#signals/delivery/account-for.ts'
import { readHead, readSignal } from '#signals/log/read-log.ts'
import { newestVisible } from '#signals/log/visible.ts'
import { API_VERSION } from './documents.ts'
import {
  type KeyedHandler,
  metaOf,
  type OpenHandler,
  sendBytes,
  sendEnveloped,
  sendJson,
} from './exchange.ts'
import { history } from './history.ts'
import { unauthorized, WRONG_KEY } from './identify.ts'
import { PROGRAM_HANDLERS } from './program/keyed.ts'
import { programAliasOf } from './program/prepared-program.ts'
import { assertReady } from './readiness.ts'
import { getWebhook, putWebhook } from './webhook.ts'

type OpenId = 'healthz' | 'readyz' | 'version' | 'openapi'

/** The handlers of routes that need no key. */
export const OPEN_HANDLERS: { readonly [Id in OpenId]: OpenHandler } = {
  healthz: (c, parts) =>
    sendEnveloped(c, parts, { status: 'ok' }, { self: '/healthz', readyz: '/readyz', version: '/version' }),
  readyz: async (c, parts) => {
    const checks = await assertReady(parts.redis, parts.isDraining())
    const links = { self: '/readyz', healthz: '/healthz', version: '/version' }
    return sendEnveloped(c, parts, { ready: true, checks }, links)
  },
  version: (c, parts) => {
    const data = { api_version: API_VERSION, stability: 'stable', schema_version: SIGNAL_SCHEMA_VERSION }
    return sendEnveloped(c, parts, data, { self: '/version', schema: '/v1/signals/schema' })
  },
  openapi: (_c, parts) => sendBytes(parts, parts.documents.openApi, OPENAPI_MEDIA),
}

/** The handlers of routes that need a key; what else they need is in the table and was seen to. */
export const KEYED_HANDLERS: {
  readonly [Id in Exclude<SignalsRouteId, OpenId | PreviewRouteId>]: KeyedHandler
} = {
  whoami: (_c, parts, { client, keyId }) =>
    sendJson(parts, {
      client_id: client.id,
      tier: client.tier,
      status: client.status,
      entitlements: { aliases: client.aliases, [programAliasOf(parts.program())]: client.program },
      key_id: keyId,
    }),
  confirm_key: async (c, parts, { keyId }) => {
    const { client, retired } = await confirmKey(parts.redis, keyId, parts.clock.now()).catch(died)
    const data = { client_id: client, key_id: keyId, retired_key_ids: retired }
    return sendEnveloped(c, parts, data, { self: '/v1/keys/confirm', whoami: '/v1/whoami' })
  },
  put_webhook: putWebhook,
  get_webhook: getWebhook,
  latest: async (c, parts, { client }) => {
    const seq = await newestVisible(parts.redis, client)
    const signal = seq === 0 ? null : await readSignal(parts.redis, seq)
    if (signal === null) throw new ApiError('not_found', 'no signal yet')
    const meta = JSON.stringify(metaOf(c, parts))
    const links = JSON.stringify({ self: '/v1/signals/latest', history: HISTORY_PATH })
    const body = `{"data":${signal.body},"meta":${meta},"links":${links}}` // the stored bytes as they are
    return sendBytes(parts, new TextEncoder().encode(body))
  },
  history,
  schema: (c, parts) => {
    const links = { self: '/v1/signals/schema', history: HISTORY_PATH }
    return sendEnveloped(c, parts, parts.documents.signalSchema, links)
  },
  head: async (c, parts, { client }) => {
    const { redis, clock, newEpoch } = parts
    const [{ seq, epoch }, newest] = await Promise.all([
      readHead(redis, newEpoch),
      newestVisible(redis, client),
    ])
    const server_time = new Date(clock.now()).toISOString()
    const links = { self: '/v1/signals/head', history: HISTORY_PATH }
    return sendEnveloped(c, parts, { seq: newest, log_seq: seq, epoch, server_time }, links)
  },
  account: async (c, parts, { client }) => {
    const query = parseAccountQuery(new URL(c.req.url).searchParams)
    const account = await accountFor(parts.redis, client.id, query.from, query.to)
    return sendEnveloped(c, parts, account, { self: accountPath(query), history: HISTORY_PATH })
  },
  ...PROGRAM_HANDLERS,
}

const OPENAPI_MEDIA = { 'content-type': 'application/openapi+json; charset=utf-8' }

/** Revoked between the look at the key and its confirmation: then it is what a revoked key is. */
function died(error: unknown): never {
  throw error instanceof ApiError && error.code === 'not_found' ? unauthorized(WRONG_KEY) : error
}
