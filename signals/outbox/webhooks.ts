// The webhooks of clients, one for each endpoint. Address, secrets and headers are sealed; only this file opens them.
import type { Redis } from 'ioredis'
import { instantOrNull } from '#core/calendar.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { assertId } from '../clients/clients.ts'
import { askAll, askRedis } from '../redis/connect.ts'
import {
  clientKeysKey,
  endpointsKey,
  NOTIFY,
  removedEndpointsKey,
  WEBHOOKS,
  webhookKey,
} from '../redis/keys.ts'
import { runScript, tryAgain } from '../redis/script.ts'
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
import { LANES, NAMES } from './outbox.ts'
import type { SecretBox } from './secret-box.ts'
import { nameOf, OPERATOR, type Setter, setterOf } from './setter.ts'
import { type Condition, SOUND } from './webhook-condition.ts'

export type SetAt = Setter & { readonly atMs: number }

type Fields = Readonly<Record<string, string>>

/**
 * What is stored in the clear. Not by a schema, which would take a tenth of a second for five thousand of them. A rotation of an
 * earlier release that met a removal left address and secrets alone: a webhook that is disabled, and can be removed.
 */
export const clearPartOf = ({ disabled_why = 'it was removed while it was changed', ...fields }: Fields) => ({
  enabled: fields.enabled === '1',
  /** Null if enabled. */
  disabledWhy: disabled_why || null,
  lane: LANES.find(each => each === fields.lane) ?? ('fast' as const),
  // Written below, and when a try is settled.
  condition: fields.condition === undefined ? SOUND : (JSON.parse(fields.condition) as Condition),
  /** Null in records of earlier releases. */
  setter: fields.set_at ? { ...setterOf(fields.set_by ?? ''), atMs: Number(fields.set_at) } : null,
  /** The names of those who changed filter, expiry or pause, the last one first. */
  settingsBy: fields.settings_by?.split(' ') ?? [],
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
  /** As it was read: what is written by what is in it is written only if that is unchanged. */
  readonly stored: Fields
}

/** The fields that are sealed. */
export const SEALED = ['url', 'secrets', 'headers'] as const
type Sealed = (typeof SEALED)[number]
type ToSeal = { readonly [Field in Sealed]?: Webhook[Field] | undefined }

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
  const url = open('url', fields.url)
  return { ...clearPartOf(fields), destination, url, secrets, headers, stored: fields }
}

/** What is shown of a webhook, to its owner and to the operator. */
export const shownOf = ({ enabled, disabledWhy, condition, setter }: ReturnType<typeof clearPartOf>) => ({
  enabled,
  disabled_why: disabledWhy,
  set_at: instantOrNull(setter?.atMs ?? null),
  set_by: setter && nameOf(setter),
  set_by_key: setter?.kind === 'key' ? setter.id : null,
  failing_since: instantOrNull(condition.health.failingSinceMs),
})

/**
 * Sets a webhook, enabled, after a successful test fire; one that is there keeps its filter, its expiry, and its pause. False if the
 * key of its setter was revoked meanwhile. Throws `conflict` if the client has as many endpoints as it may, or if the webhook is no
 * longer as it was `before` the test (null: there was none): it would lose what others set.
 */
export async function saveWebhook(
  redis: Redis,
  box: SecretBox,
  { destination, headers = {}, ...others }: Pick<Webhook, 'destination' | 'url' | 'secrets'> & ToSeal,
  setter: SetAt,
  before?: Webhook | null,
): Promise<boolean> {
  const fields = {
    ...sealed(box, destination, { ...others, headers }),
    set_by: setter.kind === 'operator' ? '' : nameOf(setter),
    set_at: String(setter.atMs),
    last_success: String(setter.atMs),
    suspended: '',
    ...FRESH,
  }
  const read = before === undefined ? {} : readOf(before)
  const reply = await begin(redis, destination, fields, setter.kind === 'key' ? setter.id : '', read)
  if (reply === 'ok' || reply === 'dead') return reply === 'ok'
  throw new ApiError('conflict', reply === 'full' ? TOO_MANY : CHANGED_MEANWHILE)
}

