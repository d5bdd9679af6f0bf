// The keys of a client: at most two live ones; confirming the newer one revokes the older. A revoked key is
// deleted and never cached, so it is refused from the next request on.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { tolerate } from '#storage/error-code.ts'
import { assertHead, knownLog } from '../log/guard.ts'
import { DEFAULT_ENDPOINT, type Destination, routeOf } from '../outbox/destination.ts'
import { NAMES } from '../outbox/outbox.ts'
import { askRedis } from '../redis/connect.ts'
import * as keys from '../redis/keys.ts'
import { runScript, TEXT_FUNCTION } from '../redis/script.ts'
import { clientOfText, type Identity, unknownClient } from './clients.ts'
import { createToken, digestOf, matchesDigest, parseToken, type RandomBytes } from './token.ts'

/** A key as the operator sees it, without the token. */
export type ApiKey = Readonly<Omit<z.output<typeof storedKey>, 'number'>> & { readonly id: string }

export const MOST_LIVE_KEYS = 2

/** Ids have 47 bits: one collision is rare, three in a row mean broken randomness. */
const MOST_TRIES = 3

/**
 * Issues a key for a client, which is refused from `expiresAtMs` on. The token is returned here and never again. Throws
 * `not_found`, `validation_error` if the end is past, or `conflict` if the client already has two live keys.
 */
export async function issueKey(
  redis: Redis,
  client: string,
  random: RandomBytes,
  nowMs: number,
  expiresAtMs: number | null = null,
) {
  if (expiresAtMs !== null && expiresAtMs <= nowMs)
    throw invalidParameter(
      'expires_at',
      toIsoInstant(expiresAtMs),
      'expected an instant that is still to come',
    )
  for (let i = 0; i < MOST_TRIES; i++) {
    const made = createToken(random)
    const names = [keys.clientKey(client), keys.clientKeysKey(client), keys.apiKeyKey(made.id)]
    const args = [client, made.id, digestOf(made.token), nowMs, MOST_LIVE_KEYS, expiresAtMs ?? '']
    const reply = await runScript(redis, ISSUE_SCRIPT, names, ...args)
    if (reply === 'ok') return made
    if (reply === 'unknown') throw await unknownClient(redis, client)
    if (reply === 'full') {
      const message = `the client '${client}' has ${MOST_LIVE_KEYS} live keys: confirm the new one, or revoke one`
      throw new ApiError('conflict', message)
    }
  }
  throw new Error('three random key ids in a row were taken: the source of random bytes is broken')
}

/**
 * Confirms the newer key of a client and revokes every older one, which suspends the webhooks that one of them set, or
 * may have set: `suspended`, and `suspendedBy` is that key. A single key, or one confirmed before, stays as it is. Throws `not_found`, or `conflict` if a newer
 * key waits for confirmation.
 */
export async function confirmKey(redis: Redis, keyId: string, nowMs: number) {
  const client = await ownerOf(redis, keyId)
  if (client === null) throw unknownKey(keyId)
  const args = [client, keyId, nowMs, keys.apiKeyKey('')]
  const reply = await runScript(redis, CONFIRM_SCRIPT, [keys.clientKeysKey(client), keys.WEBHOOKS], ...args)
  const [verdict, suspendedBy = '', retired = [], suspended = []] = reply as Confirmed // what the script returns
  if (verdict === 'unknown') throw unknownKey(keyId)
  if (verdict === 'older') {
    const message = `${keyId} is the older of two keys: confirm with the new one, and this one dies`
    throw new ApiError('conflict', message)
  }
  return { client, keyId, retired, suspendedBy, suspended }
}

type Confirmed = [verdict: string, suspendedBy?: string, retired?: string[], suspended?: Destination[]]

/** Revokes a key, which suspends the webhooks that it set or may have set: `suspended`. Null if there was none. */
export async function revokeKey(redis: Redis, keyId: string) {
  const client = await ownerOf(redis, keyId)
  if (client === null) return null
  const names = [keys.apiKeyKey(keyId), keys.clientKeysKey(client), keys.WEBHOOKS]
  const reply = await runScript(redis, REVOKE_SCRIPT, names, client, keyId)
  const [revoked, suspended] = reply as [number, Destination[]] // the script returns both
  return revoked === 1 ? { client, suspended } : null
}

