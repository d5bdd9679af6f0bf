// The outbox: what every client is owed, and what became of it. Each change is one script, so that a crash falls between two
// changes and never into one. Keys that depend on a client are made inside; the braces in all of them keep them on one node.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { askRedis } from '../redis/connect.ts'
import {
  attemptsKey,
  FLIGHT_PREFIX,
  OUTBOX_PREFIX,
  outboxKey,
  READY_PREFIX,
  RELAY_CURSOR,
  readyKey,
  SCHEDULES,
  WAITING_PREFIX,
  WEBHOOK_PREFIX,
  waitingKey,
} from '../redis/keys.ts'
import { createScript, runScript } from '../redis/script.ts'

/** Clients whose webhook answers quickly share the fast lane; one that was slow or failed goes to the slow one. */
export const LANES = ['fast', 'slow'] as const
export type Lane = (typeof LANES)[number]

const deliveryState = z.object({
  /** What became of it. `withdrawn`: the client lost its right to it, or its webhook, before it was delivered. */
  status: z.enum(['owed', 'delivered', 'exhausted', 'withdrawn']),
  /** Number of the signal before it that this client may see, 0 for none. */
  prev: z.int().min(0),
  /** Attempts that counted. */
  attempts: z.int().min(0),
  /** Which owing of it this is: sending again begins another. */
  round: z.int().min(1),
  /** Epoch milliseconds. */
  owed_at: z.number(),
  first_attempt_at: z.number().nullable(),
  settled_at: z.number().nullable(),
})

/** The delivery of one signal to one client. */
export type DeliveryState = z.infer<typeof deliveryState>

/** What came of a try, for the operator. */
export type Attempt = {
  readonly at: number
  /** Number of the try, from 1; null for a probe, which does not count. */
  readonly n: number | null
  readonly ok: boolean
  /** HTTP status, or null where no answer came. */
  readonly status: number | null
  readonly reason: string | null
  readonly first_byte_ms: number | null
  readonly total_ms: number
  /** What the receiver said, redacted and cut. */
  readonly excerpt: string
}

/** Signals that a client is owed, each with the number of the one before it that this client may see. */
export type Debts = {
  readonly client: string
  readonly signals: readonly { readonly seq: number; readonly prev: number }[]
}

/**
 * Owes signals to clients, and passes over what a client is owed already, or got, and what the cursor of the relay has
 * passed. Resolves with the clients that nobody looks after yet; a worker that has a client finds its signals by itself.
 */
export async function owe(redis: Redis, debts: readonly Debts[], nowMs: number): Promise<readonly string[]> {
  if (debts.length === 0) return []
  const fresh = { attempts: 0, round: 1, ...untried(nowMs) }
  const before = '{"status":"owed","prev":'
  const after = `,${JSON.stringify(fresh).slice(1)}`
  const args = debts.flatMap(({ client, signals }) => [client, signals.length, ...pairsOf(signals)])
  const reply = await runScript(redis, OWE_SCRIPT, [RELAY_CURSOR], nowMs, before, after, ...args)
  return reply as string[] // names of clients
}

const pairsOf = (signals: Debts['signals']): readonly number[] =>
  signals.flatMap(({ seq, prev }) => [seq, prev])

/** Owes signals to a client once more, from their first attempt on, whatever became of them before. */
export async function oweAgain(
  redis: Redis,
  client: string,
  signals: Debts['signals'],
  nowMs: number,
): Promise<void> {
  if (signals.length === 0) return
  const after = `,${JSON.stringify(untried(nowMs)).slice(1)}`
  await runScript(redis, OWE_AGAIN_SCRIPT, [RELAY_CURSOR], client, nowMs, after, ...pairsOf(signals))
}

/** Writes down a signal that was acknowledged at its first attempt, without ever having been owed. */
export async function noteDelivered(
  redis: Redis,
  client: string,
  { seq, prev }: Debts['signals'][number],
  attempt: Attempt,
): Promise<void> {
  const { at } = attempt
  const state: DeliveryState = {
    ...{ status: 'delivered', prev, attempts: 1, round: 1 },
    ...{ owed_at: at, first_attempt_at: at, settled_at: at + attempt.total_ms },
  }
  const note = redis.multi().hset(outboxKey(seq), client, JSON.stringify(state))
  await askRedis(() => note.rpush(attemptsKey(seq, client), JSON.stringify(attempt)).exec())
}

const untried = (owedAtMs: number) => ({ owed_at: owedAtMs, first_attempt_at: null, settled_at: null })

/** What became of a signal for a client; null where it was never owed. */
export async function readDelivery(redis: Redis, seq: number, client: string): Promise<DeliveryState | null> {
  const raw = await askRedis(() => redis.hget(outboxKey(seq), client))
  return raw === null ? null : parseState(raw)
}