const TOO_MANY = `a client has at most ${MOST_ENDPOINTS} endpoints, '${DEFAULT_ENDPOINT}' included: remove one of them first`

const CHANGED_MEANWHILE =
  'the endpoint was changed or removed while its address was tested, and stays as it is now: look at it, and send this again'

/** What a client sets of an endpoint beside its address. Absent fields stay as they are. */
export type Settings = {
  readonly [Name in 'filter' | 'expireAfterS' | 'isPaused' | 'headers']?: Webhook[Name] | undefined
}

/**
 * Changes settings; the workers find the change before their next attempt. An endpoint that goes on is sent what waited. Headers are
 * of who set the endpoint: if that is a key that is revoked, the endpoint loses them. Throws `not_found`, `validation_error` on a
 * filter with an invalid alias or without any, `conflict` if another than `by` set the endpoint and headers are given, and
 * `unauthorized` if the key was revoked meanwhile.
 */
export async function setSettings(
  redis: Redis,
  box: SecretBox,
  destination: Destination,
  { filter, expireAfterS, isPaused, headers }: Settings,
  by: Setter = OPERATOR,
): Promise<void> {
  if (filter?.length === 0)
    throw invalidParameter('filter', '[]', 'expected an alias, or null for all: pause it to get nothing')
  for (const alias of filter ?? []) assertId('filter', alias)
  const settings = {
    ...(filter !== undefined && { filter: filter === null ? '' : JSON.stringify(filter) }),
    ...(expireAfterS !== undefined && { expire_after_s: String(expireAfterS ?? '') }),
    ...(isPaused !== undefined && { paused: isPaused ? '1' : '' }),
  }
  const fields = { ...settings, ...sealed(box, destination, { headers }) }
  const isOfSetter = headers !== undefined && by.kind !== 'operator'
  const read = isOfSetter ? { set_by: nameOf(by), suspended: '' } : {}
  const settingsBy = Object.keys(settings).length > 0 ? by : null
  const reply = await changeWebhook(redis, destination, fields, read, settingsBy)
  if (reply === 'gone') throw notSet(destination)
  if (reply === 'changed') throw notYours(destination)
  if (reply === 'dead')
    throw new ApiError('unauthorized', 'the key was revoked before the change was made: nothing was changed')
}

const notSet = (destination: Destination): ApiError =>
  new ApiError('not_found', `there is no endpoint '${endpointOf(destination)}': set its address first`)

const notYours = (destination: Destination): ApiError =>
  new ApiError(
    'conflict',
    `the endpoint '${endpointOf(destination)}' was not set by the key or link that you use: confirm its address first, with PUT /v1/endpoints/${endpointOf(destination)}`,
  )

/**
 * Replaces the secrets by what is made of those that are there. Throws `not_found`, what `rotate` throws, and `conflict` if another
 * than `by` set the endpoint: secrets, too, are of who set it. An operator may replace those of everybody.
 */
export const rotateSecrets = (
  redis: Redis,
  box: SecretBox,
  destination: Destination,
  by: Setter,
  rotate: (secrets: Webhook['secrets']) => Webhook['secrets'],
): Promise<true> =>
  tryAgain(`the endpoint '${endpointOf(destination)}'`, async () => {
    const webhook = await readWebhook(redis, box, destination)
    if (webhook === null) throw notSet(destination)
    const { setter, isSuspended, secrets } = webhook
    const isOwn = setter !== null && nameOf(setter) === nameOf(by) && !isSuspended
    if (by.kind !== 'operator' && !isOwn) throw notYours(destination)
    const fields = sealed(box, destination, { secrets: rotate(secrets) })
    return (await changeWebhook(redis, destination, fields, readOf(webhook))) === 'ok' || null
  })

/** The stored fields of what is given. */
export function sealed(box: SecretBox, client: Destination, given: ToSeal) {
  const seal = (field: Sealed, value: unknown) =>
    box.seal(typeof value === 'string' ? value : JSON.stringify(value), { client, field })
  const there = SEALED.filter(field => given[field] !== undefined)
  return Object.fromEntries(there.map(field => [field, seal(field, given[field])]))
}

