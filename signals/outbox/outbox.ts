// The outbox: what each destination is owed, and the state of each delivery. Each change is one script, so a crash
// falls between changes. Keys of destinations are built in the scripts; the hash tag keeps them on one node.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { askAll, askRedis } from '../redis/connect.ts'
import * as keys from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import type { Answered, Measured } from '../send/outcome.ts'
import type { Destination } from './destination.ts'

/** Destinations whose webhook answers quickly share the fast lane; slow or failing ones go to the slow lane. */
export const LANES = ['fast', 'slow'] as const
export type Lane = (typeof LANES)[number]

/** `withdrawn`: the client lost its entitlement before the delivery, or the endpoint is gone, disabled, or filters it. `expired`: see delivery/deliver.ts. */
export const DELIVERY_STATUSES = ['owed', 'delivered', 'exhausted', 'withdrawn', 'expired'] as const

const deliveryState = z.object({
  status: z.enum(DELIVERY_STATUSES),
  /** Number of the previous signal that this destination is sent, 0 for none. */
  prev: z.int().min(0),
  attempts: z.int().min(0),
  /** Counts resends of the delivery, from 1. */
  round: z.int().min(1),
  /** Whether somebody had it resent. The round does not say so: a restore begins one too, and a first one may be a resend. */
  resent: z.literal(true).optional(),
  /** Whether it was withdrawn because its endpoint was disabled. Earlier releases did not record why. */
  disabled: z.literal(true).optional(),
  /** Epoch milliseconds. */
  owed_at: z.number(),
  first_attempt_at: z.number().nullable(),
  settled_at: z.number().nullable(),
})

export type DeliveryState = z.infer<typeof deliveryState>

/** One attempt, as the operator sees it. */
export type Attempt = Omit<Measured, 'retryAfterMs'> & {
  readonly at: number
  /** From 1; null for a probe, which does not count. */
  readonly n: number | null
  readonly ok: boolean
  readonly reason: string | null
}

export const toAttempt = (
  { kind, retryAfterMs: _, ...answer }: Answered,
  at: number,
  n: number | null,
): Attempt => ({ at, n, ok: kind === 'delivered', reason: null, ...answer })

/** Signals to owe to a destination, each with the number of the previous one that it is sent. */
export type Debts = {
  readonly destination: Destination
  readonly signals: readonly { readonly seq: number; readonly prev: number }[]
}

/**
 * Owes signals to destinations; skips what is owed or settled already, and what the cursor of the relay has passed.
 * Resolves with the destinations that no worker has and that were not scheduled; the others find their signals by
 * themselves.
 */
export async function owe(
  redis: Redis,
  debts: readonly Debts[],
  nowMs: number,
): Promise<readonly Destination[]> {
  if (debts.length === 0) return []
  const fresh = { attempts: 0, round: 1, ...untried(nowMs) }
  const before = '{"status":"owed","prev":'
  const after = `,${JSON.stringify(fresh).slice(1)}`
  const args = debts.flatMap(({ destination, signals }) => [destination, signals.length, ...pairsOf(signals)])
  const reply = await runScript(redis, OWE_SCRIPT, [keys.RELAY_CURSOR], nowMs, before, after, ...args)
  return reply as Destination[]
}

const pairsOf = (signals: Debts['signals']): readonly number[] =>
  signals.flatMap(({ seq, prev }) => [seq, prev])

/** Owes signals to a destination again, from their first attempt on, whatever their state; `isAsked` if somebody resends them. */
export async function oweAgain(
  redis: Redis,
  destination: Destination,
  signals: Debts['signals'],
  nowMs: number,
  isAsked: boolean,
) {
  if (signals.length === 0) return
  const after = `,${JSON.stringify(untried(nowMs)).slice(1)}`
  const args = [destination, nowMs, after, isAsked ? '1' : '', ...pairsOf(signals)]
  await runScript(redis, OWE_AGAIN_SCRIPT, [keys.RELAY_CURSOR], ...args)
}