/** What became of several signals for a client, in their order. */
export async function readDeliveries(
  redis: Redis,
  seqs: readonly number[],
  client: string,
): Promise<readonly (DeliveryState | null)[]> {
  const pipeline = redis.pipeline()
  for (const seq of seqs) pipeline.hget(outboxKey(seq), client)
  const replies = (await askRedis(() => pipeline.exec())) ?? []
  return replies.map(([error, raw]) => {
    if (error !== null) throw error
    return typeof raw === 'string' ? parseState(raw) : null
  })
}

/** What became of a signal, by client. */
export async function readOutbox(redis: Redis, seq: number): Promise<ReadonlyMap<string, DeliveryState>> {
  const found = await askRedis(() => redis.hgetall(outboxKey(seq)))
  return new Map(Object.entries(found).map(([client, raw]) => [client, parseState(raw)]))
}

/** What came of each try, oldest first. */
export async function readAttempts(redis: Redis, seq: number, client: string): Promise<readonly Attempt[]> {
  const found = await askRedis(() => redis.lrange(attemptsKey(seq, client), 0, -1))
  return found.map(text => JSON.parse(text) as Attempt) // written by settle and noteDelivered alone
}

/** How many signals a client is owed. */
export async function owedCount(redis: Redis, client: string): Promise<number> {
  const counts = await askRedis(() =>
    Promise.all([redis.zcard(readyKey(client)), redis.zcard(waitingKey(client))]),
  )
  return counts[0] + counts[1]
}

/** A client that is to be looked after, and when. */
export type Scheduled = { readonly client: string; readonly atMs: number }

/** The clients of a lane that are owed anything, those that are to be looked after first, `most` of them at the most. */
export async function readSchedule(redis: Redis, lane: Lane, most: number): Promise<readonly Scheduled[]> {
  const flat = await askRedis(() => redis.zrange(SCHEDULES[lane], 0, String(most - 1), 'WITHSCORES'))
  const found: Scheduled[] = []
  for (let i = 0; i < flat.length; i += 2) found.push({ client: flat[i]!, atMs: Number(flat[i + 1]) })
  return found
}

/** How many clients of each lane are due. */
export async function dueCounts(redis: Redis, nowMs: number): Promise<Readonly<Record<Lane, number>>> {
  const count = (lane: Lane) => askRedis(() => redis.zcount(SCHEDULES[lane], '-inf', nowMs))
  const [fast, slow] = await Promise.all([count('fast'), count('slow')])
  return { fast, slow }
}

/** Reads the state of a delivery. */
export const parseState = (raw: string): DeliveryState => deliveryState.parse(JSON.parse(raw))

/** Lua: the keys of a signal or of a client, and the schedules of the lanes. */
export const NAMES = `
local function outbox(seq) return '${OUTBOX_PREFIX}' .. seq end
local function ready(client) return '${READY_PREFIX}' .. client end
local function waiting(client) return '${WAITING_PREFIX}' .. client end
local function flight(client) return '${FLIGHT_PREFIX}' .. client end
local function webhook(client) return '${WEBHOOK_PREFIX}' .. client end

local function schedule(client, at)
  local is_slow = redis.call('HGET', webhook(client), 'lane') == 'slow'
  redis.call('ZADD', is_slow and '${SCHEDULES.slow}' or '${SCHEDULES.fast}', at, client)
  redis.call('ZREM', is_slow and '${SCHEDULES.fast}' or '${SCHEDULES.slow}', client)
end

local function unschedule(client)
  redis.call('ZREM', '${SCHEDULES.fast}', client)
  redis.call('ZREM', '${SCHEDULES.slow}', client)
end
`

/**
 * Owes signals to clients. KEYS: cursor of the relay. ARGV: now, state before and after the previous number, then of each
 * client: its name, how many signals, and their numbers and previous numbers in turns. What a client is owed already, or
 * got, is passed over; so the same call can be made again. So is what the cursor has passed: a relay that stood still for
 * longer than its lease names predecessors that were not yet there. A client that a worker has, or that is scheduled with
 * signals that are due, stays as it is: who looks after it finds the new ones too. Gives the others.
 */
const OWE_SCRIPT = createScript(`${NAMES}
local passed = tonumber(redis.call('GET', KEYS[1]) or '0')
local now, before, after = ARGV[1], ARGV[2], ARGV[3]

local function owe(client, first, last)
  local is_scheduled = redis.call('EXISTS', flight(client), ready(client)) > 0
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
`)

/**
 * Owes signals to a client once more, whatever became of them. KEYS: cursor of the relay, which routes the call. ARGV:
 * client, now, state behind the round, then number and previous number in turns.
 */
const OWE_AGAIN_SCRIPT = createScript(`${NAMES}
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
`)

/**
 * Sets fields of a webhook and enables it. What the client is still owed is due now, and waits for no probe. KEYS: the
 * clients with a webhook. ARGV: client, then names and values in turns.
 */
export const ENABLE_SCRIPT = createScript(`${NAMES}
local client = ARGV[1]
redis.call('HSET', webhook(client), unpack(ARGV, 2))
redis.call('SADD', KEYS[1], client)
if redis.call('EXISTS', ready(client), waiting(client)) > 0 then schedule(client, 0) end
return 1
`)
