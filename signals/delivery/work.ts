// How workers use the outbox: take a client, then write each result and find the next delivery in the same
// step. Two round trips per delivery.
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { type Client, toClient } from '../clients/client.ts'
import { type Attempt, type DeliveryState, type Lane, NAMES, parseState } from '../outbox/outbox.ts'
import { type Condition, probeAtMs } from '../outbox/webhook-condition.ts'
import { ATTEMPTS_PREFIX, CLIENT_PREFIX, REVISION_PREFIX, WEBHOOKS } from '../redis/keys.ts'
import { rememberText, TEXT_FUNCTION, toRecord } from '../redis/record-text.ts'
import { createSharedScript, runScript, STRANDED } from '../redis/script.ts'

/** The lease of a worker on a client: longer than its turn and the longest request together. */
export const FLIGHT_MS = 20_000

/** A client that a worker has leased. */
export type Taking = { readonly client: string; readonly token: string; readonly flightMs: number }

/** A delivery that is due, with everything as it was when it was found. */
export type Due = {
  readonly kind: 'send'
  readonly seq: number
  readonly state: DeliveryState
  /** The state as it was read, compared when it is settled. */
  readonly raw: string
  /** The stored fields of the webhook, empty if there is none. */
  readonly webhook: Readonly<Record<string, string>>
  readonly record: Client | null
}

export type Found =
  | Due
  /** Nothing is due; the next attempt is due at `atMs`, or never. The client is released. */
  | { readonly kind: 'free'; readonly atMs: number | null }
  /** The breaker is open until `atMs`. The client is released. */
  | { readonly kind: 'held'; readonly atMs: number }
  /** Another worker has the client, since before or because this one was silent for too long. */
  | { readonly kind: 'busy' | 'lost' }
  /** Released as requested. */
  | { readonly kind: 'left' }

export type Settlement = {
  /** Null leaves the delivery as it is: there was no attempt. */
  readonly state: DeliveryState | null
  /** Time of the next attempt, null for never. */
  readonly dueMs: number | null
  readonly attempt: Attempt | null
  /** Null if the webhook is unchanged. */
  readonly webhook: Moved | null
}

/** The webhook after an attempt. */
export type Moved = {
  readonly condition: Condition
  readonly lane: Lane
  readonly disabledWhy: string | null
  /** Deliveries that wait for a retry are due now: the receiver is back, or the webhook is disabled. */
  readonly hurries: boolean
}

/** Leases a client and finds its next delivery. */
export async function take(redis: Redis, { client, token, flightMs }: Taking, nowMs: number): Promise<Found> {
  const known = recordsOf(redis).get(client)
  const args = [client, token, nowMs, flightMs, nowMs + flightMs, ...knownTo(known)]
  return toFound(redis, client, known, await runTake(redis, ...args))
}

/**
 * Writes the result of an attempt and finds the next delivery, or releases the client until `leaveUntilMs`.
 * `isCurrent` is false if the signal was resent meanwhile: then only the attempt is recorded.
 */
export async function settle(
  redis: Redis,
  { client, token }: Taking,
  due: Due,
  { state, dueMs, attempt, webhook }: Settlement,
  nowMs: number,
  leaveUntilMs: number | null,
): Promise<{ readonly isCurrent: boolean; readonly next: Found }> {
  const known = recordsOf(redis).get(client)
  const written = [due.seq, due.raw, jsonOr(state), dueMs ?? '', jsonOr(attempt)]
  const moved = webhook === null ? '' : JSON.stringify(movedFields(due, webhook))
  const args = [client, token, nowMs, ...written, moved, leaveUntilMs ?? '', ...knownTo(known)]
  const reply = await runSettle(redis, ...args)
  const [verdict, found] = reply as [string, unknown] // the script returns both
  return { isCurrent: verdict === '1', next: toFound(redis, client, known, found) }
}

/** Strings: the address and the condition that were read, and the values to write if both are unchanged. */
const movedFields = (due: Due, { condition, lane, disabledWhy, hurries }: Moved) => ({
  url: due.webhook.url ?? '',
  was: due.webhook.condition ?? '',
  condition: JSON.stringify(condition),
  probe_at: String(probeAtMs(condition) ?? ''),
  lane,
  disabled_why: disabledWhy ?? '',
  hurries: hurries ? '1' : '',
})

const jsonOr = (value: object | null): string => (value === null ? '' : JSON.stringify(value))

function toFound(redis: Redis, client: string, known: Records | undefined, reply: unknown): Found {
  const [kind, ...rest] = reply as [Found['kind'], ...unknown[]] // the list that FIND returns
  switch (kind) {
    case 'busy':
    case 'lost':
    case 'left':
      return { kind }
    case 'free':
      return { kind, atMs: rest[0] === '' ? null : Number(rest[0]) }
    case 'held':
      return { kind, atMs: Number(rest[0]) }
    case 'send': {
      const [seq, raw, ...records] = rest as string[] // all texts
      const { webhook, record } = records.length === 0 ? known! : keepRecords(redis, client, records)
      return { kind, seq: Number(seq), state: stateOf(raw!, seq!), raw: raw!, webhook, record }
    }
  }
}

