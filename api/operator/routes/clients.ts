// Clients: their accounts, and what they may see.
import { z } from 'zod'
import { instantOf } from '#core/calendar.ts'
import { didYouMean } from '#core/contract/near-miss.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { list, named, number, object, objectOrNull, request, text } from '#core/contract/payloads/field.ts'
import { listKeys } from '#signals/clients/api-keys.ts'
import {
  activateClient,
  createClient,
  entitleClient,
  findClient,
  suspendClient,
} from '#signals/clients/clients.ts'
import { DEFAULT_ENDPOINT } from '#signals/outbox/destination.ts'
import { createLink } from '#signals/subscribers/sessions.ts'
import { readAllClients, readWebhookStates, type WebhookState } from '#signals/views/overview.ts'
import { readLatency, recentDeliveries } from '#signals/views/recent.ts'
import { count, instant } from '../../service/deliveries.ts'
import type { OperatorParts } from '../exchange.ts'
import { clientAction, operatorRoute } from '../operator-route.ts'
import { apiKey, client, delivery, webhook } from '../views.ts'
import { withAddress } from './webhooks.ts'

const CLIENT = '/ops/clients/{client}'
const NEW = '/ops/clients/new-client'

const idText = z.string().regex(ID_PATTERN)

const aliases = z.array(idText).optional().describe('a list of ids of strategies')

const email = z
  .string()
  .max(254)
  .refine(text => text === '' || z.email().safeParse(text).success)
  .nullable()
  .describe('an address for notices, such as alerts@example.org; none if empty')

export const clientRequest = request('ClientRequest', {
  id: idText.describe('the id of the client: 1 to 64 of a-z, 0-9, - and _'),
  tier: idText
    .default('standard')
    .describe('the name of the subscription: 1 to 64 of a-z, 0-9, - and _, such as standard'),
  aliases,
  email: email.default(null),
  activate: z.boolean().default(false).describe('true or false: whether the account is active at once'),
})

const entitlementRequest = request('EntitlementRequest', {
  aliases: aliases.describe('a list of ids of strategies: all that the client may see'),
  add: aliases.describe('a list of ids of strategies to add'),
  remove: aliases.describe('a list of ids of strategies to remove'),
  program: z
    .boolean()
    .optional()
    .describe('true or false: whether the client may use the accumulation program'),
  email: email.optional(),
})

const changedClient = named('ChangedClient', {
  ...client.shape,
  warning: z.string().optional().describe('What may be a typing mistake: an alias that nothing served has.'),
})

const listedClient = named('ListedClient', {
  ...client.shape,
  webhook: webhook.nullable().describe('The endpoint `default`; null if it has none.'),
  endpoints: list('Names of the endpoints that it has set; without any it pulls.', z.string()),
})

const accountLink = named('AccountLink', {
  link: text('The link: shown this once.'),
  expires_at: instant.describe('It opens nothing from then on.'),
})

const milliseconds = objectOrNull(
  'Milliseconds since the log, each one of the values (nearest rank); null if nothing was delivered.',
  { p50: number('Median.'), p99: number('99th percentile.'), max: number('The longest.') },
)

