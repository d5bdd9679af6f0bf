// What the operator's interface answers: the shapes of `data`.
import { z } from 'zod'
import { identity } from './keyed-answers.ts'
import { DELIVERY_STATUSES } from './operator-requests.ts'
import { MODES, signal } from './signal.ts'

const instant = z.string().describe('UTC instant, ISO 8601.')
const count = z.int().min(0)
const seq = z.int().min(0)

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
  client: z.string().describe('Id of its client.'),
  created_at: instant,
  confirmed_at: instant.nullable(),
  last_used_at: instant.nullable().describe('To the minute, or null.'),
})

export const issuedKey = z.object({
  id: z.string().describe('Public part of the key.'),
  token: z.string().describe('The key itself: shown this once.'),
})

export const confirmedKey = z.object({
  client: z.string().describe('Id of its client.'),
  key_id: z.string().describe('The key that stays.'),
  retired_key_ids: z.array(z.string()).describe('The keys that died of this.'),
})

export const revokedKey = z.object({ key_id: z.string(), revoked: z.literal(true) })

export const webhook = z.object({
  url: z.string().optional().describe('Where one client is asked for, and never in a list.'),
  live_secrets: count.optional().describe('Secrets that sign now. Their text is never told again.'),
  enabled: z.boolean(),
  disabled_why: z.string().nullable(),
  lane: z.enum(['fast', 'slow']).describe('Receivers that are slow or fail hold up none of the others.'),
  breaker: z.enum(['closed', 'open']).describe('`open`: asked now and then with the newest signal alone.'),
  failing_since: instant.nullable(),
  owed: count.describe('Deliveries that are still to come.'),
})

export const setWebhook = z.object({
  webhook,
  secret: z.string().nullable().describe('The secret where it was made by this request: shown this once.'),
})

export const delivery = z.object({
  seq,
  client: z.string(),
  alias: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: count.describe('Attempts that counted.'),
  round: z.int().min(1).describe('A replay begins another.'),
  prev_seq: seq.describe('Number of the signal before it that the client may see, 0 for none.'),
  fired_at: instant,
  owed_at: instant,
  first_attempt_at: instant.nullable(),
  settled_at: instant.nullable(),
  latency_ms: z
    .number()
    .nullable()
    .describe('From the log to the acknowledgement; null as long as there is none.'),
})

export const attempt = z.object({
  at: instant,
  n: count.nullable().describe('Which try it was, from 1; null for a probe, which does not count.'),
  ok: z.boolean(),
  status: z.int().nullable().describe('HTTP status, null where no answer came.'),
  reason: z.string().nullable().describe('What went wrong, in a word; null where nothing did.'),
  first_byte_ms: z.number().nullable(),
  total_ms: z.number(),
  excerpt: z.string().describe('What the receiver said, redacted and cut.'),
})

const milliseconds = z
  .object({ p50: z.number(), p99: z.number(), max: z.number() })
  .nullable()
  .describe(
    'Milliseconds since the log, each one of the values (nearest rank); null where nothing was delivered.',
  )

export const clientDetails = client.extend({
  keys: z.array(apiKey),
  webhook: webhook.nullable(),
  latency: z.object({
    deliveries: count.describe('How many were measured: the newest ones, without those that were replayed.'),
    first_attempt_ms: milliseconds,
    acknowledged_ms: milliseconds,
  }),
  deliveries: z.array(delivery).describe('The last ones.'),
})

const logged = z.object({
  seq,
  fired_at: instant,
  only_for: z.string().nullable().describe('The client of a test fire, else null.'),
  signal,
})

export const signalSummary = logged.extend({
  deliveries: z.object({ owed: count, delivered: count, exhausted: count, withdrawn: count }),
})

export const signalDetails = logged.extend({ deliveries: z.array(delivery) })

export const deliveryDetails = z.object({ delivery, attempts: z.array(attempt).describe('Oldest first.') })

export const firedSignal = z.object({
  seq,
  signal_id: z.string(),
  repeated: z
    .boolean()
    .describe('True where it was fired before under the same id: then nothing was written.'),
  implied_leverage: z.number(),
})

export const replayed = z.object({
  client: z.string(),
  from: seq,
  owed_again: count.describe('Deliveries that follow.'),
})

const liveStatus = z.object({
  alias: z.string(),
  last_bar_close: instant.nullable(),
  live_from: instant.nullable(),
  mode: z.enum(MODES).describe('What was ordered: a strategy whose catalogue says DRY_RUN stays so.'),
  halted: z.boolean(),
})

const halted = z.array(z.string()).describe('Aliases that are halted; `*` stands for all.')

export const liveStrategies = z.object({ halted, strategies: z.array(liveStatus) })

export const serviceStatus = z.object({
  seq: seq.describe('Number of the newest signal.'),
  epoch: z.string().describe('Names this history of the log.'),
  redis: z.object({
    version: z.string(),
    used_bytes: count,
    limit_bytes: count.describe('0 where it has no limit.'),
    writing: z.boolean().describe('False where it cannot write.'),
    problems: z.array(z.string()).describe('Settings under which it could lose an acknowledged signal.'),
  }),
  relay: z.object({
    lag: z.int().describe('Signals that wait for the relay.'),
    running: z.boolean(),
  }),
  queue: z.object({ fast: count, slow: count }).describe('Calls that wait in each lane.'),
  clients: z.object({ total: count, active: count }),
  webhooks: z.object({ enabled: count, disabled: count, failing: count, owed: count }),
  halted,
  live: z.array(liveStatus).describe('The strategies that have ever run live.'),
})
