// The webhooks of clients. Address and secrets are sealed; only this file opens them.
import type { ChainableCommander, Redis } from 'ioredis'
import pMap from 'p-map'
import { instantOrNull } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { askAll, askRedis, scanKeys } from '../redis/connect.ts'
import { clientKeysKey, REVISE, WEBHOOK_PREFIX, WEBHOOKS, webhookKey } from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import type { WebhookSecret } from '../send/sign.ts'
import { ENABLE_SCRIPT, LANES } from './outbox.ts'
import { SealError, type SecretBox } from './secret-box.ts'
import { type Condition, SOUND } from './webhook-condition.ts'

export type Setter = {
  /** The id of the key; null for the operator. */
  readonly keyId: string | null
  readonly atMs: number
}

type Fields = Readonly<Record<string, string>>

/**
 * What is stored in the clear. Not by a schema, which would take a tenth of a second for five thousand of them. A rotation that
 * meets a removal leaves address and secrets alone: a webhook that is disabled, and can be removed.
 */
export const clearPartOf = ({ disabled_why = 'it was removed while it was changed', ...fields }: Fields) => ({
  enabled: fields.enabled === '1',
  /** Null if enabled. */
  disabledWhy: disabled_why || null,
  lane: LANES.find(each => each === fields.lane) ?? ('fast' as const),
  // Written below, and when a try is settled.
  condition: fields.condition === undefined ? SOUND : (JSON.parse(fields.condition) as Condition),
  /** Null in records of earlier releases. */
  setter: fields.set_at ? { keyId: fields.set_by || null, atMs: Number(fields.set_at) } : null,
  /** Whether the key that set it, or may have set it, was revoked since. */
  isSuspended: fields.suspended === '1',
})

export type Webhook = Readonly<ReturnType<typeof clearPartOf>> & {
  readonly client: string
  readonly url: string
  /** Newest first. */
  readonly secrets: readonly WebhookSecret[]
}

const FRESH = {
  enabled: '1',
  disabled_why: '',
  lane: 'fast',
  condition: JSON.stringify(SOUND),
  probe_at: '',
} as const

/** The webhook of a client, or null. Throws SealError if SECRET_KEY lacks the key that sealed it. */
export const readWebhook = async (redis: Redis, box: SecretBox, client: string) =>
  toWebhook(box, client, await askRedis(() => redis.hgetall(webhookKey(client))))

/** A webhook from its stored fields, null if there is none: a change that met a removal leaves no address. Throws as above. */
export function toWebhook(box: SecretBox, client: string, fields: Fields): Webhook | null {
  if (fields.url === undefined) return null
  const secrets = JSON.parse(box.open(fields.secrets ?? '', { client, field: 'secrets' })) as WebhookSecret[] // sealed below
  return { ...clearPartOf(fields), client, url: box.open(fields.url, { client, field: 'url' }), secrets }
}

/** What is shown of a webhook, to its owner and to the operator. */
export const shownOf = ({ enabled, disabledWhy, condition, setter }: ReturnType<typeof clearPartOf>) => ({
  enabled,
  disabled_why: disabledWhy,
  set_at: instantOrNull(setter?.atMs ?? null),
  set_by_key: setter?.keyId ?? null,
  failing_since: instantOrNull(condition.health.failingSinceMs),
})

/** Sets a webhook, enabled, after a successful test fire. False if the key of its setter was revoked meanwhile. */
export const saveWebhook = (redis: Redis, box: SecretBox, webhook: ToSeal, { keyId, atMs }: Setter) =>
  begin(redis, webhook.client, {
    ...sealed(box, webhook),
    set_by: keyId ?? '',
    set_at: String(atMs),
    suspended: '',
    ...FRESH,
  })

/** Replaces the secrets, after a rotation or under another key of the ring. */
export const saveSecrets = (redis: Redis, box: SecretBox, webhook: ToSeal): Promise<unknown> =>
  askAll(revising(redis, webhook.client).hset(webhookKey(webhook.client), sealed(box, webhook)))

/** Begins a transaction that changes a webhook. */
const revising = (redis: Redis, client: string): ChainableCommander =>
  redis.multi().eval(`${REVISE}revise(ARGV[1])`, 1, webhookKey(client), client)

type ToSeal = Pick<Webhook, 'client' | 'url' | 'secrets'>

const sealed = (box: SecretBox, { client, url, secrets }: ToSeal) => ({
  url: box.seal(url, { client, field: 'url' }),
  secrets: box.seal(JSON.stringify(secrets), { client, field: 'secrets' }),
})

/** Stops deliveries. The client can still pull. */
export const disableWebhook = (redis: Redis, client: string, why: string): Promise<unknown> =>
  askAll(
    revising(redis, client)
      .hset(webhookKey(client), { enabled: '0', disabled_why: why })
      .srem(WEBHOOKS, client),
  )

