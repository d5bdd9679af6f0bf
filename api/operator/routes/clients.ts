// Clients and their keys.
import { z } from 'zod'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { nearestTo } from '#core/contract/near-miss.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
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
import { readWebhookStates, type WebhookState } from '#signals/views/overview.ts'
import { recentDeliveries, showDeliveries } from '#signals/views/recent.ts'
import { type Exchange, readJson } from '../exchange.ts'
import { clientAction, operatorRoute } from '../operator-route.ts'
import type { OperatorParts } from '../parts.ts'
import { client, count, delivery, instant, ofClient, webhook } from '../views.ts'

/** Deliveries in the answer about one client. */
const LAST_DELIVERIES = 20

const CLIENT = '/ops/clients/{client}'
const ACME = '/ops/clients/acme-capital'
const NEW = '/ops/clients/new-client'

const idText = z.string().regex(ID_PATTERN)

const aliases = z.array(idText).optional().describe('a list of ids of strategies')

export const clientRequest = z
  .strictObject({
    id: idText.describe('the id of the client: 1 to 64 of a-z, 0-9, - and _'),
    tier: idText
      .default('standard')
      .describe('the name of the subscription: 1 to 64 of a-z, 0-9, - and _, such as standard'),
    aliases,
    activate: z.boolean().default(false).describe('true or false: whether the account is active at once'),
  })
  .meta({ id: 'ClientRequest' })

const entitlementRequest = z
  .strictObject({
    aliases: aliases.describe('a list of ids of strategies: all that the client may see'),
    add: aliases.describe('a list of ids of strategies to add'),
    remove: aliases.describe('a list of ids of strategies to remove'),
    program: z
      .boolean()
      .optional()
      .describe('true or false: whether the client may use the accumulation program'),
  })
  .meta({ id: 'EntitlementRequest' })

const changedClient = client
  .extend({
    warning: z
      .string()
      .optional()
      .describe('What may be a typing mistake: an alias that nothing served has.'),
  })
  .meta({ id: 'ChangedClient' })

const listedClient = client
  .extend({ webhook: webhook.nullable().describe('Null if it has none and pulls.') })
  .meta({ id: 'ListedClient' })

const apiKey = z
  .object({
    id: z.string().describe('Public part of the key.'),
    client: ofClient,
    created_at: instant,
    confirmed_at: instant.nullable().describe('When it retired the key before it, or null.'),
    last_used_at: instant.nullable().describe('To the minute, or null.'),
  })
  .meta({ id: 'ApiKey' })

const issuedKey = z
  .object({
    id: z.string().describe('Public part of the key.'),
    token: z.string().describe('The key itself: shown this once.'),
  })
  .meta({ id: 'IssuedKey' })

const webhookSuspended = z
  .boolean()
  .describe(
    'True if the key had set the webhook, or may have: nothing is sent until a live key of the client sets it.',
  )

const confirmedKey = z
  .object({
    client: ofClient,
    key_id: z.string().describe('The key that stays.'),
    retired_key_ids: z.array(z.string()).describe('The keys that this retired.'),
    webhook_suspended: webhookSuspended,
  })
  .meta({ id: 'ConfirmedKey' })

const revokedKey = z
  .object({
    key_id: z.string().describe('Public part of the key.'),
    revoked: z.literal(true).describe('From now on it is refused.'),
    webhook_suspended: webhookSuspended,
  })
  .meta({ id: 'RevokedKey' })

const milliseconds = z
  .object({
    p50: z.number().describe('Median.'),
    p99: z.number().describe('99th percentile.'),
    max: z.number().describe('The longest.'),
  })
  .nullable()
  .describe(
    'Milliseconds since the log, each one of the values (nearest rank); null if nothing was delivered.',
  )

const clientDetails = listedClient
  .extend({
    keys: z.array(apiKey).describe('Its live keys.'),
    latency: z
      .object({
        deliveries: count.describe(
          'How many were measured: the newest ones, without those that were sent again.',
        ),
        first_attempt_ms: milliseconds,
        acknowledged_ms: milliseconds,
      })
      .describe('How long its newest deliveries took.'),
    deliveries: z.array(delivery).describe('The last ones.'),
  })
  .meta({ id: 'ClientDetails' })

