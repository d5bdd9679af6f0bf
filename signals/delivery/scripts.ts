// The scripts of a delivery: take a destination, then write each result and find the next delivery in the same step. Two round trips
// per delivery.
import type { Redis } from 'ioredis'
import type { Destination } from '../outbox/destination.ts'
import { type Attempt, type DeliveryState, type Lane, parseState } from '../outbox/outbox.ts'
import { keepRecords, knownRecords, RECORDS, type Records } from '../outbox/records.ts'
import { type Condition, probeAtMs } from '../outbox/webhook-condition.ts'
import { ATTEMPTS_PREFIX, NOTIFY, WEBHOOKS } from '../redis/keys.ts'
import { STRANDED } from '../redis/lease.ts'
import { createSharedScript, rememberText } from '../redis/script.ts'

/** The lease of a worker on a destination: longer than its turn and the longest request together. */
export const FLIGHT_MS = 20_000

/** A destination that a worker has leased. */
export type Taking = { readonly destination: Destination; readonly token: string; readonly flightMs: number }

/** A delivery that is due, with everything as it was when it was found. */
export type Due = Pick<Records, 'webhook' | 'record'> & {
  readonly kind: 'send'
  readonly seq: number
  readonly state: DeliveryState
  /** The state as it was read, compared when it is settled. */
  readonly raw: string
}

/** What a worker is to do with a destination that it does not have. */
export type Released =
  /** Another worker has it, since before or because this one was silent for too long; or nothing is owed. */
  | { readonly kind: 'busy' | 'done' }
  /** The next attempt is due then, or the breaker is open until then. */
  | { readonly kind: 'later'; readonly atMs: number }

export type Found = Due | Released

/** What the owner of an endpoint gets a notice of. */
export type Cause = { readonly event: 'endpoint_failing' | 'endpoint_disabled'; readonly reason: string }

export type Settlement = {
  /** Null leaves the delivery as it is: there was no attempt. */
  readonly state: DeliveryState | null
  /** Time of the next attempt, null for never. */
  readonly dueMs: number | null
  readonly attempt: Attempt | null
  /** The webhook after an attempt; null if it is unchanged. */
  readonly webhook: {
    readonly condition: Condition
    readonly lane: Lane
    readonly disabledWhy: string | null
    /** Deliveries that wait for a retry are due now: the receiver is back, or the webhook is disabled. */
    readonly hurries: boolean
    /** Written in the same step. */
    readonly notice: Cause | null
  } | null
}

/** Leases a destination and finds its next delivery. */
export async function take(
  redis: Redis,
  { destination, token, flightMs }: Taking,
  nowMs: number,
): Promise<Found> {
  const known = knownRecords(redis).get(destination)
  const args = [destination, token, nowMs, flightMs, nowMs + flightMs, ...revisionOf(known)]
  return toFound(redis, destination, known, await runTake(redis, ...args))
}

/**
 * Writes the result of an attempt and finds the next delivery, or releases the destination until `leaveUntilMs`.
 * `isCurrent` is false if the signal was resent meanwhile: then only the attempt is recorded.
 */
export async function settle(
  redis: Redis,
  { destination, token }: Taking,
  due: Due,
  { state, dueMs, attempt, webhook }: Settlement,
  nowMs: number,
  leaveUntilMs: number | null,
): Promise<{ readonly isCurrent: boolean; readonly next: Found }> {
  const known = knownRecords(redis).get(destination)
  const moved = jsonOr(movedFields(due, webhook))
  const written = [due.seq, due.raw, jsonOr(state), dueMs ?? '', jsonOr(attempt), moved]
  const args = [destination, token, nowMs, ...written, leaveUntilMs ?? '', ...revisionOf(known)]
  const [verdict, found] = (await runSettle(redis, ...args)) as [string, unknown] // the script returns both
  return { isCurrent: verdict === '1', next: toFound(redis, destination, known, found) }
}

/** With the address and the condition that were read: nothing is written if they have changed. The condition is as it is stored. */
const movedFields = ({ webhook: there }: Due, moved: Settlement['webhook']) =>
  moved && {
    ...moved,
    url: there.url ?? '',
    was: there.condition ?? '',
    condition: JSON.stringify(moved.condition),
    probe_at: String(probeAtMs(moved.condition) ?? ''),
  }