/** What a registration or a rotation was made by; all empty if there was no webhook. No text is sealed twice to the same one. */
export const readOf = (webhook: Webhook | null): Fields =>
  Object.fromEntries([...SEALED, 'suspended'].map(field => [field, webhook?.stored[field] ?? '']))

/** Writes fields of a webhook that is there, and who changed its settings, if what was read is unchanged. */
export async function changeWebhook(
  redis: Redis,
  destination: Destination,
  fields: Fields,
  read: Fields,
  settingsBy: Setter | null = null,
) {
  const key = settingsBy?.kind === 'key' ? settingsBy.id : ''
  const by = settingsBy === null ? '' : nameOf(settingsBy)
  const names = [webhookKey(destination), clientKeysKey(clientOf(destination))]
  const reply = runScript(redis, CHANGE_SCRIPT, names, destination, key, by, ...argumentsFor(read, fields))
  return (await reply) as 'ok' | 'gone' | 'dead' | 'changed' // as it returns
}

const argumentsFor = (read: Fields, fields: Fields): readonly (string | number)[] => [
  Object.keys(read).length,
  ...[read, fields].flatMap(each => Object.entries(each).flat()),
]

/**
 * Lua: `is_as_read(key, at)` compares fields with what was read of them: their number at ARGV[at], then pairs of name and text; then
 * come the pairs that are to be written. Those may be there already: a call whose reply was lost is sent again.
 */
const COMPARE = `${NAMES}
local function first_field(at) return at + 1 + 2 * tonumber(ARGV[at]) end

local function is_as_read(key, at)
  local own = {}
  for i = first_field(at), #ARGV, 2 do own[ARGV[i]] = ARGV[i + 1] end
  for i = at + 1, first_field(at) - 1, 2 do
    local there = redis.call('HGET', key, ARGV[i]) or ''
    if there ~= ARGV[i + 1] and there ~= own[ARGV[i]] then return false end
  end
  return true
end
`

/**
 * KEYS: the webhook; the live keys of its client. ARGV: destination; the key that changes settings, '' for none; the name of who does,
 * or ''; what was read; then pairs of name and value. Who changed settings is a list, newest first: of a filter by one and a pause by
 * another one both may be looked for when a key is revoked.
 */
const CHANGE_SCRIPT = `${COMPARE}
local destination, key, by = unpack(ARGV)
if redis.call('HEXISTS', KEYS[1], 'url') == 0 then return 'gone' end
if key ~= '' and redis.call('SISMEMBER', KEYS[2], key) == 0 then return 'dead' end
if not is_as_read(KEYS[1], 4) then return 'changed' end
if first_field(4) <= #ARGV then redis.call('HSET', KEYS[1], unpack(ARGV, first_field(4))) end
if by ~= '' then
  local all = {by}
  for other in string.gmatch(redis.call('HGET', KEYS[1], 'settings_by') or '', '%S+') do
    if other ~= by then all[#all + 1] = other end
  end
  redis.call('HSET', KEYS[1], 'settings_by', table.concat(all, ' '))
end
revise(destination)
wake(destination)
return 'ok'
`

/** Stops deliveries. The client can still pull. */
export const disableWebhook = (redis: Redis, destination: Destination, why: string): Promise<unknown> =>
  runScript(redis, DISABLE_SCRIPT, [webhookKey(destination), WEBHOOKS], destination, why)

/** What waited for a pause to end is looked at again: it is withdrawn now. */
const DISABLE_SCRIPT = `${NAMES}${NOTIFY}
local destination, why = ARGV[1], ARGV[2]
if redis.call('HEXISTS', KEYS[1], 'url') == 0 then return 0 end
if redis.call('HGET', KEYS[1], 'enabled') == '1' then notify(destination, 'endpoint_disabled', '', why) end
redis.call('HSET', KEYS[1], 'enabled', '0', 'disabled_why', why)
redis.call('SREM', KEYS[2], destination)
revise(destination)
wake(destination)
return 1
`

/**
 * Enables it with a clean record. What was missed is sent only if the operator resends it. Throws `not_found`, and `conflict` if it is
 * suspended: enabling it would send signals to an address that a stolen key may have set.
 */
