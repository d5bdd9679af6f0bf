// Clients, webhooks, deliveries and live strategies as the operator sees them.
import { z } from 'zod'
import { endpointName, endpointState } from '#core/contract/endpoint.ts'
import { flag, list, named, number, text, textOrNull, word } from '#core/contract/payloads/field.ts'
import { MODES } from '#core/contract/signal.ts'
import { CLIENT_STATUSES } from '#signals/clients/clients.ts'
import { DEFAULT_ENDPOINT } from '#signals/outbox/destination.ts'
import { LANES } from '#signals/outbox/outbox.ts'
import { count, deliveryFields, instant, seq } from '../service/deliveries.ts'

const alias = text('The strategy.')
export const ofClient = text('Id of its client.')
export const ofEndpoint = text('Name of the endpoint: `default` is the webhook of `/v1/webhook`.')

/** Which endpoint of the client of a path. */
export const endpoint = endpointName
  .default(DEFAULT_ENDPOINT)
  .describe('the name of an endpoint of the client')
export const endpointQuery = z.strictObject({ endpoint })

export const client = named('Client', {
  id: text('Id of the client.'),
  tier: text('Name of the subscription.'),
  status: word('`pending` until the operator switches the account on.', CLIENT_STATUSES),
  aliases: list('The strategies whose signals it gets.', z.string()),
  program: flag('Whether it may use the accumulation program.'),
  created_at: instant,
  email: textOrNull('Where notices are mailed, or null.'),
  suspended: flag('True if it was active and the operator suspended it.'),
})

const { enabled, disabled_why, set_at, set_by, set_by_key, failing_since, paused, filter, owed, ...seen } =
  endpointState.shape

export const webhook = named('Webhook', {
  endpoint: ofEndpoint,
  url: z.string().optional().describe('In the answer about one client, not in lists.'),
  live_secrets: count.optional().describe('Secrets that sign now. Their text is never shown again.'),
  ...{ enabled, disabled_why, set_at, set_by, set_by_key },
  lane: word('Slow or failing receivers have a lane of their own, so that they delay no others.', LANES),
  breaker: word('`open`: only probed, with the newest signal.', ['closed', 'open']),
  ...{ failing_since, paused, filter, header_names: seen.header_names.optional() },
  ...{
    expire_entries_after_s: seen.expire_entries_after_s,
    settings_by: seen.settings_by,
    last_success_at: seen.last_success_at,
    owed,
  },
})

export type WebhookView = z.output<typeof webhook>

export const apiKey = named('ApiKey', {
  id: text('Public part of the key.'),
  client: ofClient,
  created_at: instant,
  confirmed_at: instant.nullable().describe('When it retired the key before it, or null.'),
  last_used_at: instant.nullable().describe('To the minute, or null.'),
  expires_at: instant.nullable().describe('The key is refused from then on; null if it has no end.'),
})

export const delivery = named('Delivery', { seq, client: ofClient, endpoint: ofEndpoint, ...deliveryFields })

export const liveStatus = named('LiveStatus', {
  alias,
  last_bar_close: instant.nullable().describe('Close of the newest bar that it has decided on, or null.'),
  live_from: instant
    .nullable()
    .describe('Bars that close from then on are decided live; null before the first.'),
  mode: word('What was ordered: a strategy whose catalogue says DRY_RUN stays so.', MODES),
  halted: flag('Whether its entries are held back.'),
  announced: z
    .enum(['long', 'short'])
    .nullable()
    .describe('The side of the position that subscribers were sent, or null.'),
  behind_seconds: number(
    'For how long its next bar has been due: 0 until a quarter of a bar, at most five minutes, has passed. More means that its runner or its feed is silent.',
  ),
  missing_bars: count.describe('Bars that its feed has left out since it went live.'),
  gap_before: instant
    .nullable()
    .describe('Open of the bar that came after the newest gap in its feed, or null if there was none.'),
  by_hand: seq.nullable().describe('Number of its newest signal if it was fired by hand, else null.'),
  diverges: textOrNull(
    'How its signals differed from the replay when a build last compared them; null if they agreed, or were not compared.',
  ),
})

export const halted = list('Aliases that are halted; `*` stands for all.', z.string())

export const liveStrategies = named('LiveStrategies', {
  halted,
  strategies: list('Those that have run live, fired or are halted.', liveStatus),
})