const jsonOr = (value: object | null): string => (value === null ? '' : JSON.stringify(value))

/** What a script needs to know: the revision, and what `probe_of` gives. */
const revisionOf = (known: Records | undefined): readonly string[] => {
  const { probe_at = '', paused, enabled } = known?.webhook ?? {}
  return [known?.revision ?? '', paused === '1' && enabled === '1' ? PAUSED : probe_at]
}

/** In place of the time of a probe. A webhook that is disabled is not paused: what it was owed is withdrawn. */
const PAUSED = 'paused'

function toFound(redis: Redis, destination: Destination, known: Records | undefined, reply: unknown): Found {
  const [kind, first = '', raw = '', ...texts] = reply as [Found['kind'], ...string[]] // the list that FIND returns
  if (kind === 'send') {
    const { webhook, record } = texts.length === 0 ? known! : keepRecords(redis, destination, texts)
    return { kind, seq: Number(first), state: stateOf(raw, first), raw, webhook, record }
  }
  if (kind === 'busy') return { kind }
  return first === '' ? { kind: 'done' } : { kind: 'later', atMs: Number(first) }
}

/** Signals whose latest state is cached. */
const MOST_SIGNALS = 500

/** A fresh state is the same text for most destinations of a signal. */
const stateOf = rememberText(MOST_SIGNALS, parseState)

/** Retries that become due at once; the rest is found the next time. */
const PROMOTED_AT_ONCE = 1_000

/**
 * Finds the next delivery of a destination, none if it is paused: the newest once an open breaker's `probe_at` has passed, else the lowest
 * number that is due. Returns {'later', time of the next attempt or probe, or ''}, and releases the destination in
 * the same step, so a worker that was turned away missed nothing; or {'send', seq, state} and, unless the caller knows
 * them, {revision, webhook, client}, each record as one text.
 */
const FIND = `${RECORDS}
local function release(destination, at)
  redis.call('DEL', flight(destination))
  if at ~= '' then schedule(destination, at) else unschedule(destination) end
  return {'later', at}
end

local function promote(destination, until_ms, most)
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', waiting(destination), '-inf', until_ms, 'LIMIT', 0, most)) do
    redis.call('ZREM', waiting(destination), seq)
    redis.call('ZADD', ready(destination), seq, seq)
  end
end

local function next_retry(destination) return redis.call('ZRANGE', waiting(destination), 0, 0, 'WITHSCORES')[2] or '' end

local function probe_of(destination)
  local probe, paused, enabled = unpack(redis.call('HMGET', webhook(destination), 'probe_at', 'paused', 'enabled'))
  return paused == '1' and enabled == '1' and '${PAUSED}' or probe or ''
end

local function find(destination, now, known, known_probe)
  local first = next_retry(destination)
  local seq = redis.call('ZRANGE', ready(destination), 0, 0)[1]
  local revision = revision_of(destination)
  local probe = ''
  if revision == known then
    probe = known_probe
  elseif first ~= '' or seq then
    probe = probe_of(destination)
  end
  if probe == '${PAUSED}' then return release(destination, '') end -- it is due again when it goes on
  if probe ~= '' and tonumber(now) < tonumber(probe) then return release(destination, probe) end
  if first ~= '' then promote(destination, now, ${PROMOTED_AT_ONCE}) end
  if first ~= '' or probe ~= '' then
    seq = redis.call(probe ~= '' and 'ZREVRANGE' or 'ZRANGE', ready(destination), 0, 0)[1]
  end
  if not seq then return release(destination, first) end
  local state = redis.call('HGET', outbox(seq), destination) or ''
  if revision == known then return {'send', seq, state} end
  return {'send', seq, state, revision, records(destination)}
end
`

/**
 * Leases a destination and finds its next delivery. Arguments: destination, token, now, duration of the lease, its end, what
 * is known. Returns as FIND, or {'busy'} if another worker has it.
 */