export const CLIENT_ROUTES = [
  operatorRoute({
    id: 'clients',
    path: '/ops/clients',
    title: 'All clients',
    about: 'Every client with its entitlements and the state of its webhook, by id.',
    data: z.array(listedClient),
    command: { usage: 'clients list' },
    handler: async (_, { redis }) => {
      const clients = await listClients(redis)
      const webhooks = await readWebhookStates(
        redis,
        clients.map(({ id }) => id),
      )
      return { data: clients.map(each => ({ ...each, webhook: shownWebhook(webhooks.get(each.id)) })) }
    },
  }),
  operatorRoute({
    id: 'add_client',
    method: 'POST',
    path: '/ops/clients',
    scope: 'clients',
    subject: { kind: 'client', field: 'id' },
    title: 'Add a client',
    about:
      'A client begins `pending`, entitled to nothing, unless the request says otherwise. It has no key ' +
      'until one is issued.',
    body: clientRequest,
    data: changedClient,
    statuses: [201],
    refusals: ['conflict'],
    example: { path: '/ops/clients', body: { id: 'new-client', aliases: ['alder'] } },
    command: { usage: 'clients add <id>' },
    handler: async (c, { redis, clock, programAlias, aliases: served }) => {
      const { id, tier, aliases = [], activate } = parseRequest(clientRequest, await readJson(c))
      const beginning = { aliases, status: activate ? 'active' : 'pending' } as const
      const added = await createClient(redis, id, tier, clock.now(), beginning, programAlias())
      return { status: 201, data: { ...added, ...warningOf(added.aliases, served()) } }
    },
  }),
  operatorRoute({
    id: 'client',
    path: CLIENT,
    title: 'A client with its keys, its webhook, its latency and its last deliveries',
    about:
      'The latency is that of the newest deliveries, from the log to the first attempt and to the ' +
      'acknowledgement.',
    data: clientDetails,
    example: { path: ACME },
    command: { usage: 'clients show <client>' },
    handler: async (c, { redis, orders }) => {
      const { client, webhook, ...others } = await readClient(clientOf(c), redis)
      const address = webhook && (await orders.readAddress(client.id))
      return { data: { ...client, ...others, webhook: shownWebhook(webhook && { ...webhook, ...address }) } }
    },
  }),
  clientAction({
    id: 'activate',
    path: `${CLIENT}/activate`,
    title: 'Activate an account',
    about: 'The client pulls signals from then on, and its webhook is sent what is fired.',
    data: client,
    example: { path: `${NEW}/activate` },
    command: { usage: 'clients activate <client>' },
    handler: async (c, { redis }) => ({ data: await activateClient(redis, clientOf(c)) }),
  }),
  clientAction({
    id: 'suspend',
    path: `${CLIENT}/suspend`,
    title: 'Suspend an account: its pulls and deliveries stop, its keys stay valid',
    about: 'Pulls answer `account_not_active`, and `whoami` still answers. Activating the account ends it.',
    data: client,
    example: { path: `${NEW}/suspend` },
    command: { usage: 'clients suspend <client>' },
    handler: async (c, { redis }) => ({ data: await suspendClient(redis, clientOf(c)) }),
  }),
  clientAction({
    id: 'entitle',
    path: `${CLIENT}/entitlements`,
    title: 'Change what a client may see',
    about:
      '`aliases` replaces the list, `add` and `remove` change it; what is left out stays as it is. An ' +
      'alias that no strategy has is taken with a warning, because it may be published tomorrow.',
    body: entitlementRequest,
    data: changedClient,
    refusals: ['conflict'],
    example: { path: `${NEW}/entitlements`, body: { add: ['birch'] } },
    command: { usage: 'clients entitle <client>', options: { aliases: 'set' } },
    handler: async (c, { redis, programAlias, aliases: served }) => {
      const change = parseRequest(entitlementRequest, await readJson(c))
      const { aliases = [], add = [] } = change
      const changed = await entitleClient(redis, clientOf(c), change, programAlias())
      return { data: { ...changed, ...warningOf([...aliases, ...add], served()) } }
    },
  }),
  operatorRoute({
    id: 'keys',
    path: `${CLIENT}/keys`,
    title: 'The live keys of a client',
    about: 'Ids and dates, oldest first. Of a key itself only a digest is stored.',
    data: z.array(apiKey),
    example: { path: `${ACME}/keys` },
    command: { usage: 'keys list <client>' },
    handler: async (c, { redis }) => {
      const { id } = await findClient(redis, clientOf(c))
      return { data: await listKeys(redis, id) }
    },
  }),
  clientAction({
    id: 'issue_key',
    path: `${CLIENT}/keys`,
    title: 'Issue a key; a client has at most two',
    about:
      'The only answer that contains the key. The older key stays valid until the newer one is confirmed, ' +
      'by the client or here.',
    data: issuedKey,
    statuses: [201],
    refusals: ['conflict'],
    example: { path: `${NEW}/keys` },
    command: { usage: 'keys issue <client>' },
    handler: async (c, { redis, random, clock }) => {
      const { id, token } = await issueKey(redis, clientOf(c), random, clock.now())
      return { status: 201, data: { id, token } }
    },
  }),
  operatorRoute({
    id: 'confirm_key',
    method: 'POST',
    path: '/ops/keys/{key}/confirm',
    scope: 'clients',
    subject: { kind: 'key', field: 'key' },
    title: 'Confirm the newer key of a client, which retires the older one',
    about: 'What the client does with `POST /v1/keys/confirm`. Repeating it changes nothing.',
    data: confirmedKey,
    refusals: ['validation_error', 'conflict'],
    example: { path: '/ops/keys/00EXAMPL/confirm' },
    command: { usage: 'keys confirm <key>' },
    handler: async (c, { redis, clock, onWebhook }) => {
      const confirmed = await confirmKey(redis, keyOf(c), clock.now())
      const { client, keyId, retired, suspendedBy } = confirmed
      const isSuspended = suspendedBy !== null
      if (isSuspended) onWebhook({ client, change: 'suspended', keyId: suspendedBy })
      const data = { client, key_id: keyId, retired_key_ids: retired, webhook_suspended: isSuspended }
      return { data }
    },
  }),
  operatorRoute({
    id: 'revoke_key',
    method: 'POST',
    path: '/ops/keys/{key}/revoke',
    scope: 'clients',
    subject: { kind: 'key', field: 'key' },
    title: 'Revoke a key at once',
    about:
      'The next request with it is refused. A whole key may be given, or the part that a log shows: only ' +
      'its id is read.',
    data: revokedKey,
    refusals: ['validation_error'],
    example: { path: '/ops/keys/00EXAMPL/revoke' },
    command: { usage: 'keys revoke <key>' },
    handler: async (c, { redis, onWebhook }) => {
      const key = keyOf(c)
      const revoked = await revokeKey(redis, key)
      if (revoked === null)
        throw new ApiError('not_found', `there is no live key '${key}': it is refused already`)
      const { client, isSuspended } = revoked
      if (isSuspended) onWebhook({ client, change: 'suspended', keyId: key })
      return { data: { key_id: key, revoked: true as const, webhook_suspended: isSuspended } }
    },
  }),
]

