// The webhooks of clients, one for each endpoint. Address, secrets and headers are sealed; only this file opens them.
import type { ChainableCommander, Redis } from 'ioredis'
import pMap from 'p-map'
import { instantOrNull } from '#core/calendar.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { assertId } from '../clients/clients.ts'
import { askAll, askRedis, scanKeys } from '../redis/connect.ts'
import {
  clientKeysKey,
  endpointsKey,
  NOTIFY,
  REVISE,
  WEBHOOK_PREFIX,
  WEBHOOKS,
  webhookKey,
} from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import type { WebhookSecret } from '../send/sign.ts'
import {
  argumentsOf,
  clientOf,
  DEFAULT_ENDPOINT,
  type Destination,
  endpointOf,
  MOST_ENDPOINTS,
  routeOf,
} from './destination.ts'
import { CHANGE_SCRIPT, ENABLE_SCRIPT, LANES, WAKE } from './outbox.ts'
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
  filter: filterOf(fields),
  /** How old an entry of this endpoint may be when its attempt is due, in seconds; null for any age. */
  expireAfterS: fields.expire_after_s ? Number(fields.expire_after_s) : null,
  /** While it is paused, what it is owed waits. */
  isPaused: fields.paused === '1',
  /** When it last acknowledged a signal; null in records of earlier releases until it does. */
  lastSuccessMs: fields.last_success ? Number(fields.last_success) : null,
})

/** The aliases that an endpoint is sent, of those that its client may see; null for all of them. */
export const filterOf = ({ filter }: Fields): readonly string[] | null =>
  filter ? (JSON.parse(filter) as string[]) : null // written below

export type Webhook = Readonly<ReturnType<typeof clearPartOf>> & {
  readonly destination: Destination
  readonly url: string
  /** Newest first. */
  readonly secrets: readonly WebhookSecret[]
  /** Those of the endpoint's own on each delivery, values by name. */
  readonly headers: Readonly<Record<string, string>>
}

const FRESH = {
  enabled: '1',
  disabled_why: '',
  lane: 'fast',
  condition: JSON.stringify(SOUND),
  probe_at: '',
} as const

/** The webhook of a destination, or null. Throws SealError if SECRET_KEY lacks the key that sealed it. */
export const readWebhook = async (redis: Redis, box: SecretBox, destination: Destination) =>
  toWebhook(box, destination, await askRedis(() => redis.hgetall(webhookKey(destination))))

/** A webhook from its stored fields, null if there is none: a change that met a removal leaves no address. Throws as above. */
export function toWebhook(box: SecretBox, destination: Destination, fields: Fields): Webhook | null {
  if (fields.url === undefined) return null
  const open = (field: Sealed, text = ''): string => box.open(text, { client: destination, field })
  const secrets = JSON.parse(open('secrets', fields.secrets)) as WebhookSecret[] // sealed below, as the headers
  const headers = fields.headers ? (JSON.parse(open('headers', fields.headers)) as Webhook['headers']) : {}
  return { ...clearPartOf(fields), destination, url: open('url', fields.url), secrets, headers }
}

/** What is shown of a webhook, to its owner and to the operator. */
export const shownOf = ({ enabled, disabledWhy, condition, setter }: ReturnType<typeof clearPartOf>) => ({
  enabled,
  disabled_why: disabledWhy,
  set_at: instantOrNull(setter?.atMs ?? null),
  set_by_key: setter?.keyId ?? null,
  failing_since: instantOrNull(condition.health.failingSinceMs),
})

/**
 * Sets a webhook, enabled, after a successful test fire; one that is there keeps its filter, its expiry, and its pause. False if the
 * key of its setter was revoked meanwhile. Throws `conflict` if the client has as many endpoints as it may.
 */
export const saveWebhook = (
  redis: Redis,
  box: SecretBox,
  { headers = {}, ...webhook }: ToSeal & Partial<Pick<Webhook, 'headers'>>,
  { keyId, atMs }: Setter,
) =>
  begin(redis, webhook.destination, {
    ...sealed(box, webhook),
    headers: sealedHeaders(box, webhook.destination, headers),
    set_by: keyId ?? '',
    set_at: String(atMs),
    last_success: String(atMs),
    suspended: '',
    ...FRESH,
  })

/** What a client sets of an endpoint beside its address. Absent fields stay as they are. */
export type Settings = {
  readonly [Name in 'filter' | 'expireAfterS' | 'isPaused' | 'headers']?: Webhook[Name] | undefined
}