const TAKE_SCRIPT = `${FIND}${STRANDED}
local function run(destination, token, now, ttl, ends, known, known_probe)
  local holder = redis.call('GET', flight(destination))
  if holder and holder ~= token then
    local left = redis.call('PTTL', flight(destination))
    if not is_stranded(left, ttl) then
      schedule(destination, string.format('%.0f', now + left))
      return {'busy'}
    end
  end -- else it may be ours already: the reply was lost
  redis.call('SET', flight(destination), token, 'PX', ttl)
  schedule(destination, ends)
  return find(destination, now, known, known_probe)
end
`
const runTake = createSharedScript(TAKE_SCRIPT, [WEBHOOKS], 7)

/** Attempts kept of each delivery: those of two rounds. */
const ATTEMPTS_KEPT = 40

/**
 * Writes the result of an attempt and the webhook, then finds the next delivery or releases the destination. Arguments:
 * destination, token, now; the number; the state that was read and the new one; time of the next attempt or ''; the
 * attempt or ''; the webhook as JSON or ''; when to look again, or '' to find the next; what is known. Returns '1' first
 * if the state was still the one that was read: a resend begins another round. Idempotent. A late result, after
 * the lease ended, is written too: an acknowledgement settles the round, whatever the other worker got.
 */
const SETTLE_SCRIPT = `${FIND}${NOTIFY}
local webhooks = KEYS[1]

local function note(attempts, attempt, is_first)
  if not is_first and redis.call('LINDEX', attempts, -1) == attempt then return end
  local count = redis.call('RPUSH', attempts, attempt)
  if count > ${ATTEMPTS_KEPT} then redis.call('LTRIM', attempts, -${ATTEMPTS_KEPT}, -1) end
end

local function move(destination, to)
  local there = redis.call('HMGET', webhook(destination), 'url', 'condition', 'enabled')
  if there[1] ~= to.url or there[2] ~= to.was then return end -- it was set again meanwhile
  redis.call('HSET', webhook(destination), 'condition', to.condition, 'probe_at', to.probe_at, 'lane', to.lane)
  if to.disabledWhy ~= cjson.null then
    redis.call('HSET', webhook(destination), 'enabled', '0', 'disabled_why', to.disabledWhy, 'probe_at', '')
    redis.call('SREM', webhooks, destination)
  end
  if to.notice ~= cjson.null and there[3] == '1' then notify(destination, to.notice.event, '', to.notice.reason) end
  revise(destination)
end

local function is_late_success(there, state)
  if not there or state == '' then return false end
  local old, new = cjson.decode(there), cjson.decode(state)
  return new.status == 'delivered' and old.status ~= 'delivered' and new.round == old.round
end

local function run(destination, token, now, seq, was, state, due, attempt, moved, leave, known, known_probe)
  local there = redis.call('HGET', outbox(seq), destination)
  local is_first = there == was and was ~= state -- else it may be run again after a lost reply
  if attempt ~= '' then note('${ATTEMPTS_PREFIX}' .. seq .. ':' .. destination, attempt, is_first) end
  local is_late = there ~= was and there ~= state and is_late_success(there, state)
  local verdict = (there == was or there == state or is_late) and '1' or '0'
  if (there == was or is_late) and state ~= '' then
    redis.call('HSET', outbox(seq), destination, state)
    redis.call('ZREM', ready(destination), seq)
    if is_late then redis.call('ZREM', waiting(destination), seq) end
    if due ~= '' then redis.call('ZADD', waiting(destination), due, seq) end
  end
  if string.find(state, '"status":"delivered"', 1, true) and redis.call('HEXISTS', webhook(destination), 'url') == 1 then
    redis.call('HSET', webhook(destination), 'last_success', now) -- no delivery reads it: the revision stays
  end
  if moved ~= '' then
    local to = cjson.decode(moved)
    move(destination, to)
    if to.hurries then promote(destination, '+inf', -1) end
  end

  if redis.call('GET', flight(destination)) ~= token then return {verdict, {'busy'}} end
  if leave == '' then return {verdict, find(destination, now, known, known_probe)} end
  return {verdict, release(destination, redis.call('EXISTS', ready(destination)) == 1 and leave or next_retry(destination))}
end
`
const runSettle = createSharedScript(SETTLE_SCRIPT, [WEBHOOKS], 12)