/** The live keys of a client, oldest first. */
export async function listKeys(redis: Redis, client: string): Promise<readonly ApiKey[]> {
  const ids = await askRedis(() => redis.smembers(keys.clientKeysKey(client)))
  const records = await Promise.all(ids.map(id => askRedis(() => redis.hgetall(keys.apiKeyKey(id)))))
  return ids
    .flatMap((id, i) => (records[i]!.client === undefined ? [] : { id, ...storedKey.parse(records[i]) })) // revoked meanwhile
    .sort((a, b) => a.number - b.number)
    .map(({ number: _, ...key }) => key)
}

/**
 * The owner of a token, or null if it is malformed, unknown, revoked or expired, at the cost of one read. Nothing is cached, so
 * changes apply from the next request on. Throws RedisDownError, or LogGoneError for an unknown token in a Redis that
 * has lost its log, because the keys went with it.
 */
export async function authenticate(redis: Redis, token: string, nowMs: number): Promise<Identity | null> {
  const keyId = parseToken(token)?.id
  if (keyId === undefined) return null
  const log = knownLog(redis)
  const reply = await runScript(redis, READ_SCRIPT, [keys.apiKeyKey(keyId), keys.EPOCH, keys.HEAD])
  const [owner, sha256, lastUsedMs, expiresAtMs, record, epoch, seq] = reply as Reply
  const isRight = matchesDigest(token, sha256 || null) // also without a digest: an unknown id must take as long
  const isOver = nowMs >= Number(expiresAtMs || Number.POSITIVE_INFINITY)
  const client = isRight && !isOver ? clientOfText(record, owner) : null
  if (client === null) {
    assertHead(redis, { epoch: epoch || null, seq: Number(seq) }, log)
    return null
  }
  if (nowMs - Number(lastUsedMs || Number.NEGATIVE_INFINITY) >= USE_NOTED_MS)
    await tolerate(noteUse(redis, keyId, nowMs), 'the next use is noted')
  return { client, keyId }
}

/** A write with fsync for every pull would add little. */
const USE_NOTED_MS = 60_000

/** Records that a key was used, unless it was revoked meanwhile. */
export const noteUse = (redis: Redis, keyId: string, nowMs: number): Promise<unknown> =>
  runScript(redis, NOTE_USE_SCRIPT, [keys.apiKeyKey(keyId)], nowMs, USE_NOTED_MS)

/** Requests of one moment all ask for it: the first of them is noted. */
const NOTE_USE_SCRIPT = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local last = tonumber(redis.call('HGET', KEYS[1], 'last_used_at') or '-inf')
if tonumber(ARGV[1]) - last < tonumber(ARGV[2]) then return 0 end
return redis.call('HSET', KEYS[1], 'last_used_at', ARGV[1])
`

/** What the script returns, all texts; '' for what there is not. */
type Reply = [
  owner: string,
  sha256: string,
  lastUsedMs: string,
  expiresAtMs: string,
  record: string,
  epoch: string,
  seq: string,
]

/** Reads a key, its client and the head of the log. The same commands run whether the key exists or not. */
const READ_SCRIPT = `${TEXT_FUNCTION}
local owner, sha256, last, ends = unpack(redis.call('HMGET', KEYS[1], 'client', 'sha256', 'last_used_at', 'expires_at'))
local record = text(redis.call('HGETALL', '${keys.clientKey('')}' .. (owner or '')))
return {owner or '', sha256 or '', last or '', ends or '', record, redis.call('GET', KEYS[2]) or '', redis.call('HGET', KEYS[3], 'seq') or '0'}
`

/** Lua: `is_over(id, now)` says whether a key has expired: it is not counted, and keeps no other from being confirmed. */
const IS_OVER = `
local function is_over(id, now)
  return tonumber(redis.call('HGET', '${keys.apiKeyKey('')}' .. id, 'expires_at') or 'inf') <= tonumber(now)
end
`

/** Idempotent: called again after a lost reply it finds its own key and returns ok. */
const ISSUE_SCRIPT = `${IS_OVER}
local client, id, sha256, now, most, ends = unpack(ARGV)
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
local there = redis.call('HGET', KEYS[3], 'sha256')
if there then return there == sha256 and 'ok' or 'taken' end
local live = 0
for _, other in ipairs(redis.call('SMEMBERS', KEYS[2])) do
  if not is_over(other, now) then live = live + 1 end
end
if live >= tonumber(most) then return 'full' end
local number = redis.call('HINCRBY', KEYS[1], 'keys_issued', 1)
redis.call('HSET', KEYS[3], 'client', client, 'sha256', sha256, 'created_at', now, 'number', number)
redis.call('SADD', KEYS[2], id)
if ends ~= '' then
  redis.call('HSET', KEYS[3], 'expires_at', ends)
  redis.call('HSET', '${keys.EXPIRING_KEYS}', id, ends)