export const clientOf = (c: Exchange): string => c.req.param('client') ?? ''

/**
 * Aliases that are not served: a warning, not an error, because a client may be entitled to what is published
 * tomorrow.
 */
function warningOf(aliases: readonly string[], served: ReadonlySet<string>): { readonly warning?: string } {
  const unserved = [...new Set(aliases)].filter(alias => !served.has(alias))
  if (unserved.length === 0) return {}
  const meant = unserved.map(alias => alias + nearestHint(alias, served)).join(', ')
  return { warning: `no strategy that is served now has the alias ${meant}` }
}

/** ` (did you mean 'alder'?)`, or nothing. */
export function nearestHint(alias: string, served: ReadonlySet<string>): string {
  const nearest = nearestTo(alias, [...served])
  return nearest === null ? '' : ` (did you mean '${nearest}'?)`
}

const shownWebhook = (state: WebhookState | undefined) => (state === undefined ? null : webhook.parse(state))

/** A client with its keys, webhook, latency and last deliveries. Throws `not_found`. */
export async function readClient(id: string, redis: OperatorParts['redis']) {
  const client = await findClient(redis, id)
  const [keys, webhooks, latency, { rows: deliveries }] = await Promise.all([
    listKeys(redis, id),
    readWebhookStates(redis, [id]),
    readLatency(redis, id),
    recentDeliveries(redis, { client: id, limit: LAST_DELIVERIES }),
  ])
  const shown = await showDeliveries(redis, deliveries)
  return { client, keys, webhook: webhooks.get(id), latency, deliveries: shown }
}

/** A malformed key is an error: an answer that it is not live would be false reassurance about a leak. */
function keyOf(c: Exchange): string {
  const text = c.req.param('key') ?? ''
  const id = keyIdOf(text)
  if (id !== null) return id
  const reason =
    'expected the id of a key, the 8 characters behind hw_live_; `highwater ops keys list CLIENT` lists it'
  throw invalidParameter('key', '(not repeated)', reason)
}
