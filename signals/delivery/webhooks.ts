// Where each client's signals go: the record of its webhook. Address and secrets are sealed; only this file opens them.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { askRedis } from '../redis/connect.ts'
import { OWING, WEBHOOKS, webhookKey } from '../redis/keys.ts'
import type { Lane } from './delivery-queue.ts'
import type { SecretBox } from './secret-box.ts'
import { type Condition, SOUND } from './webhook-condition.ts'
import type { WebhookSecret } from './webhook-secret.ts'

export type Webhook = {
  readonly client: string
  readonly url: string
  /** Newest first. */
  readonly secrets: readonly WebhookSecret[]
  readonly enabled: boolean
  /** Why it is not, null where it is. */
  readonly disabledWhy: string | null
  readonly lane: Lane
  readonly condition: Condition
}

const stored = z.object({
  url: z.string(),
  secrets: z.string(),
  enabled: z.enum(['0', '1']),
  disabled_why: z.string(),
  lane: z.enum(['fast', 'slow']),
  condition: z.string(),
})

/** How every webhook begins. */
const FRESH = {
  enabled: '1',
  disabled_why: '',
  lane: 'fast',
  condition: JSON.stringify(SOUND),
  probe_at: '',
} as const

/** The webhook of a client, null where it has none. Throws SealError where SECRET_KEY lacks the key that sealed it. */
export async function readWebhook(redis: Redis, box: SecretBox, client: string): Promise<Webhook | null> {
  return toWebhook(box, client, await askRedis(() => redis.hgetall(webhookKey(client))))
}

/** A webhook from its stored fields, null where there are none. Throws SealError as above. */
export function toWebhook(
  box: SecretBox,
  client: string,
  fields: Readonly<Record<string, string>>,
): Webhook | null {
  if (Object.keys(fields).length === 0) return null
  const record = stored.parse(fields)
  return {
    client,
    url: box.open(record.url, { client, field: 'url' }),
    secrets: JSON.parse(box.open(record.secrets, { client, field: 'secrets' })) as WebhookSecret[], // sealed below
    enabled: record.enabled === '1',
    disabledWhy: record.disabled_why === '' ? null : record.disabled_why,
    lane: record.lane,
    condition: JSON.parse(record.condition) as Condition, // written below, and when a try is settled
  }
}

/** Sets a webhook, enabled and sound: a test fire to it has just succeeded. */
export async function saveWebhook(
  redis: Redis,
  box: SecretBox,
  { client, url, secrets }: Pick<Webhook, 'client' | 'url' | 'secrets'>,
): Promise<void> {
  const fields = {
    url: box.seal(url, { client, field: 'url' }),
    secrets: sealSecrets(box, client, secrets),
    ...FRESH,
  }
  await begin(redis, client, fields)
}

/** Writes the secrets anew, after a rotation or under another key of the ring. */
export const saveSecrets = (
  redis: Redis,
  box: SecretBox,
  { client, url, secrets }: Webhook,
): Promise<unknown> =>
  askRedis(() =>
    redis.hset(webhookKey(client), {
      url: box.seal(url, { client, field: 'url' }),
      secrets: sealSecrets(box, client, secrets),
    }),
  )

const sealSecrets = (box: SecretBox, client: string, secrets: readonly WebhookSecret[]): string =>
  box.seal(JSON.stringify(secrets), { client, field: 'secrets' })

/** Nothing more is sent to it, and why. The client still pulls. */
export const disableWebhook = (redis: Redis, client: string, why: string): Promise<unknown> =>
  askRedis(() =>
    redis.multi().hset(webhookKey(client), { enabled: '0', disabled_why: why }).srem(WEBHOOKS, client).exec(),
  )

/** Sends to it again from now on, with a clean slate. What was missed is owed by a replay, where somebody asks for one. */
export const enableWebhook = (redis: Redis, client: string): Promise<unknown> => begin(redis, client, FRESH)

/** What is still owed waits for the next probe: the client is overdue from now on, so that the reconciler calls for it. */
const begin = (redis: Redis, client: string, fields: Readonly<Record<string, string>>): Promise<unknown> =>
  askRedis(() =>
    redis
      .multi()
      .hset(webhookKey(client), fields)
      .sadd(WEBHOOKS, client)
      .zadd(OWING, 'XX', 'LT', 0, client)
      .exec(),
  )

/** Forgets a webhook and its secrets. */
export const removeWebhook = (redis: Redis, client: string): Promise<unknown> =>
  askRedis(() => redis.multi().del(webhookKey(client)).srem(WEBHOOKS, client).exec())

/** The clients with a webhook that is enabled. */
export const enabledWebhooks = (redis: Redis): Promise<string[]> => askRedis(() => redis.smembers(WEBHOOKS))
