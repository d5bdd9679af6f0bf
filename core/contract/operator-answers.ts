// What the operator's interface answers: the shapes of `data`.
import { z } from 'zod'
import { identity } from './keyed-answers.ts'
import { DELIVERY_STATUSES } from './operator-requests.ts'
import { signal } from './signal.ts'
import { webhookState } from './webhook.ts'

export const instant = z.string().describe('UTC instant, ISO 8601.')
export const count = z.int().min(0)
const number = z.int().min(0)
const seq = number.describe('Number of the signal.')
export const alias = z.string().describe('The strategy.')
const ofClient = z.string().describe('Id of its client.')

export const client = z.object({
  id: z.string().describe('Id of the client.'),
  tier: z.string().describe('Your own word for what was sold.'),
  status: identity.shape.status,
  aliases: z.array(z.string()).describe('The strategies whose signals it gets.'),
  program: z.boolean().describe('Whether it may use the accumulation program.'),
  created_at: instant,
})

export const changedClient = client.extend({
  warning: z.string().optional().describe('What may be a typing mistake: an alias that nothing served has.'),
})

export const apiKey = z.object({
  id: z.string().describe('Public part of the key.'),
  client: ofClient,
  created_at: instant,
  confirmed_at: instant.nullable().describe('When it retired the key before it, or null.'),
  last_used_at: instant.nullable().describe('To the minute, or null.'),
})

export const issuedKey = z.object({
  id: z.string().describe('Public part of the key.'),
  token: z.string().describe('The key itself: shown this once.'),
})

export const confirmedKey = z.object({
  client: ofClient,
  key_id: z.string().describe('The key that stays.'),
  retired_key_ids: z.array(z.string()).describe('The keys that died of this.'),
})

export const revokedKey = z.object({
  key_id: z.string().describe('Public part of the key.'),
  revoked: z.literal(true).describe('From now on it is refused.'),
})

export const webhook = z.object({
  url: z.string().optional().describe('Where one client is asked for, and never in a list.'),
  live_secrets: count.optional().describe('Secrets that sign now. Their text is never told again.'),
  enabled: webhookState.shape.enabled,
  disabled_why: webhookState.shape.disabled_why,
  lane: z.enum(['fast', 'slow']).describe('Receivers that are slow or fail hold up none of the others.'),
  breaker: z.enum(['closed', 'open']).describe('`open`: asked now and then with the newest signal alone.'),
  failing_since: webhookState.shape.failing_since,
  owed: count.describe('Deliveries that are still to come.'),
})

export const setWebhook = z.object({
  webhook: webhook.describe('How it stands now.'),
  secret: z.string().nullable().describe('The secret where it was made by this request: shown this once.'),
})

export const delivery = z.object({
  seq,
  client: ofClient,
  alias,
  status: z
    .enum(DELIVERY_STATUSES)
    .describe('`owed` as long as another attempt follows; the others are ends.'),
  attempts: count.describe('Attempts that counted.'),
  round: z.int().min(1).describe('A replay begins another.'),
  prev_seq: number.describe('Number of the signal before it that the client may see, 0 for none.'),
  fired_at: instant.describe('When the signal was written into the log.'),
  owed_at: instant.describe('When the relay took it on for this client.'),
  first_attempt_at: instant.nullable().describe('Null as long as none was made.'),
  settled_at: instant.nullable().describe('When it came to its end, or null.'),
  latency_ms: z
    .number()
    .nullable()
    .describe('From the log to the acknowledgement; null as long as there is none.'),
})

export const attempt = z.object({
  at: instant.describe('When it began.'),
  n: count.nullable().describe('Which try it was, from 1; null for a probe, which does not count.'),
  ok: z.boolean().describe('Whether it was acknowledged with 2xx.'),
  status: z.int().nullable().describe('HTTP status, null where no answer came.'),
  reason: z.string().nullable().describe('What went wrong, in a word; null where nothing did.'),
  first_byte_ms: z
    .number()
    .nullable()
    .describe('Until the answer began, milliseconds; null where none came.'),
  total_ms: z.number().describe('Until it was over, milliseconds.'),
  excerpt: z.string().describe('What the receiver said, redacted and cut.'),
})

const milliseconds = z
  .object({
    p50: z.number().describe('Median.'),
    p99: z.number().describe('99th percentile.'),
    max: z.number().describe('The longest.'),
  })
  .nullable()
  .describe(
    'Milliseconds since the log, each one of the values (nearest rank); null where nothing was delivered.',
  )

export const listedClient = client.extend({
  webhook: webhook.nullable().describe('Null where it has none and pulls.'),
})

export const clientDetails = listedClient.extend({
  keys: z.array(apiKey).describe('Its live keys.'),
  latency: z
    .object({
      deliveries: count.describe(
        'How many were measured: the newest ones, without those that were replayed.',
      ),
      first_attempt_ms: milliseconds,
      acknowledged_ms: milliseconds,
    })
    .describe('How long its newest deliveries took.'),
  deliveries: z.array(delivery).describe('The last ones.'),
})

const logged = z.object({
  seq,
  fired_at: instant.describe('When it was written into the log.'),
  only_for: z.string().nullable().describe('The client of a test fire, else null.'),
  signal: signal.describe('What was written.'),
})

export const signalSummary = logged.extend({
  deliveries: z
    .object({
      owed: count.describe('Still to come.'),
      delivered: count.describe('Acknowledged.'),
      exhausted: count.describe('Not brought by any attempt.'),
      withdrawn: count.describe('Taken back.'),
    })
    .describe('How many deliveries stand how.'),
})

export const signalDetails = logged.extend({
  deliveries: z.array(delivery).describe('One for each client that is owed it.'),
})

export const deliveryDetails = z.object({
  delivery: delivery.describe('How it stands.'),
  attempts: z.array(attempt).describe('Oldest first.'),
})

export const firedSignal = z.object({
  seq,
  signal_id: z.string().describe('Its id, as it was sent.'),
  repeated: z
    .boolean()
    .describe('True where it was fired before under the same id: then nothing was written.'),
  implied_leverage: signal.shape.implied_leverage,
})

export const replayed = z.object({
  client: ofClient,
  from: number.describe('Number of the first signal that is sent again.'),
  owed_again: count.describe('Deliveries that follow.'),
})