// Under load the same records are read with every delivery, and parsing them would cost more than sending.

/** Signals whose latest state is cached. */
const MOST_SIGNALS = 500

/** A fresh state is the same text for most clients of a signal. */
const stateOf = rememberText(MOST_SIGNALS, parseState)

/** The records of a client as they were at a revision; the webhook is sealed. */
type Records = Pick<Due, 'webhook' | 'record'> & { readonly revision: string }

/** Clients whose records are cached: some kilobytes each. */
const MOST_CLIENTS = 20_000

/** Reading the records would be a third of the work of Redis, so a script leaves out what its caller knows. */
const recordsByRedis = new WeakMap<Redis, LRUCache<string, Records>>()

function recordsOf(redis: Redis): LRUCache<string, Records> {
  const records = recordsByRedis.get(redis) ?? new LRUCache<string, Records>({ max: MOST_CLIENTS })
  recordsByRedis.set(redis, records)
  return records
}

/** What a script needs to know of them: the revision, and the time of the next probe, which is a field of the webhook. */
const knownTo = (known: Records | undefined): readonly string[] => [
  known?.revision ?? '',
  known?.webhook.probe_at ?? '',
]

function keepRecords(redis: Redis, client: string, [revision, webhook, record]: readonly string[]): Records {
  const records = {
    revision: revision!,
    webhook: toRecord(webhook!),
    record: toClient(client, toRecord(record!)),
  }
  recordsOf(redis).set(client, records)
  return records
}

/** The records of clients; those that have not changed are not read again. */
export async function readRecords(redis: Redis, clients: readonly string[]): Promise<readonly Records[]> {
  const known = clients.map(client => recordsOf(redis).get(client))
  const args = clients.flatMap((client, i) => [client, known[i]?.revision ?? ''])
  const changed = (await runScript(redis, RECORDS_SCRIPT, [WEBHOOKS], ...args)) as (string[] | null)[]
  return clients.map((client, i) => (changed[i] ? keepRecords(redis, client, changed[i]) : known[i]!))
}

/** Lua: the revision of a client, and its webhook and itself, each record as one text. */
const RECORDS = `${TEXT_FUNCTION}
local function revision_of(client) return redis.call('GET', '${REVISION_PREFIX}' .. client) or '0' end
local function records(client)
  return text(redis.call('HGETALL', webhook(client))), text(redis.call('HGETALL', '${CLIENT_PREFIX}' .. client))
end
`

/** Returns {revision, webhook, client} for each pair of a client and its known revision in ARGV, or nil if it is the same. */
const RECORDS_SCRIPT = `${NAMES}${RECORDS}
local reply = {}
for i = 1, #ARGV, 2 do
  local revision = revision_of(ARGV[i])
  reply[#reply + 1] = revision ~= ARGV[i + 1] and {revision, records(ARGV[i])}
end
return reply
`

/** Retries that become due at once; the rest is found the next time. */
const PROMOTED_AT_ONCE = 1_000

/**
 * Finds the next delivery of a client: the newest once an open breaker's `probe_at` has passed, else the lowest
 * number that is due. Returns {'held', time} or {'free', time of the next attempt or ''}, and releases the client in
 * the same step, so a worker that was turned away missed nothing; or {'send', seq, state} and, unless the caller knows
 * them, {revision, webhook, client}, each record as one text.
 */
const FIND = `${RECORDS}
local function free(client, at)
  redis.call('DEL', flight(client))
  if at ~= '' then schedule(client, at) else unschedule(client) end
end

local function promote(client, now)
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', waiting(client), '-inf', now, 'LIMIT', 0, ${PROMOTED_AT_ONCE})) do
    redis.call('ZREM', waiting(client), seq)
    redis.call('ZADD', ready(client), seq, seq)
  end
end

local function find(client, now, known, known_probe)
  local first = redis.call('ZRANGE', waiting(client), 0, 0, 'WITHSCORES')[2] or ''
  local seq = redis.call('ZRANGE', ready(client), 0, 0)[1]
  local revision = revision_of(client)
  local probe = ''
  if revision == known then
    probe = known_probe
  elseif first ~= '' or seq then
    probe = redis.call('HGET', webhook(client), 'probe_at') or ''
  end
  if probe ~= '' and tonumber(now) < tonumber(probe) then
    free(client, probe)
    return {'held', probe}
  end
  if first ~= '' then promote(client, now) end
  if first ~= '' or probe ~= '' then
    seq = redis.call(probe ~= '' and 'ZREVRANGE' or 'ZRANGE', ready(client), 0, 0)[1]
  end
  if not seq then
    free(client, first)
    return {'free', first}
  end
  local state = redis.call('HGET', outbox(seq), client) or ''
  if revision == known then return {'send', seq, state} end
  return {'send', seq, state, revision, records(client)}
end
`

