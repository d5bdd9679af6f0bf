import { ApiError } from '#core/contract/errors.ts'
import { clientRequest, entitlementRequest, parseRequest } from '#core/contract/operator-requests.ts'
import type { Json } from '#core/dataset/render/json.ts'
import { confirmKey, issueKey, listKeys, revokeKey } from '#signals/clients/api-keys.ts'
import {
  activateClient,
  createClient,
  entitleClient,
  findClient,
  listClients,
  suspendClient,
} from '#signals/clients/clients.ts'
import { keyIdOf } from '#signals/clients/token.ts'
import { readLatency } from '#signals/views/latency.ts'
import { recentDeliveries } from '#signals/views/recent.ts'
import { readWebhookStates } from '#signals/views/webhook-state.ts'
import { type Exchange, type Handler, readJson } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import { toDelivery, toLatency, toWebhook } from '../views.ts'

/** Deliveries that the answer about one client brings along. */
const LAST_DELIVERIES = 20

export const clientOf = (c: Exchange): string => c.req.param('client') ?? ''

export const addClient: Handler = async (c, { redis, clock, programAlias, aliases: served }) => {
  const { id, tier, aliases = [], activate } = parseRequest(clientRequest, await readJson(c))
  const beginning = { aliases, status: activate ? 'active' : 'pending' } as const
  const client = await createClient(redis, id, tier, clock.now(), beginning, programAlias())
  return { status: 201, data: { ...client, ...warningOf(aliases, served()) } }
}

/**
 * What a typing mistake would look like. It is no refusal: a client may be entitled to what is published tomorrow, or
 * was until yesterday.
 */
function warningOf(aliases: readonly string[], served: ReadonlySet<string>): { readonly warning?: string } {
  const unserved = [...new Set(aliases)].filter(alias => !served.has(alias))
  if (unserved.length === 0) return {}
  return { warning: `no strategy that is served now has the alias ${unserved.join(', ')}: is it meant?` }
}

export const allClients: Handler = async (_, { redis }) => {
  const clients = await listClients(redis)
  const webhooks = await readWebhookStates(
    redis,
    clients.map(({ id }) => id),
  )
  return {
    data: clients.map(client => ({ ...client, webhook: toWebhook(webhooks.get(client.id) ?? null, null) })),
  }
}

export const oneClient: Handler = async (c, parts) => ({ data: await describeClient(clientOf(c), parts) })

/** A client with its keys, its webhook, what it waits for signals and its last deliveries. Throws `not_found`. */
async function describeClient(id: string, { redis, orders }: OperatorParts): Promise<Json> {
  const client = await findClient(redis, id)
  const [keys, webhooks, latency, deliveries] = await Promise.all([
    listKeys(redis, id),
    readWebhookStates(redis, [id]),
    readLatency(redis, id),
    recentDeliveries(redis, { client: id, limit: LAST_DELIVERIES }),
  ])
  const state = webhooks.get(id) ?? null
  const address = state === null ? null : await orders.readAddress(id)
  return {
    ...client,
    keys: [...keys],
    webhook: toWebhook(state, address),
    latency: toLatency(latency),
    deliveries: deliveries.rows.map(toDelivery),
  }
}

export const activate: Handler = async (c, { redis }) => ({ data: await activateClient(redis, clientOf(c)) })

export const suspend: Handler = async (c, { redis }) => ({ data: await suspendClient(redis, clientOf(c)) })

export const entitle: Handler = async (c, { redis, programAlias, aliases: served }) => {
  const { aliases, add, remove, program } = parseRequest(entitlementRequest, await readJson(c))
  const change = {
    ...(aliases === undefined ? {} : { aliases }),
    ...(add === undefined ? {} : { add }),
    ...(remove === undefined ? {} : { remove }),
    ...(program === undefined ? {} : { program }),
  }
  const client = await entitleClient(redis, clientOf(c), change, programAlias())
  return { data: { ...client, ...warningOf([...(aliases ?? []), ...(add ?? [])], served()) } }
}

export const clientKeys: Handler = async (c, { redis }) => {
  const { id } = await findClient(redis, clientOf(c))
  return { data: [...(await listKeys(redis, id))] }
}

/** The only answer that ever holds a key. */
export const newKey: Handler = async (c, { redis, random, clock }) => {
  const { id, token } = await issueKey(redis, clientOf(c), random, clock.now())
  return { status: 201, data: { id, token } }
}

export const confirm: Handler = async (c, { redis, clock }) => {
  const { client, keyId, retired } = await confirmKey(redis, keyOf(c), clock.now())
  return { data: { client, key_id: keyId, retired_key_ids: [...retired] } }
}

export const revoke: Handler = async (c, { redis }) => {
  const key = keyOf(c)
  if (!(await revokeKey(redis, key)))
    throw new ApiError('not_found', `there is no live key '${key}': it is refused already`)
  return { data: { key_id: key, revoked: true } }
}

/** A text that names no key is told so: that it were refused already would be a false comfort where a key has leaked. */
function keyOf(c: Exchange): string {
  const text = c.req.param('key') ?? ''
  const id = keyIdOf(text)
  if (id !== null) return id
  const reason =
    'expected the id of a key, the 8 characters behind hw_live_; `highwater ops keys list CLIENT` tells it'
  throw new ApiError('validation_error', `key: ${reason}`, {
    details: [{ param: 'key', value: '(not repeated)', reason }],
  })
}