/** Records a signal that was acknowledged at its first attempt without having been owed. */
export async function noteDelivered(
  redis: Redis,
  destination: Destination,
  { seq, prev }: Debts['signals'][number],
  attempt: Attempt,
): Promise<void> {
  const { at, total_ms } = attempt
  const times = { owed_at: at, first_attempt_at: at, settled_at: at + total_ms }
  const state: DeliveryState = { status: 'delivered', prev, attempts: 1, round: 1, ...times }
  const note = redis.multi().hset(keys.outboxKey(seq), destination, JSON.stringify(state))
  await askRedis(() => note.rpush(keys.attemptsKey(seq, destination), JSON.stringify(attempt)).exec())
}

const untried = (owedAtMs: number) => ({ owed_at: owedAtMs, first_attempt_at: null, settled_at: null })

/** For each signal its states at the destinations, of which there is one at least; null where it was never owed. */
export async function readDeliveries(
  redis: Redis,
  signals: readonly { readonly seq: number }[],
  destinations: readonly Destination[],
): Promise<readonly (readonly (DeliveryState | null)[])[]> {
  const pipeline = redis.pipeline()
  for (const { seq } of signals) pipeline.hmget(keys.outboxKey(seq), ...destinations)
  const found = (await askAll(pipeline)) as (string | null)[][] // what HMGET replies
  return found.map(states => states.map(raw => (raw === null ? null : parseState(raw))))
}

export async function readOutbox(redis: Redis, seq: number): Promise<ReadonlyMap<string, DeliveryState>> {
  const found = await askRedis(() => redis.hgetall(keys.outboxKey(seq)))
  return new Map(Object.entries(found).map(([destination, raw]) => [destination, parseState(raw)]))
}

export async function readAttempts(
  redis: Redis,
  seq: number,
  destination: Destination,
): Promise<readonly Attempt[]> {
  const found = await askRedis(() => redis.lrange(keys.attemptsKey(seq, destination), 0, -1))
  return found.map(text => JSON.parse(text) as Attempt) // written by settle and noteDelivered alone
}

/** The first `most` destinations of a lane that are owed anything, by the time they are due. */
export async function readSchedule(redis: Redis, lane: Lane, most: number) {
  const flat = await askRedis(() => redis.zrange(keys.SCHEDULES[lane], 0, String(most - 1), 'WITHSCORES'))
  return flat.flatMap((destination, i) => (i % 2 === 0 ? { destination, atMs: Number(flat[i + 1]) } : []))
}

export async function dueCounts(redis: Redis, nowMs: number): Promise<Readonly<Record<Lane, number>>> {
  const count = (lane: Lane) => askRedis(() => redis.zcount(keys.SCHEDULES[lane], '-inf', nowMs))
  const [fast, slow] = await Promise.all([count('fast'), count('slow')])
  return { fast, slow }
}

export const parseState = (raw: string): DeliveryState => deliveryState.parse(JSON.parse(raw))

/**
 * Moves what waits for a time, as after the clock was set back: otherwise it would wait for so much longer. What an endpoint that is
 * paused is owed waits without being scheduled.
 */
export async function moveSchedules(redis: Redis, byMs: number): Promise<void> {
  const reads = LANES.map(lane => askRedis(() => redis.zrange(keys.SCHEDULES[lane], 0, '-1')))
  const enabled = askRedis(() => redis.smembers(keys.WEBHOOKS))
  const found = [...new Set((await Promise.all([...reads, enabled])).flat())]
  for (let i = 0; i < found.length; i += MOVED_AT_ONCE)
    await runScript(redis, MOVE_SCRIPT, [keys.WEBHOOKS], byMs, ...found.slice(i, i + MOVED_AT_ONCE))
}

/** A script of this size takes some milliseconds. */
const MOVED_AT_ONCE = 100

/**
 * Lua: the keys of a signal or of a destination, and the schedules of the lanes. `wake(destination)` makes a destination due at once,
 * whatever it waits for, if it is owed anything.
 */
export const NAMES = `${keys.REVISE}
local function outbox(seq) return '${keys.OUTBOX_PREFIX}' .. seq end
local function ready(destination) return '${keys.READY_PREFIX}' .. destination end
local function waiting(destination) return '${keys.waitingKey('')}' .. destination end
local function flight(destination) return '${keys.FLIGHT_PREFIX}' .. destination end
local function webhook(destination) return '${keys.webhookKey('')}' .. destination end

local function schedule(destination, at)
  local is_slow = redis.call('HGET', webhook(destination), 'lane') == 'slow'
  redis.call('ZADD', is_slow and '${keys.SCHEDULES.slow}' or '${keys.SCHEDULES.fast}', at, destination)
  redis.call('ZREM', is_slow and '${keys.SCHEDULES.fast}' or '${keys.SCHEDULES.slow}', destination)
end

local function unschedule(destination)
  redis.call('ZREM', '${keys.SCHEDULES.fast}', destination)
  redis.call('ZREM', '${keys.SCHEDULES.slow}', destination)
end

local function wake(destination)
  if redis.call('EXISTS', ready(destination), waiting(destination)) > 0 then schedule(destination, 0) end
end
`