const clientDetails = named('ClientDetails', {
  ...listedClient.shape,
  other_webhooks: list('Its endpoints beside `default`.', webhook),
  keys: list('Its live keys.', apiKey),
  latency: object('How long its newest deliveries took.', {
    deliveries: count.describe(
      'How many were measured: the newest ones, without those that were sent again.',
    ),
    first_attempt_ms: milliseconds,
    acknowledged_ms: milliseconds,
  }),
  deliveries: list('The last ones.', delivery),
})

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
      offers: [{ at: 'clients', button: 'Add', inputs: ['id', 'tier', 'aliases', 'email', 'activate'] }],
      next: ({ id }) => `/ops/view/clients/${id}`,
      done: 'The client is added. It needs a key to pull, or a webhook.',
    },
    handler: async (
      { id, tier, aliases = [], email, activate },
      { redis, clock, programAlias, aliases: served },
    ) => {
      const beginning = { aliases, email: email || null, status: activate ? 'active' : 'pending' } as const
      const added = await createClient(redis, id, tier, clock.now(), beginning, programAlias())
      return { data: { ...added, ...warningOf(added.aliases, served()) } }
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
    handler: async ({ client }, parts) => {
      const found = await readClient(client, parts.redis)
      const all = found.other_webhooks.map(each => withAddress(client, each, parts))
      const webhook = found.webhook && (await withAddress(client, found.webhook, parts))
      return { data: { ...found, webhook, other_webhooks: await Promise.all(all) } }
    },
  }),
  clientAction({
    id: 'link_client',
    path: `${CLIENT}/link`,
    title: 'Make a link that opens the page of a client once',
    about:
      'The only answer that contains it. It can be used once, within 15 minutes; the session that it begins ends with your token.',
    data: accountLink,
    statuses: [201],
    refusals: ['conflict'],
    command: {
      usage: 'clients link <client>',
      prints: ({ link, expires_at }) => `usable once until ${expires_at}, shown this once:\n${link}`,
    },
    form: { offers: [{ at: 'client', button: 'Login link', tone: 'quiet', when: { status: 'active' } }] },
    secret: {
      field: 'link',
      title: 'A link to the page of the client',
      says: 'It opens the page once, within 15 minutes. Send it to the client over a channel that you trust.',
    },
    handler: async ({ client }, { redis, random, clock, accountUrl }, who) => {
      const { token, expiresAtMs } = await createLink(redis, client, who, random, clock.now())
      return { data: { link: `${accountUrl}/login#${token}`, expires_at: instantOf(expiresAtMs) } }
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
    title: 'Change what a client may see, and where its notices are mailed',
    about:
      '`aliases` replaces the list, `add` and `remove` change it; what is left out stays as it is. An ' +
      'alias that no strategy has is taken with a warning, because it may be published tomorrow. Notices (an endpoint fails or is ' +
      'disabled, a key ends) are mailed to `email` if the service has a mail server.',
    body: entitlementRequest,
    data: changedClient,
    refusals: ['conflict'],
    example: { path: `${NEW}/entitlements`, body: { add: ['birch'] } },
    command: { usage: 'clients entitle <client>', options: { aliases: 'set' } },
    form: {
      offers: [{ at: 'client', button: 'Save', inputs: ['aliases', 'program', 'email'] }],
      done: 'Its entitlements are changed, from the next signal on, and so is its address for notices.',
    },
    handler: async ({ client, email, ...change }, { redis, programAlias, aliases: served }) => {
      const { aliases = [], add = [] } = change
      const mailed = email === undefined ? change : { ...change, email: email || null }
      const changed = await entitleClient(redis, client, mailed, programAlias())
      return { data: { ...changed, ...warningOf([...aliases, ...add], served()) } }
    },
  }),
]

/** A warning and not an error, because a client may be entitled to what is published tomorrow. */
function warningOf(aliases: readonly string[], served: ReadonlySet<string>): { readonly warning?: string } {
  const unserved = [...new Set(aliases)].filter(alias => !served.has(alias))
  if (unserved.length === 0) return {}
  const meant = unserved.map(alias => alias + nearestHint(alias, served)).join(', ')
  return { warning: `no strategy that is served now has the alias ${meant}` }
}

/** ` (did you mean 'alder'?)`, or nothing. */
export function nearestHint(alias: string, served: ReadonlySet<string>): string {
  const hint = didYouMean(alias, served, ' (')
  return hint && `${hint})`
}

/** The endpoints of a client, without their addresses. */
function endpointsAmong(states: Iterable<WebhookState> = []) {
  const shown = Array.from(states, each => webhook.parse(each))
  return {
    webhook: shown.find(({ endpoint }) => endpoint === DEFAULT_ENDPOINT) ?? null,
    endpoints: shown.map(({ endpoint }) => endpoint),
    other_webhooks: shown.filter(({ endpoint }) => endpoint !== DEFAULT_ENDPOINT),
  }
}

export type ListedClient = Awaited<ReturnType<typeof readClients>>[number]

/** Every client and its endpoints, without their addresses, by id. */
export async function readClients(redis: OperatorParts['redis']) {
  const [clients, webhooks] = await readAllClients(redis)
  const byClient = Map.groupBy(webhooks.values(), ({ client }) => client)
  return clients.map(each => {
    const { webhook, endpoints } = endpointsAmong(byClient.get(each.id))
    return { ...each, webhook, endpoints }
  })
}

/** A client with its keys, its endpoints without their addresses, its latency and last deliveries. Throws `not_found`. */
export async function readClient(id: string, redis: OperatorParts['redis']) {
  const client = await findClient(redis, id)
  const [keys, webhooks, latency, { rows: deliveries }] = await Promise.all([
    listKeys(redis, id),
    readWebhookStates(redis, [id]),
    readLatency(redis, id),
    recentDeliveries(redis, { client: id, limit: 20 }),
  ])
  return { ...client, keys, latency, deliveries, ...endpointsAmong(webhooks.values()) }
}
