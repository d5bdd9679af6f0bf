import type { Redis } from 'ioredis'
import { z } from 'zod'
import { askRedis } from '../redis/connect.ts'
import { attemptsKey, ledgerKey, OWING, RELAY_CURSOR, readyKey, waitingKey } from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import { OWE_SCRIPT, REPLAY_SCRIPT } from './ledger-scripts.ts'

const deliveryState = z.object({
  /** What became of it. `withdrawn`: the client lost its right to it, or its webhook, before it was delivered. */
  status: z.enum(['owed', 'delivered', 'exhausted', 'withdrawn']),
  /** Number of the signal before it that this client may see, 0 for none. */
  prev: z.int().min(0),
  /** Attempts that counted. */
  attempts: z.int().min(0),
  /** Which owing of it this is: a replay begins another. */
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
 * Owes signals to clients. What a client is owed already, or got, and what the cursor of the relay has passed, is passed over. Resolves with the clients that must be
 * called: at the others somebody is, or was called for, who finds these signals as well.
 */
export async function owe(redis: Redis, debts: readonly Debts[], nowMs: number): Promise<readonly string[]> {
  if (debts.length === 0) return []
  const fresh = { attempts: 0, round: 1, ...untried(nowMs) }
  const before = '{"status":"owed","prev":'
  const after = `,${JSON.stringify(fresh).slice(1)}`
  const args = debts.flatMap(({ client, signals }) => [client, signals.length, ...pairsOf(signals)])
  return (await runScript(
    redis,
    OWE_SCRIPT,
    [OWING, RELAY_CURSOR],
    nowMs,
    before,
    after,
    ...args,
  )) as string[] // names of clients
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
  await runScript(redis, REPLAY_SCRIPT, [OWING], client, nowMs, after, ...pairsOf(signals))
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
  const note = redis.multi().hset(ledgerKey(seq), client, JSON.stringify(state))
  await askRedis(() => note.rpush(attemptsKey(seq, client), JSON.stringify(attempt)).exec())
}

const untried = (owedAtMs: number) => ({ owed_at: owedAtMs, first_attempt_at: null, settled_at: null })

/** What became of a signal for a client; null where it was never owed. */
export async function readDelivery(redis: Redis, seq: number, client: string): Promise<DeliveryState | null> {
  const raw = await askRedis(() => redis.hget(ledgerKey(seq), client))
  return raw === null ? null : parseState(raw)
}

/** What became of several signals for a client, in their order. */
export async function readDeliveries(
  redis: Redis,
  seqs: readonly number[],
  client: string,
): Promise<readonly (DeliveryState | null)[]> {
  const pipeline = redis.pipeline()
  for (const seq of seqs) pipeline.hget(ledgerKey(seq), client)
  const replies = (await askRedis(() => pipeline.exec())) ?? []
  return replies.map(([error, raw]) => {
    if (error !== null) throw error
    return typeof raw === 'string' ? parseState(raw) : null
  })
}

/** What became of a signal, by client. */
export async function readLedger(redis: Redis, seq: number): Promise<ReadonlyMap<string, DeliveryState>> {
  const found = await askRedis(() => redis.hgetall(ledgerKey(seq)))
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

/** The clients that somebody should have looked after before a time, `most` of them at the most. */
export const overdueClients = (redis: Redis, beforeMs: number, most: number): Promise<string[]> =>
  askRedis(() => redis.zrangebyscore(OWING, '-inf', beforeMs, 'LIMIT', 0, most))

/** Reads a state of the ledger. */
export const parseState = (raw: string): DeliveryState => deliveryState.parse(JSON.parse(raw))
