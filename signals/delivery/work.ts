// How a worker gets at the outbox: it takes a client, and hands in what came of each try for the next thing to do. Two
// round trips a delivery, however much is looked at; and what is asked for many clients in one moment is one command.
import type { Redis } from 'ioredis'
import { type Client, clientOfText } from '../clients/client.ts'
import { type LoggedSignal, toLogged } from '../log/read-log.ts'
import { createBatchedScript, runBatched } from '../redis/batched-script.ts'
import { ATTEMPTS_PREFIX, CLIENT_PREFIX, LOG, WEBHOOKS } from '../redis/keys.ts'
import { rememberText, TEXT_FUNCTION, toList, toRecord } from '../redis/record-text.ts'
import { type Attempt, type DeliveryState, type Lane, NAMES, parseState } from './outbox.ts'
import { type Condition, probeAtMs } from './webhook-condition.ts'

/** How long a worker has a client that it has taken: longer than its turn and the longest request together. */
export const FLIGHT_MS = 20_000

/** A client in the hands of a worker. */
export type Taking = { readonly client: string; readonly token: string; readonly flightMs: number }

/** A delivery that is due, with everything as it stood when it was found. */
export type Due = {
  readonly kind: 'send'
  readonly seq: number
  readonly state: DeliveryState
  /** The state as it was read, to be compared when it is settled. */
  readonly raw: string
  /** Null where the log has no such signal. */
  readonly signal: LoggedSignal | null
  /** The stored fields of the webhook, none where there is none. */
  readonly webhook: Readonly<Record<string, string>>
  readonly record: Client | null
}

/** What a worker finds to do for a client. */
export type Found =
  | Due
  /** Nothing is due; the next try is due at a time, or never. The client is free. */
  | { readonly kind: 'free'; readonly atMs: number | null }
  /** The breaker lets nothing through until a time. The client is free. */
  | { readonly kind: 'held'; readonly atMs: number }
  /** Another worker has the client; it was taken before, or this one was silent for too long. */
  | { readonly kind: 'busy' | 'lost' }
  /** Let go, as was asked. */
  | { readonly kind: 'left' }

/** What came of a try. */
export type Settlement = {
  /** Null leaves the delivery as it is: it was our fault that there was no try. */
  readonly state: DeliveryState | null
  /** When to try again, null for never. */
  readonly dueMs: number | null
  readonly attempt: Attempt | null
  /** How the webhook stands now; null where nothing was learnt. */
  readonly webhook: Moved | null
}

/** How a webhook stands after a try. */
export type Moved = {
  readonly condition: Condition
  readonly lane: Lane
  readonly disabledWhy: string | null
  /** What waits for another try is due now: the receiver is back and gets all in order, or it is given up. */
  readonly hurries: boolean
}

/** Takes a client and finds what is next for it. */
export async function take(redis: Redis, { client, token, flightMs }: Taking, nowMs: number): Promise<Found> {
  const args = [client, token, nowMs, flightMs, nowMs + flightMs]
  return toFound(client, await runBatched(redis, TAKE_SCRIPT, ...args))
}

/**
 * Writes what came of a try, and finds what is next; or lets the client go until `leaveUntilMs`. `isCurrent` is false where
 * the signal was sent again meanwhile: then only the attempt is noted, and the signal stays owed.
 */
export async function settle(
  redis: Redis,
  { client, token }: Taking,
  due: Due,
  { state, dueMs, attempt, webhook }: Settlement,
  nowMs: number,
  leaveUntilMs: number | null,
): Promise<{ readonly isCurrent: boolean; readonly next: Found }> {
  const args = [client, token, nowMs, due.seq, due.raw, jsonOr(state), dueMs ?? '', jsonOr(attempt)]
  const moved = webhook === null ? '' : JSON.stringify(movedFields(due, webhook))
  const reply = await runBatched(redis, SETTLE_SCRIPT, ...args, moved, leaveUntilMs ?? '')
  const [verdict, found] = reply as [string, unknown] // the script returns both
  return { isCurrent: verdict === '1', next: toFound(client, found) }
}

/** Texts alone: the address and the condition that were read, and what is written where both are still there. */
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

function toFound(client: string, reply: unknown): Found {
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
      const [seq, raw, entry, webhook, record] = rest as string[] // all texts
      return {
        kind,
        seq: Number(seq),
        state: stateOf(raw!, seq!),
        raw: raw!,
        signal: entry === '' ? null : signalOf(entry!, seq!),
        webhook: webhookOf(webhook!, client),
        record: clientOfText(record!, client),
      }
    }
  }
}

// Under load the same records come again with every delivery, and parsing them would cost more than sending.

/** Signals of which the latest text is kept, some hundred kilobytes: one is at work for as long as it is new. */
const MOST_SIGNALS = 500

const signalOf = rememberText(MOST_SIGNALS, (text, seq) => toLogged([`${seq}-0`, toList(text)]))

/** A fresh state is the same text for most clients of a signal. */
const stateOf = rememberText(MOST_SIGNALS, parseState)

