// The outbox: what each client is owed, and the state of each delivery. Each change is one script, so a crash
// falls between changes. Keys of clients are built in the scripts; the hash tag keeps them on one node.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { askAll, askRedis } from '../redis/connect.ts'
import * as keys from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import type { Answered, Measured } from '../send/outcome.ts'

/** Clients whose webhook answers quickly share the fast lane; slow or failing ones go to the slow lane. */
export const LANES = ['fast', 'slow'] as const
export type Lane = (typeof LANES)[number]

/** `withdrawn`: the client lost its entitlement or its webhook before the delivery. */
export const DELIVERY_STATUSES = ['owed', 'delivered', 'exhausted', 'withdrawn'] as const

const deliveryState = z.object({
  status: z.enum(DELIVERY_STATUSES),
  /** Number of the previous signal that this client may see, 0 for none. */
  prev: z.int().min(0),
  attempts: z.int().min(0),
  /** Counts resends of the delivery, from 1. */
  round: z.int().min(1),
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

/** Signals to owe to a client, each with the number of the previous one that it may see. */
export type Debts = {
  readonly client: string
  readonly signals: readonly { readonly seq: number; readonly prev: number }[]
}

/**
 * Owes signals to clients; skips what is owed or settled already, and what the cursor of the relay has passed.
 * Resolves with the clients that no worker has and that were not scheduled; the others find their signals by
 * themselves.
 */
export async function owe(redis: Redis, debts: readonly Debts[], nowMs: number): Promise<readonly string[]> {
  if (debts.length === 0) return []
  const fresh = { attempts: 0, round: 1, ...untried(nowMs) }
  const before = '{"status":"owed","prev":'
  const after = `,${JSON.stringify(fresh).slice(1)}`
  const args = debts.flatMap(({ client, signals }) => [client, signals.length, ...pairsOf(signals)])
  const reply = await runScript(redis, OWE_SCRIPT, [keys.RELAY_CURSOR], nowMs, before, after, ...args)
  return reply as string[] // names of clients
}

const pairsOf = (signals: Debts['signals']): readonly number[] =>
  signals.flatMap(({ seq, prev }) => [seq, prev])

/** Owes signals to a client again, from their first attempt on, whatever their state. */
export async function oweAgain(redis: Redis, client: string, signals: Debts['signals'], nowMs: number) {
  if (signals.length === 0) return
  const after = `,${JSON.stringify(untried(nowMs)).slice(1)}`
  await runScript(redis, OWE_AGAIN_SCRIPT, [keys.RELAY_CURSOR], client, nowMs, after, ...pairsOf(signals))
}

/** Records a signal that was acknowledged at its first attempt without having been owed. */
export async function noteDelivered(
  redis: Redis,
  client: string,
  { seq, prev }: Debts['signals'][number],
  attempt: Attempt,
): Promise<void> {
  const { at, total_ms } = attempt
  const times = { owed_at: at, first_attempt_at: at, settled_at: at + total_ms }
  const state: DeliveryState = { status: 'delivered', prev, attempts: 1, round: 1, ...times }
  const note = redis.multi().hset(keys.outboxKey(seq), client, JSON.stringify(state))
  await askRedis(() => note.rpush(keys.attemptsKey(seq, client), JSON.stringify(attempt)).exec())
}

const untried = (owedAtMs: number) => ({ owed_at: owedAtMs, first_attempt_at: null, settled_at: null })

export const readDelivery = async (redis: Redis, seq: number, client: string) =>
  (await readDeliveries(redis, [{ seq }], client))[0] ?? null

export async function readDeliveries(
  redis: Redis,
  signals: readonly { readonly seq: number }[],
  client: string,
): Promise<readonly (DeliveryState | null)[]> {
  const pipeline = redis.pipeline()
  for (const { seq } of signals) pipeline.hget(keys.outboxKey(seq), client)
  return (await askAll(pipeline)).map(raw => (typeof raw === 'string' ? parseState(raw) : null))
}

export async function readOutbox(redis: Redis, seq: number): Promise<ReadonlyMap<string, DeliveryState>> {
  const found = await askRedis(() => redis.hgetall(keys.outboxKey(seq)))
  return new Map(Object.entries(found).map(([client, raw]) => [client, parseState(raw)]))
}

export async function readAttempts(redis: Redis, seq: number, client: string): Promise<readonly Attempt[]> {
  const found = await askRedis(() => redis.lrange(keys.attemptsKey(seq, client), 0, -1))
  return found.map(text => JSON.parse(text) as Attempt) // written by settle and noteDelivered alone
}

/** The first `most` clients of a lane that are owed anything, by the time they are due. */
export async function readSchedule(redis: Redis, lane: Lane, most: number) {
  const flat = await askRedis(() => redis.zrange(keys.SCHEDULES[lane], 0, String(most - 1), 'WITHSCORES'))
  return flat.flatMap((client, i) => (i % 2 === 0 ? { client, atMs: Number(flat[i + 1]) } : []))
}

export async function dueCounts(redis: Redis, nowMs: number): Promise<Readonly<Record<Lane, number>>> {
  const count = (lane: Lane) => askRedis(() => redis.zcount(keys.SCHEDULES[lane], '-inf', nowMs))
  const [fast, slow] = await Promise.all([count('fast'), count('slow')])
  return { fast, slow }
}

export const parseState = (raw: string): DeliveryState => deliveryState.parse(JSON.parse(raw))

/** Moves what waits for a time, as after the clock was set back: otherwise it would wait for so much longer. */
export async function moveSchedules(redis: Redis, byMs: number): Promise<void> {
  for (const lane of LANES) {
    const found = await askRedis(() => redis.zrange(keys.SCHEDULES[lane], 0, '-1'))
    for (let i = 0; i < found.length; i += MOVED_AT_ONCE)
      await runScript(redis, MOVE_SCRIPT, [keys.SCHEDULES[lane]], byMs, ...found.slice(i, i + MOVED_AT_ONCE))
  }
}

/** A script of this size takes some milliseconds. */
const MOVED_AT_ONCE = 100

/** Lua: the keys of a signal or of a client, and the schedules of the lanes. */
export const NAMES = `${keys.REVISE}
local function outbox(seq) return '${keys.OUTBOX_PREFIX}' .. seq end
local function ready(client) return '${keys.READY_PREFIX}' .. client end
local function waiting(client) return '${keys.WAITING_PREFIX}' .. client end
local function flight(client) return '${keys.FLIGHT_PREFIX}' .. client end
local function webhook(client) return '${keys.WEBHOOK_PREFIX}' .. client end

local function schedule(client, at)
  local is_slow = redis.call('HGET', webhook(client), 'lane') == 'slow'
  redis.call('ZADD', is_slow and '${keys.SCHEDULES.slow}' or '${keys.SCHEDULES.fast}', at, client)
  redis.call('ZREM', is_slow and '${keys.SCHEDULES.fast}' or '${keys.SCHEDULES.slow}', client)
end

local function unschedule(client)
  redis.call('ZREM', '${keys.SCHEDULES.fast}', client)
  redis.call('ZREM', '${keys.SCHEDULES.slow}', client)
end
`

/**
 * Owes signals to clients. KEYS: cursor of the relay. ARGV: now, state before and after the previous number, then for
 * each client: its name, how many signals, and pairs of number and previous number. Idempotent. Skips what the cursor
 * has passed: a relay that paused for longer than its lease has outdated previous numbers. Returns the clients that
 * become due by this call.
 */
const OWE_SCRIPT = `${NAMES}
local passed = tonumber(redis.call('GET', KEYS[1]) or '0')
local now, before, after = ARGV[1], ARGV[2], ARGV[3]

-- Not if it is scheduled for later, because of a fault of ours, a breaker or a retry: the new signal is tried at once.
local function is_at_work(client)
  if redis.call('EXISTS', flight(client)) > 0 then return true end
  local at = redis.call('ZSCORE', '${keys.SCHEDULES.fast}', client) or redis.call('ZSCORE', '${keys.SCHEDULES.slow}', client)
  return at and tonumber(at) <= tonumber(now)
end

local function owe(client, first, last)
  local is_scheduled = is_at_work(client)
  local fresh = {}
  for i = first, last, 2 do
    local seq = ARGV[i]
    if tonumber(seq) > passed and redis.call('HSETNX', outbox(seq), client, before .. ARGV[i + 1] .. after) == 1 then
      fresh[#fresh + 1] = seq
      fresh[#fresh + 1] = seq
    end
  end
  if #fresh == 0 then return false end
  redis.call('ZADD', ready(client), unpack(fresh))
  if is_scheduled then return false end
  schedule(client, now)
  return true
end

local due = {}
local at = 4
while at <= #ARGV do
  local client, last = ARGV[at], at + 1 + 2 * tonumber(ARGV[at + 1])
  if owe(client, at + 2, last) then due[#due + 1] = client end
  at = last + 1
end
return due
`

/** Moves the times of clients. KEYS: a schedule, for routing only. ARGV: milliseconds, then clients. Each is due, and finds its own time. */
const MOVE_SCRIPT = `${NAMES}
local by = ARGV[1]
for i = 2, #ARGV do
  local client = ARGV[i]
  for _, seq in ipairs(redis.call('ZRANGE', waiting(client), 0, -1)) do redis.call('ZINCRBY', waiting(client), by, seq) end
  local probe, condition = unpack(redis.call('HMGET', webhook(client), 'probe_at', 'condition'))
  if probe and probe ~= '' then
    local moved = string.format('%.0f', probe + by)
    local there = string.gsub(condition, '"probeAtMs":%d+', '"probeAtMs":' .. moved)
    redis.call('HSET', webhook(client), 'probe_at', moved, 'condition', there)
    revise(client)
  end
  schedule(client, 0)
end
return 1
`

/**
 * Owes signals to a client again. KEYS: cursor of the relay, for routing only. ARGV: client, now, state after the
 * round, then pairs of number and previous number.
 */
const OWE_AGAIN_SCRIPT = `${NAMES}
local client, now, after = ARGV[1], ARGV[2], ARGV[3]
for i = 4, #ARGV, 2 do
  local seq, prev = ARGV[i], ARGV[i + 1]
  local old = redis.call('HGET', outbox(seq), client)
  local round = string.format('%.0f', (old and cjson.decode(old).round or 0) + 1)
  redis.call('HSET', outbox(seq), client, '{"status":"owed","attempts":0,"prev":' .. prev .. ',"round":' .. round .. after)
  redis.call('ZREM', waiting(client), seq)
  redis.call('ZADD', ready(client), seq, seq)
end
if redis.call('EXISTS', flight(client)) == 0 then schedule(client, now) end
return 1
`

/**
 * Sets fields of a webhook and enables it; what the client is owed is due now. KEYS: clients with a webhook; the live
 * keys of the client. ARGV: client, the key that sets it ('' for the operator, '-' if it is not set again), then pairs of name and
 * value. Returns 0, and does nothing, if that key is revoked, or if it is suspended and not set again.
 */
export const ENABLE_SCRIPT = `${NAMES}
local client, by = ARGV[1], ARGV[2]
if by == '-' and redis.call('HGET', webhook(client), 'suspended') == '1' then return 0 end
if by ~= '-' and by ~= '' and redis.call('SISMEMBER', KEYS[2], by) == 0 then return 0 end
redis.call('HSET', webhook(client), unpack(ARGV, 3))
revise(client)
redis.call('SADD', KEYS[1], client)
if redis.call('EXISTS', ready(client), waiting(client)) > 0 then schedule(client, 0) end
return 1
`