/**
 * Enables it with a clean record. What was missed is sent only if the operator resends it. Throws `conflict` if it is
 * suspended: enabling it would send signals to an address that a stolen key may have set.
 */
export async function enableWebhook(redis: Redis, client: string): Promise<void> {
  if (await begin(redis, client, FRESH)) return
  throw new ApiError(
    'conflict',
    `the webhook of '${client}' is suspended, because the key that set it, or may have set it, was revoked: its owner confirms the address ` +
      `by PUT /v1/webhook with a live key, or you set it with \`highwater ops webhook set ${client} URL\``,
  )
}

async function begin(redis: Redis, client: string, fields: Fields) {
  const args = [client, fields.set_by ?? '-', ...Object.entries(fields).flat()]
  return (await runScript(redis, ENABLE_SCRIPT, [WEBHOOKS, clientKeysKey(client)], ...args)) === 1
}

export const removeWebhook = (redis: Redis, client: string): Promise<unknown> =>
  askAll(revising(redis, client).del(webhookKey(client)).srem(WEBHOOKS, client))

export const enabledWebhooks = (redis: Redis): Promise<string[]> => askRedis(() => redis.smembers(WEBHOOKS))

const BLOCK = 500

const SEALED = ['url', 'secrets'] as const

/** A concurrent rotation is over before the second try. */
const MOST_TRIES = 10

/** The clients that have a webhook. */
async function clientsWithWebhook(redis: Redis): Promise<readonly string[]> {
  const found = new Set<string>() // a scan may name a key twice
  for await (const keys of scanKeys(redis, WEBHOOK_PREFIX, BLOCK)) for (const key of keys) found.add(key)
  return [...found].map(key => key.slice(WEBHOOK_PREFIX.length))
}

/** Replies of Redis that are waited for together. */
const READS_AT_ONCE = 500

/** Why SECRET_KEY does not open what is stored, with a client that it concerns; null if it opens all. */
export async function sealFault(redis: Redis, box: SecretBox): Promise<string | null> {
  const faultOf = async (client: string): Promise<string | null> => {
    try {
      await readWebhook(redis, box, client)
      return null
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return `the webhook of '${client}' cannot be read: ${error.message}`
    }
  }
  const faults = await pMap(await clientsWithWebhook(redis), faultOf, { concurrency: READS_AT_ONCE })
  return faults.find(fault => fault !== null) ?? null
}

/** What to do if a key of the ring is lost. */
export const LOST_KEY =
  'if that key is lost, `highwater ops rekey --remove-unreadable` removes such webhooks, and their clients set them again'

/**
 * Seals every webhook under the newest key of the ring; afterwards older keys can be dropped. Idempotent. Throws
 * SealError if the ring lacks a key, unless webhooks that no key opens are removed.
 */
export async function rekeyWebhooks(redis: Redis, box: SecretBox, { removesUnreadable = false } = {}) {
  const count = { sealed: 0, untouched: 0, removed: 0 }
  for (const client of await clientsWithWebhook(redis))
    try {
      count[(await rekeyOne(redis, box, client)) ? 'sealed' : 'untouched']++
    } catch (error) {
      if (!(removesUnreadable && error instanceof SealError)) throw error
      await removeWebhook(redis, client)
      count.removed++
    }
  return count
}

async function rekeyOne(redis: Redis, box: SecretBox, client: string): Promise<boolean> {
  for (let i = 0; i < MOST_TRIES; i++) {
    const was = await askRedis(() => redis.hmget(webhookKey(client), ...SEALED))
    const texts = was.filter(text => text !== null)
    if (texts.length < SEALED.length) return false
    // Opened in any case: another key may have the id of the newest one.
    const opened = SEALED.map((field, k) => box.open(texts[k]!, { client, field })) // as many texts as fields
    if (texts.every(text => box.isSealedByNewest(text))) return false
    const renewed = SEALED.map((field, k) => box.seal(opened[k]!, { client, field }))
    const reply = await runScript(redis, RESEAL_SCRIPT, [webhookKey(client)], client, ...texts, ...renewed)
    if (reply === 1) return true
  }
  throw new Error(`the webhook of '${client}' is being changed all the time: run the command again`)
}

/** Writes only if the text is what was read: a concurrent rotation must not be undone. */
const RESEAL_SCRIPT = `${REVISE}
local url, secrets = unpack(redis.call('HMGET', KEYS[1], 'url', 'secrets'))
if url ~= ARGV[2] or secrets ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], 'url', ARGV[4], 'secrets', ARGV[5])
revise(ARGV[1])
return 1
`
