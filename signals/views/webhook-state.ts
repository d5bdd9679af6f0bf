import type { Redis } from 'ioredis'
import { LANES, type Lane, owedCount } from '../delivery/outbox.ts'
import { type Condition, SOUND } from '../delivery/webhook-condition.ts'
import { askRedis } from '../redis/connect.ts'
import { webhookKey } from '../redis/keys.ts'

/** How a client's webhook stands: everything but its address and its secrets, which stay sealed. */
export type WebhookState = {
  readonly client: string
  readonly enabled: boolean
  /** Why it is not, null where it is. */
  readonly disabledWhy: string | null
  readonly lane: Lane
  readonly condition: Condition
  /** Signals that it is owed. */
  readonly owed: number
}

/** Clients that are read at once. */
const BLOCK = 500

/** How the webhooks of some clients stand; who has none is not in it. */
export async function readWebhookStates(
  redis: Redis,
  clients: readonly string[],
): Promise<ReadonlyMap<string, WebhookState>> {
  const found = new Map<string, WebhookState>()
  for (let i = 0; i < clients.length; i += BLOCK) {
    const block = clients.slice(i, i + BLOCK)
    const states = await Promise.all(block.map(client => readWebhookState(redis, client)))
    for (const state of states) if (state !== null) found.set(state.client, state)
  }
  return found
}

async function readWebhookState(redis: Redis, client: string): Promise<WebhookState | null> {
  const [enabled, why, lane, condition] = await askRedis(() =>
    redis.hmget(webhookKey(client), 'enabled', 'disabled_why', 'lane', 'condition'),
  )
  if (enabled == null) return null
  return {
    client,
    enabled: enabled === '1',
    disabledWhy: why == null || why === '' ? null : why,
    lane: LANES.find(each => each === lane) ?? 'fast',
    condition: condition == null ? SOUND : (JSON.parse(condition) as Condition), // written by webhooks.ts alone
    owed: await owedCount(redis, client),
  }
}