/**
 * Owes signals to destinations. KEYS: cursor of the relay. ARGV: now, state before and after the previous number, then for
 * each destination: its name, how many signals, and pairs of number and previous number. Idempotent. Skips what the cursor
 * has passed: a relay that paused for longer than its lease has outdated previous numbers. Returns the destinations that
 * become due by this call.
 */
const OWE_SCRIPT = `${NAMES}
local passed = tonumber(redis.call('GET', KEYS[1]) or '0')
local now, before, after = ARGV[1], ARGV[2], ARGV[3]

-- Not if it is scheduled for later, because of a fault of ours, a breaker or a retry: the new signal is tried at once.
local function is_at_work(destination)
  if redis.call('EXISTS', flight(destination)) > 0 then return true end
  local at = redis.call('ZSCORE', '${keys.SCHEDULES.fast}', destination) or redis.call('ZSCORE', '${keys.SCHEDULES.slow}', destination)
  return at and tonumber(at) <= tonumber(now)
end

local function owe(destination, first, last)
  local is_scheduled = is_at_work(destination)
  local fresh = {}
  for i = first, last, 2 do
    local seq = ARGV[i]
    if tonumber(seq) > passed and redis.call('HSETNX', outbox(seq), destination, before .. ARGV[i + 1] .. after) == 1 then
      fresh[#fresh + 1] = seq
      fresh[#fresh + 1] = seq
    end
  end
  if #fresh == 0 then return false end
  redis.call('ZADD', ready(destination), unpack(fresh))
  if is_scheduled then return false end
  schedule(destination, now)
  return true
end

local due = {}
local at = 4
while at <= #ARGV do
  local destination, last = ARGV[at], at + 1 + 2 * tonumber(ARGV[at + 1])
  if owe(destination, at + 2, last) then due[#due + 1] = destination end
  at = last + 1
end
return due
`

/** Moves the times of destinations. KEYS: any, for routing only. ARGV: milliseconds, then destinations. Each that is owed anything is due, and finds its own time. */
const MOVE_SCRIPT = `${NAMES}
local by = ARGV[1]
for i = 2, #ARGV do
  local destination = ARGV[i]
  for _, seq in ipairs(redis.call('ZRANGE', waiting(destination), 0, -1)) do redis.call('ZINCRBY', waiting(destination), by, seq) end
  local probe, condition = unpack(redis.call('HMGET', webhook(destination), 'probe_at', 'condition'))
  if probe and probe ~= '' then
    local moved = string.format('%.0f', probe + by)
    local there = string.gsub(condition, '"probeAtMs":%d+', '"probeAtMs":' .. moved)
    redis.call('HSET', webhook(destination), 'probe_at', moved, 'condition', there)
    revise(destination)
  end
  wake(destination)
end
return 1
`

/**
 * Owes signals to a destination again. KEYS: cursor of the relay, for routing only. ARGV: destination, now, state after the
 * round, '1' if somebody resends them, then pairs of number and previous number.
 */
const OWE_AGAIN_SCRIPT = `${NAMES}
local destination, now, after, asked = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
for i = 5, #ARGV, 2 do
  local seq, prev = ARGV[i], ARGV[i + 1]
  local old = cjson.decode(redis.call('HGET', outbox(seq), destination) or '{"round":0}')
  local round = string.format('%.0f', old.round + 1)
  local resent = (asked == '1' or old.resent) and ',"resent":true' or ''
  redis.call('HSET', outbox(seq), destination, '{"status":"owed","attempts":0,"prev":' .. prev .. ',"round":' .. round .. resent .. after)
  redis.call('ZREM', waiting(destination), seq)
  redis.call('ZADD', ready(destination), seq, seq)
end
if redis.call('EXISTS', flight(destination)) == 0 then schedule(destination, now) end
return 1
`