/**
 * Changes settings; the workers find the change before their next attempt. An endpoint that goes on is sent what waited. Throws
 * `not_found`, and `validation_error` on a filter with an invalid alias or without any.
 */
export async function setSettings(
  redis: Redis,
  box: SecretBox,
  destination: Destination,
  settings: Settings,
) {
  const { filter, expireAfterS, isPaused, headers } = settings
  if (filter?.length === 0)
    throw invalidParameter(
      'filter',
      '[]',
      'expected at least one alias, or null for all: pause an endpoint that is to get nothing',
    )
  for (const alias of filter ?? []) assertId('filter', alias)
  const fields = {
    ...(filter !== undefined && { filter: filter === null ? '' : JSON.stringify(filter) }),
    ...(expireAfterS !== undefined && { expire_after_s: String(expireAfterS ?? '') }),
    ...(isPaused !== undefined && { paused: isPaused ? '1' : '' }),
    ...(headers !== undefined && { headers: sealedHeaders(box, destination, headers) }),
  }
  const args = Object.entries(fields).flat()
  if ((await runScript(redis, CHANGE_SCRIPT, [webhookKey(destination)], destination, ...args)) === 1) return
  throw new ApiError('not_found', `there is no endpoint '${endpointOf(destination)}': set its address first`)
}

/** Replaces the secrets, after a rotation or under another key of the ring. */
export const saveSecrets = (redis: Redis, box: SecretBox, webhook: ToSeal): Promise<unknown> =>
  askAll(revising(redis, webhook.destination).hset(webhookKey(webhook.destination), sealed(box, webhook)))

/** Begins a transaction that changes a webhook. What waited for a pause to end is looked at again: it may be withdrawn now. */
const revising = (redis: Redis, destination: Destination): ChainableCommander =>
  redis.multi().eval(`${WAKE}revise(ARGV[1])\nwake(ARGV[1])`, 1, webhookKey(destination), destination)

type ToSeal = Pick<Webhook, 'destination' | 'url' | 'secrets'>

const sealed = (box: SecretBox, { destination, url, secrets }: ToSeal) => ({
  url: box.seal(url, { client: destination, field: 'url' }),
  secrets: box.seal(JSON.stringify(secrets), { client: destination, field: 'secrets' }),
})

const sealedHeaders = (box: SecretBox, destination: Destination, headers: Webhook['headers']): string =>
  Object.keys(headers).length === 0
    ? ''
    : box.seal(JSON.stringify(headers), { client: destination, field: 'headers' })

/** Stops deliveries. The client can still pull. */
export const disableWebhook = (redis: Redis, destination: Destination, why: string): Promise<unknown> =>
  askAll(
    revising(redis, destination)
      .eval(DISABLED_NOTICE, 1, webhookKey(destination), destination, why)
      .hset(webhookKey(destination), { enabled: '0', disabled_why: why })
      .srem(WEBHOOKS, destination),
  )

const DISABLED_NOTICE = `${NOTIFY}
if redis.call('HGET', KEYS[1], 'enabled') == '1' then notify(ARGV[1], 'endpoint_disabled', '', ARGV[2]) end
`

/**
 * Enables it with a clean record. What was missed is sent only if the operator resends it. Throws `conflict` if it is
 * suspended: enabling it would send signals to an address that a stolen key may have set.
 */
export async function enableWebhook(redis: Redis, destination: Destination): Promise<void> {
  if (await begin(redis, destination, FRESH)) return
  const setArguments = argumentsOf(destination)
  throw new ApiError(
    'conflict',
    `the webhook of '${destination}' is suspended, because the key that set it, or may have set it, was revoked: its owner confirms the address ` +
      `by PUT ${routeOf(destination)} with a live key, or you set it with \`highwater ops webhook set ${setArguments} URL\``,
  )
}

async function begin(redis: Redis, destination: Destination, fields: Fields) {
  const args = [destination, fields.set_by ?? '-', ...Object.entries(fields).flat()]
  const keys = [WEBHOOKS, clientKeysKey(clientOf(destination)), endpointsKey(clientOf(destination))]
  const reply = await runScript(redis, ENABLE_SCRIPT, keys, ...args)
  if (reply === 'full') throw tooMany(destination)
  return reply === 1
}

const tooMany = (destination: Destination): ApiError =>
  new ApiError(
    'conflict',
    `a client has at most ${MOST_ENDPOINTS} endpoints, '${DEFAULT_ENDPOINT}' included: remove one before you set '${endpointOf(destination)}'`,
  )