export async function enableWebhook(redis: Redis, destination: Destination): Promise<void> {
  const reply = await begin(redis, destination, FRESH, '-')
  if (reply === 'ok') return
  if (reply === 'gone') throw notSet(destination)
  throw new ApiError(
    'conflict',
    `the webhook of '${destination}' is suspended, because the key that set it, or may have set it, was revoked: its owner confirms the address ` +
      `by PUT ${routeOf(destination)} with a live key, or you set it with \`highwater ops webhook set ${argumentsOf(destination)} URL\``,
  )
}

async function begin(redis: Redis, destination: Destination, fields: Fields, key: string, read: Fields = {}) {
  const client = clientOf(destination)
  const names = [WEBHOOKS, clientKeysKey(client), endpointsKey(client)]
  return runScript(redis, ENABLE_SCRIPT, names, destination, key, ...argumentsFor(read, fields))
}

/**
 * Sets fields of a webhook and enables it; what the destination is owed is due now. KEYS: destinations with a webhook; the live
 * keys of its client; the other endpoints of its client. ARGV: destination; the key that sets it, '' for none, '-' if it is not set
 * again; what was read; then pairs of name and value. Does nothing, and says why, if the key is revoked (`dead`), if what was read has
 * changed, if it is there no longer (`gone`) or suspended and not set again, or if the client has as many endpoints as it may (`full`).
 */
const ENABLE_SCRIPT = `${COMPARE}
local destination, by = ARGV[1], ARGV[2]
if by == '-' and redis.call('HEXISTS', webhook(destination), 'url') == 0 then return 'gone' end
if by == '-' and redis.call('HGET', webhook(destination), 'suspended') == '1' then return 'suspended' end
if by ~= '-' and by ~= '' and redis.call('SISMEMBER', KEYS[2], by) == 0 then return 'dead' end
if not is_as_read(webhook(destination), 3) then return 'changed' end
local endpoint = string.match(destination, '/(.*)')
if endpoint and redis.call('SADD', KEYS[3], endpoint) == 1 and redis.call('SCARD', KEYS[3]) >= ${MOST_ENDPOINTS} then
  redis.call('SREM', KEYS[3], endpoint)
  return 'full'
end
redis.call('HSET', webhook(destination), unpack(ARGV, first_field(3)))
revise(destination)
redis.call('SADD', KEYS[1], destination)
wake(destination)
return 'ok'
`

/** The names of the endpoints that a client has set, `default` first. */
export async function endpointsOf(redis: Redis, client: string): Promise<readonly string[]> {
  const [isSet, others] = await askAll(
    redis.multi().hexists(webhookKey(client), 'enabled').smembers(endpointsKey(client)),
  )
  return [...(isSet === 1 ? [DEFAULT_ENDPOINT] : []), ...(others as string[]).sort()] // what SMEMBERS replies
}

export const removeWebhook = (redis: Redis, destination: Destination): Promise<unknown> => {
  const client = clientOf(destination)
  const names = [webhookKey(destination), WEBHOOKS, endpointsKey(client), removedEndpointsKey(client)]
  return runScript(redis, REMOVE_SCRIPT, names, destination)
}

/** Of a client, the newest: a client that sets and removes all the time would make its account long. */
const MOST_REMOVED = 20

const REMOVE_SCRIPT = `${NAMES}
local destination = ARGV[1]
local endpoint = string.match(destination, '/(.*)')
revise(destination) -- first: a Redis without memory refuses it, and would take what deletes
redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[2], destination)
if endpoint and redis.call('SREM', KEYS[3], endpoint) == 1 then
  redis.call('LREM', KEYS[4], 0, endpoint)
  redis.call('LPUSH', KEYS[4], endpoint)
  redis.call('LTRIM', KEYS[4], 0, ${MOST_REMOVED - 1})
end
wake(destination)
return 1
`

/** The names of the endpoints that a client has removed, the newest of them; some may be set again. */
export const removedEndpointsOf = (redis: Redis, client: string): Promise<readonly string[]> =>
  askRedis(() => redis.lrange(removedEndpointsKey(client), 0, -1))

/** The destinations with a webhook that is enabled. */
export const enabledWebhooks = (redis: Redis): Promise<Destination[]> =>
  askRedis(() => redis.smembers(WEBHOOKS))