/** Webhooks whose latest record is kept, sealed as it is stored: some megabytes. */
const MOST_WEBHOOKS = 10_000

const webhookOf = rememberText(MOST_WEBHOOKS, toRecord)

/** Retries that become due at once: a reply stays quick, and the rest is found the next time. */
const PROMOTED_AT_ONCE = 1_000

/**
 * Finding the next signal for a client. An open breaker lets nothing through until `probe_at`, then the newest; else the
 * lowest number that is due goes first. Gives {'held', time}, {'free', time of the next try or ''}, and then the client is
 * free again in the same step, so whoever was turned away left nothing behind; or
 * {'send', seq, state, log entry, webhook, client} with everything that is looked at before a signal is sent, each record
 * as one text. Of the clients of one batch most are owed the same signals: each is read once.
 */
const FIND = `${TEXT_FUNCTION}
local log = KEYS[1]

local function free(client, at)
  redis.call('DEL', flight(client))
  if at ~= '' then schedule(client, at) else unschedule(client) end
end

local entries = {}
local function entry(seq)
  if not entries[seq] then
    local found = redis.call('XRANGE', log, seq .. '-0', seq .. '-0')[1]
    entries[seq] = found and text(found[2]) or ''
  end
  return entries[seq]
end

local function probe_of(fields)
  for i = 1, #fields, 2 do
    if fields[i] == 'probe_at' then return fields[i + 1] end
  end
  return ''
end

local function promote(client, now)
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', waiting(client), '-inf', now, 'LIMIT', 0, ${PROMOTED_AT_ONCE})) do
    redis.call('ZREM', waiting(client), seq)
    redis.call('ZADD', ready(client), seq, seq)
  end
end

local function find(client, now)
  local first = redis.call('ZRANGE', waiting(client), 0, 0, 'WITHSCORES')[2] or ''
  local seq = redis.call('ZRANGE', ready(client), 0, 0)[1]
  local fields = (first ~= '' or seq) and redis.call('HGETALL', webhook(client)) or {}
  local probe = probe_of(fields)
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
  return {'send', seq, state, entry(seq), text(fields), text(redis.call('HGETALL', '${CLIENT_PREFIX}' .. client))}
end
`

/**
 * Takes a client for a worker and finds its next signal. Of each call: client, token, now, life of the taking, its end. As
 * FIND, or {'busy'} where another has it.
 */
const TAKE_SCRIPT = createBatchedScript(
  `${NAMES}${FIND}
local function one(client, token, now, ttl, ends)
  local holder = redis.call('GET', flight(client))
  if holder and holder ~= token then
    schedule(client, string.format('%.0f', now + redis.call('PTTL', flight(client))))
    return {'busy'}
  end -- else it may be ours already: the reply was lost
  redis.call('SET', flight(client), token, 'PX', ttl)
  schedule(client, ends)
  return find(client, now)
end
`,
  [LOG],
  5,
)

/** Attempts that are kept of each delivery: all tries of two rounds. */
const ATTEMPTS_KEPT = 40

/**
 * Writes what came of a try, how the webhook stands after it, and finds the next signal or lets the client go. Of each
 * call: client, token, now; the number; the state that was read and the new one; time of the next try or ''; the attempt or
 * ''; how the webhook stands now, JSON, or ''; when to look again, or '' to find the next. Gives first '1' where the state
 * was still the one that was read: sending it again meanwhile begins another round. After a lost reply it can be run again. What comes
 * late, when the client is another worker's already, is written too: an acknowledgement ends the round, whatever that one got.
 */
const SETTLE_SCRIPT = createBatchedScript(
  `${NAMES}${FIND}
local webhooks = KEYS[2]

local function note(attempts, attempt, is_first)
  if not is_first and redis.call('LINDEX', attempts, -1) == attempt then return end
  local count = redis.call('RPUSH', attempts, attempt)
  if count > ${ATTEMPTS_KEPT} then redis.call('LTRIM', attempts, -${ATTEMPTS_KEPT}, -1) end
end

local function move(client, to)
  local there = redis.call('HMGET', webhook(client), 'url', 'condition')
  if there[1] ~= to.url or there[2] ~= to.was then return end -- it was set anew meanwhile
  redis.call('HSET', webhook(client), 'condition', to.condition, 'probe_at', to.probe_at, 'lane', to.lane)
  if to.disabled_why ~= '' then
    redis.call('HSET', webhook(client), 'enabled', '0', 'disabled_why', to.disabled_why, 'probe_at', '')
    redis.call('SREM', webhooks, client)
  end
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

local function one(client, token, now, seq, was, state, due, attempt, moved, leave)
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
  if leave == '' then return {verdict, find(client, now)} end
  local is_empty = redis.call('EXISTS', ready(client), waiting(client)) == 0
  free(client, is_empty and '' or leave)
  return {verdict, {is_empty and 'free' or 'left', ''}}
end
`,
  [LOG, WEBHOOKS],
  10,
)