end
return 'ok'
`

/**
 * Lua: suspends every webhook of a client that the key set; adds the destinations to a list. A record of an earlier release
 * does not have its setter: any key may have set it. Only a live key, or the operator, sets it again. Settings that the key
 * changed stay: nobody else may choose what is sent; one notice names the endpoints that have them.
 */
const SUSPEND = `${NAMES}${keys.NOTIFY}
local function suspend_one(webhooks, destination, id, route)
  local url, by, at, suspended = unpack(redis.call('HMGET', webhook(destination), 'url', 'set_by', 'set_at', 'suspended'))
  local is_unknown = not by or not at
  if not url or suspended == '1' or not is_unknown and by ~= id then return false end
  local why = 'the key ' .. id .. (is_unknown and ', which may have set it,' or ' that set it') .. ' was revoked'
  why = why .. ': confirm the address by PUT ' .. route .. ' with a live key'
  redis.call('HSET', webhook(destination), 'enabled', '0', 'disabled_why', why, 'suspended', '1')
  redis.call('SREM', webhooks, destination)
  notify(destination, 'endpoint_disabled', id, why)
  revise(destination)
  wake(destination)
  return true
end

local function has_settings_of(destination, id)
  local all = redis.call('HGET', webhook(destination), 'settings_by') or ''
  return string.find(' ' .. all .. ' ', ' ' .. id .. ' ', 1, true)
end

local function suspend(webhooks, client, id, suspended)
  local names, changed = redis.call('SMEMBERS', '${keys.endpointsKey('')}' .. client), {}
  table.sort(names)
  table.insert(names, 1, '')
  for _, name in ipairs(names) do
    local destination = name == '' and client or client .. '/' .. name
    local route = name == '' and '${routeOf('')}' or '${routeOf('/')}' .. name
    if suspend_one(webhooks, destination, id, route) then suspended[#suspended + 1] = destination end
    if has_settings_of(destination, id) then changed[#changed + 1] = name == '' and '${DEFAULT_ENDPOINT}' or name end
  end
  if #changed == 0 then return end
  local stays = 'the filter, the expiry or the pause that it set of these endpoints stays: ' .. table.concat(changed, ', ')
  notify(client, 'key_revoked', id, stays .. '. Check each of them')
end
`

/** The keys it names itself have the same hash tag as the declared ones. */
const CONFIRM_SCRIPT = `${SUSPEND}${IS_OVER}
local client, id, now, prefix = unpack(ARGV)
local function number(key) return tonumber(redis.call('HGET', prefix .. key, 'number')) end
if redis.call('SISMEMBER', KEYS[1], id) == 0 then return {'unknown'} end
local others = {}
for _, other in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if other ~= id then
    if number(other) < number(id) then others[#others + 1] = other
    elseif not is_over(other, now) then return {'older'} end
  end
end
redis.call('HSETNX', prefix .. id, 'confirmed_at', now)
local suspended, by = {}, ''
for _, other in ipairs(others) do
  redis.call('SREM', KEYS[1], other)
  redis.call('DEL', prefix .. other)
  local before = #suspended
  suspend(KEYS[2], client, other, suspended)
  if #suspended > before then by = other end
end
return {'ok', by, others, suspended}
`

const REVOKE_SCRIPT = `${SUSPEND}
local client, id = unpack(ARGV)
local suspended = {}
-- Once: what is done of it is found undone no more, but for the notice.
if redis.call('SREM', KEYS[2], id) == 1 then suspend(KEYS[3], client, id, suspended) end
return {redis.call('DEL', KEYS[1]), suspended}
`

/** The client of a live key, or null. */
export const ownerOf = (redis: Redis, keyId: string): Promise<string | null> =>
  askRedis(() => redis.hget(keys.apiKeyKey(keyId), 'client'))

const instant = z.string().transform(ms => toIsoInstant(Number(ms)))

const storedKey = z.object({
  client: z.string(),
  number: z.coerce.number(),
  created_at: instant,
  confirmed_at: instant.nullable().default(null),
  /** To the minute; null if never used. */
  last_used_at: instant.nullable().default(null),
  /** It is refused from then on; null if it has no end. */
  expires_at: instant.nullable().default(null),
})

const unknownKey = (keyId: string): ApiError =>
  new ApiError(
    'not_found',
    `there is no live key '${keyId.slice(0, 8)}'; \`highwater ops keys list CLIENT\` lists them`,
  )
