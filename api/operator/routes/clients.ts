// Clients and their keys.
import { z } from 'zod'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { nearestTo } from '#core/contract/near-miss.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { confirmKey, issueKey, listKeys, ownerOf, revokeKey } from '#signals/clients/api-keys.ts'
import {
  activateClient,
  createClient,
  entitleClient,
  findClient,
  suspendClient,
} from '#signals/clients/clients.ts'
import { keyIdOf } from '#signals/clients/token.ts'
import { readLatency } from '#signals/views/latency.ts'
import { readWebhookStates, readWebhooks, type WebhookState } from '#signals/views/overview.ts'
import { recentDeliveries, showDeliveries } from '#signals/views/recent.ts'
import { clientAction, operatorRoute, type Warning } from '../operator-route.ts'
import type { OperatorParts } from '../parts.ts'
import { client, count, delivery, instant, ofClient, webhook } from '../views.ts'

/** Deliveries in the answer about one client. */
const LAST_DELIVERIES = 20

const CLIENT = '/ops/clients/{client}'
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
    handler: async (_, { redis }) => ({ data: await readClients(redis) }),
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
    form: {
      offers: [{ at: 'clients', button: 'Add', hasInputs: true }],
      next: ({ id }) => `/ops/view/clients/${id}`,
      done: 'The client is added. It needs a key to pull, or a webhook.',
    },
    handler: async (
      { id, tier, aliases = [], activate },
      { redis, clock, programAlias, aliases: served },
    ) => {
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
    command: { usage: 'clients show <client>' },
    handler: async ({ client }, { redis, orders }) => {
      const { webhook, ...others } = await readClient(client, redis)
      return {
        data: { ...others, webhook: webhook && { ...webhook, ...(await orders.readAddress(client)) } },
      }
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
    form: {
      offers: [{ at: 'client', button: 'Activate', when: { status: 'pending' } }],
      done: 'The account is active.',
    },
    handler: async ({ client }, { redis }) => ({ data: await activateClient(redis, client) }),
  }),
  clientAction({
    id: 'suspend',
    path: `${CLIENT}/suspend`,
    title: 'Suspend an account: its pulls and deliveries stop, its keys stay valid',
    about: 'Pulls answer `account_not_active`, and `whoami` still answers. Activating the account ends it.',
    data: client,
    example: { path: `${NEW}/suspend` },
    command: { usage: 'clients suspend <client>' },
    form: {
      offers: [{ at: 'client', button: 'Suspend…', tone: 'stop', when: { status: 'active' } }],
      warn: ({ client }) => [
        `Suspend ${client}?`,
        'Its pulls are refused and its deliveries stop, at once. Signals that wait, and those that are fired until you activate it, are sent only if you resend them then. Its keys, its webhook and what it may see stay as they are.',
      ],
      done: 'The account is suspended: pulls and deliveries stop.',
    },
    handler: async ({ client }, { redis }) => ({ data: await suspendClient(redis, client) }),
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
    form: {
      offers: [{ at: 'client', button: 'Save', hasInputs: true }],
      hides: ['add', 'remove'],
      done: 'Its entitlements are changed, from the next signal on.',
    },
    handler: async ({ client, ...change }, { redis, programAlias, aliases: served }) => {
      const { aliases = [], add = [] } = change
      const changed = await entitleClient(redis, client, change, programAlias())
      return { data: { ...changed, ...warningOf([...aliases, ...add], served()) } }
    },
  }),
  operatorRoute({
    id: 'keys',
    path: `${CLIENT}/keys`,
    title: 'The live keys of a client',
    about: 'Ids and dates, oldest first. Of a key itself only a digest is stored.',
    data: z.array(apiKey),
    command: { usage: 'keys list <client>' },
    handler: async ({ client }, { redis }) => {
      const { id } = await findClient(redis, client)
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
    form: { offers: [{ at: 'keys', button: 'Issue a key', tone: 'quiet' }] },
    secret: {
      field: 'token',
      title: 'A new key',
      says: 'Give it to the client over a channel that you trust. If the client has another key, that one stays valid until the client confirms this one.',
    },
    handler: async ({ client }, { redis, random, clock }) => {
      const { id, token } = await issueKey(redis, client, random, clock.now())
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
    command: { usage: 'keys confirm <key>', argument: toKeyId },
    handler: async ({ key }, { redis, clock, onWebhook }) => {
      const confirmed = await confirmKey(redis, assertKey(key), clock.now())
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
    command: { usage: 'keys revoke <key>', argument: toKeyId },
    form: {
      offers: [{ at: 'key', button: 'Revoke…', tone: 'stop' }],
      below: '/clients/{client}',
      warn: warnOfRevoking,
      done: 'The key is revoked.',
    },
    handler: async (asked, { redis, onWebhook }) => {
      const key = assertKey(asked.key)
      const revoked = await revokeKey(redis, key)
      if (revoked === null) throw notLive(key)
      const { client, isSuspended } = revoked
      if (isSuspended) onWebhook({ client, change: 'suspended', keyId: key })
      return { data: { key_id: key, revoked: true as const, webhook_suspended: isSuspended } }
    },
  }),
]

/** Of a key that is given whole, its id alone is sent: what is in an address is seen by others. */
function toKeyId(text: string): string {
  return keyIdOf(text) ?? text
}

async function warnOfRevoking({ key }: { readonly key: string }, { redis }: OperatorParts): Promise<Warning> {
  const owner = await ownerOf(redis, assertKey(key))
  if (owner === null) throw notLive(key)
  const isSetter = (await readWebhookStates(redis, [owner])).get(owner)?.set_by_key === key
  return [
    `Revoke the key ${key} of ${owner}?`,
    `The next request with it is refused, for good.${isSetter ? ' It set the webhook, so nothing more is sent there until a live key of the client, or you, set it again.' : ''}`,
  ]
}

const notLive = (key: string): ApiError =>
  new ApiError('not_found', `there is no live key '${key}': it is refused already`)

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

export type ListedClient = Awaited<ReturnType<typeof readClients>>[number]

/** Every client and its webhook, without the address, by id. */
export async function readClients(redis: OperatorParts['redis']) {
  const [clients, webhooks] = await readWebhooks(redis)
  return clients.map(each => ({ ...each, webhook: shownWebhook(webhooks.get(each.id)) }))
}

/** A client with its keys, its webhook without the address, its latency and last deliveries. Throws `not_found`. */
export async function readClient(id: string, redis: OperatorParts['redis']) {
  const client = await findClient(redis, id)
  const [keys, webhooks, latency, { rows }] = await Promise.all([
    listKeys(redis, id),
    readWebhookStates(redis, [id]),
    readLatency(redis, id),
    recentDeliveries(redis, { client: id, limit: LAST_DELIVERIES }),
  ])
  const deliveries = await showDeliveries(redis, rows)
  return { ...client, keys, latency, deliveries, webhook: shownWebhook(webhooks.get(id)) }
}

/** A malformed key is an error: an answer that it is not live would be false reassurance about a leak. */
function assertKey(text: string): string {
  const id = keyIdOf(text)
  if (id !== null) return id
  const reason =
    'expected the id of a key, the 8 characters behind hw_live_; `highwater ops keys list CLIENT` lists it'
  throw invalidParameter('key', '(not repeated)', reason)
}