/**
 * Leases a client and finds its next delivery. Arguments: client, token, now, duration of the lease, its end, what
 * is known. Returns as FIND, or {'busy'} if another worker has it.
 */
const TAKE_SCRIPT = `${NAMES}${STRANDED}${FIND}
local function run(client, token, now, ttl, ends, known, known_probe)
  local holder = redis.call('GET', flight(client))
  if holder and holder ~= token then
    local left = redis.call('PTTL', flight(client))
    if not is_stranded(left, ttl) then
      schedule(client, string.format('%.0f', now + left))
      return {'busy'}
    end
  end -- else it may be ours already: the reply was lost
  redis.call('SET', flight(client), token, 'PX', ttl)
  schedule(client, ends)
  return find(client, now, known, known_probe)
end
`
const runTake = createSharedScript(TAKE_SCRIPT, [WEBHOOKS], 7)

/** Attempts kept of each delivery: those of two rounds. */
const ATTEMPTS_KEPT = 40

/**
 * Writes the result of an attempt and the webhook, then finds the next delivery or releases the client. Arguments:
 * client, token, now; the number; the state that was read and the new one; time of the next attempt or ''; the
 * attempt or ''; the webhook as JSON or ''; when to look again, or '' to find the next; what is known. Returns '1' first
 * if the state was still the one that was read: a resend begins another round. Idempotent. A late result, after
 * the lease ended, is written too: an acknowledgement settles the round, whatever the other worker got.
 */
const SETTLE_SCRIPT = `${NAMES}${FIND}
local webhooks = KEYS[1]

local function note(attempts, attempt, is_first)
  if not is_first and redis.call('LINDEX', attempts, -1) == attempt then return end
  local count = redis.call('RPUSH', attempts, attempt)
  if count > ${ATTEMPTS_KEPT} then redis.call('LTRIM', attempts, -${ATTEMPTS_KEPT}, -1) end
end

local function move(client, to)
  local there = redis.call('HMGET', webhook(client), 'url', 'condition')
  if there[1] ~= to.url or there[2] ~= to.was then return end -- it was set again meanwhile
  redis.call('HSET', webhook(client), 'condition', to.condition, 'probe_at', to.probe_at, 'lane', to.lane)
  if to.disabled_why ~= '' then
    redis.call('HSET', webhook(client), 'enabled', '0', 'disabled_why', to.disabled_why, 'probe_at', '')
    redis.call('SREM', webhooks, client)
  end
  revise(client)
end

local function hasten(client)
  for _, late in ipairs(redis.call('ZRANGE', waiting(client), 0, -1)) do redis.call('ZADD', ready(client), late, late) end
  redis.call('DEL', waiting(client))
end

local function is_late_success(there, state)
  if not there or state == '' then return false end
  local old, new = cjson.decode(there), cjson.decode(state)
  return new.status == 'delivered' and old.status ~= 'delivered' and new.round == old.round
end

local function run(client, token, now, seq, was, state, due, attempt, moved, leave, known, known_probe)
  local there = redis.call('HGET', outbox(seq), client)
  local is_first = there == was and was ~= state -- else it may be run again after a lost reply
  if attempt ~= '' then note('${ATTEMPTS_PREFIX}' .. seq .. ':' .. client, attempt, is_first) end
  local is_late = there ~= was and there ~= state and is_late_success(there, state)
  local verdict = (there == was or there == state or is_late) and '1' or '0'
  if (there == was or is_late) and state ~= '' then
    redis.call('HSET', outbox(seq), client, state)
    redis.call('ZREM', ready(client), seq)
    if is_late then redis.call('ZREM', waiting(client), seq) end
    if due ~= '' then redis.call('ZADD', waiting(client), due, seq) end
  end
  if moved ~= '' then
    local to = cjson.decode(moved)
    move(client, to)
    if to.hurries == '1' then hasten(client) end
  end

  if redis.call('GET', flight(client)) ~= token then return {verdict, {'lost'}} end
  if leave == '' then return {verdict, find(client, now, known, known_probe)} end
  local is_left = redis.call('EXISTS', ready(client)) == 1
  local at = is_left and leave or redis.call('ZRANGE', waiting(client), 0, 0, 'WITHSCORES')[2] or ''
  free(client, at)
  return {verdict, {is_left and 'left' or 'free', at}}
end
`
const runSettle = createSharedScript(SETTLE_SCRIPT, [WEBHOOKS], 12)