/** Throws as saving another endpoint would, before anything is sent to its address; `validation_error` on an invalid name. */
export async function assertRoom(redis: Redis, destination: Destination): Promise<void> {
  const [client, endpoint] = [clientOf(destination), endpointOf(destination)]
  assertId('endpoint', endpoint)
  const others = (await endpointsOf(redis, client)).filter(name => name !== DEFAULT_ENDPOINT)
  const isNew = endpoint !== DEFAULT_ENDPOINT && !others.includes(endpoint)
  if (isNew && others.length >= MOST_ENDPOINTS - 1) throw tooMany(destination)
}

/** The names of the endpoints that a client has set, `default` first. */
export async function endpointsOf(redis: Redis, client: string): Promise<readonly string[]> {
  const [isSet, others] = await askAll(
    redis.multi().hexists(webhookKey(client), 'enabled').smembers(endpointsKey(client)),
  )
  return [...(isSet === 1 ? [DEFAULT_ENDPOINT] : []), ...(others as string[]).sort()] // what SMEMBERS replies
}

export const removeWebhook = (redis: Redis, destination: Destination): Promise<unknown> =>
  askAll(
    revising(redis, destination)
      .del(webhookKey(destination))
      .srem(WEBHOOKS, destination)
      .srem(endpointsKey(clientOf(destination)), endpointOf(destination)),
  )

/** The destinations with a webhook that is enabled. */
export const enabledWebhooks = (redis: Redis): Promise<Destination[]> =>
  askRedis(() => redis.smembers(WEBHOOKS))

const BLOCK = 500

const SEALED = ['url', 'secrets', 'headers'] as const
type Sealed = (typeof SEALED)[number]

/** A concurrent rotation is over before the second try. */
const MOST_TRIES = 10

/** The destinations that have a webhook. */
async function destinationsWithWebhook(redis: Redis): Promise<readonly string[]> {
  const found = new Set<string>() // a scan may name a key twice
  for await (const keys of scanKeys(redis, WEBHOOK_PREFIX, BLOCK)) for (const key of keys) found.add(key)
  return [...found].map(key => key.slice(WEBHOOK_PREFIX.length))
}

/** Replies of Redis that are waited for together. */
const READS_AT_ONCE = 500

/** Why SECRET_KEY does not open what is stored, with a destination that it concerns; null if it opens all. */
export async function sealFault(redis: Redis, box: SecretBox): Promise<string | null> {
  const faultOf = async (destination: Destination): Promise<string | null> => {
    try {
      await readWebhook(redis, box, destination)
      return null
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return `the webhook of '${destination}' cannot be read: ${error.message}`
    }
  }
  const faults = await pMap(await destinationsWithWebhook(redis), faultOf, { concurrency: READS_AT_ONCE })
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
  for (const destination of await destinationsWithWebhook(redis))
    try {
      count[(await rekeyOne(redis, box, destination)) ? 'sealed' : 'untouched']++
    } catch (error) {
      if (!(removesUnreadable && error instanceof SealError)) throw error
      await removeWebhook(redis, destination)
      count.removed++
    }
  return count
}

async function rekeyOne(redis: Redis, box: SecretBox, destination: Destination): Promise<boolean> {
  for (let i = 0; i < MOST_TRIES; i++) {
    const was = await askRedis(() => redis.hmget(webhookKey(destination), ...SEALED))
    if (was[0] === null || was[1] === null) return false
    const texts = SEALED.flatMap((field, k) => (was[k] ? [{ field, text: was[k] }] : [])) // headers, if it has some
    // Opened in any case: another key may have the id of the newest one.
    const opened = texts.map(({ field, text }) => box.open(text, { client: destination, field }))
    if (texts.every(({ text }) => box.isSealedByNewest(text))) return false
    const args = texts.flatMap(({ field, text }, k) => [
      field,
      text,
      box.seal(opened[k]!, { client: destination, field }),
    ])
    const reply = await runScript(redis, RESEAL_SCRIPT, [webhookKey(destination)], destination, ...args)
    if (reply === 1) return true
  }
  throw new Error(`the webhook of '${destination}' is being changed all the time: run the command again`)
}

/** Writes only if each text is what was read: a concurrent rotation must not be undone. ARGV: destination, then field, text, and new text. */
const RESEAL_SCRIPT = `${REVISE}
for i = 2, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
for i = 2, #ARGV, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
revise(ARGV[1])
return 1
`
