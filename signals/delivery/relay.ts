import type { Redis } from 'ioredis'
import { type LoggedSignal, readAfter } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR, RELAYED } from '../redis/keys.ts'
import { type DeliveryQueue, LANES, type Lane, type WakeUp } from './delivery-queue.ts'
import type { HighWater } from './high-water.ts'
import { holdLease } from './lease.ts'
import { owe } from './ledger.ts'
import { kindOf, type Subscriber } from './subscribers.ts'

/** Signals that are read at once. */
const BLOCK = 200

/**
 * Signals that are owed together, before anybody is called for: a worker finds them all, and their writes wait for the disk
 * together. More would put off the first attempt.
 */
const SIGNALS_AT_ONCE = 16

/** Clients that are written at once: a script of this size takes some milliseconds. */
const CLIENTS_AT_ONCE = 500

export type RelayParts = {
  readonly redis: Redis
  readonly queue: DeliveryQueue
  readonly highWater: HighWater
  /** Names this process. */
  readonly token: string
  readonly now: () => number
  /** Puts the clients of a signal into an order that favours none. */
  readonly shuffle: <T>(list: readonly T[]) => T[]
  /** Who is to get a signal; `passed` are the newest of each kind before it that are not yet noted as relayed. */
  readonly subscribersOf: (
    signal: LoggedSignal,
    passed: ReadonlyMap<string, number>,
  ) => Promise<readonly Subscriber[]>
}

/**
 * Carries every signal behind the cursor into the ledger and the queue, in order. Resolves with how many there were, or
 * null where another process relays. Killed anywhere, the next one does the same again: every write can be repeated.
 */
export async function relayOnce(parts: RelayParts): Promise<number | null> {
  const { redis } = parts
  let relayed = 0
  for (;;) {
    // On one connection the second is asked after the first: the cursor is that of the time of the lease.
    const [isOurs, cursor] = await Promise.all([
      holdLease(redis, parts.token),
      askRedis(() => redis.get(RELAY_CURSOR)),
    ])
    if (!isOurs) return null
    const block = await readAfter(redis, Number(cursor ?? 0), BLOCK)
    for (let i = 0; i < block.length; i += SIGNALS_AT_ONCE) {
      await relayTogether(parts, block.slice(i, i + SIGNALS_AT_ONCE))
      if (!(await holdLease(redis, parts.token))) return null
    }
    relayed += block.length
    if (block.length < BLOCK) return relayed
  }
}

/** Ledger, then queue, then cursor: what stands behind the cursor is in the ledger for sure. */
async function relayTogether(parts: RelayParts, signals: readonly LoggedSignal[]): Promise<void> {
  const passed = new Map<string, number>()
  const reading = signals.map(signal => {
    const before = new Map(passed)
    passed.set(kindOf(signal), signal.seq)
    return parts.subscribersOf(signal, before)
  })
  const debts = (await Promise.all(reading)).map((subscribers, i) => ({ seq: signals[i]!.seq, subscribers }))
  await parts.highWater.cover(signals.at(-1)!.seq) // also what nobody is called for: it can be pulled
  const calls = await Promise.all(debts.map(({ seq, subscribers }) => oweAll(parts, seq, subscribers)))
  await enqueue(parts.queue, calls.flat())
  // Together, so that a signal which is relayed a second time is never its own predecessor.
  const cursor = signals.at(-1)!.seq
  await askRedis(() => parts.redis.multi().hset(RELAYED, passed).set(RELAY_CURSOR, cursor).exec())
}

type LaneCall = WakeUp & { readonly lane: Lane }

/** Owes a signal, and gives the calls that are to be made for it. */
async function oweAll(
  { redis, now, shuffle }: RelayParts,
  seq: number,
  subscribers: readonly Subscriber[],
): Promise<readonly LaneCall[]> {
  const calls: LaneCall[] = []
  const inTurn = shuffle(subscribers)
  for (let i = 0; i < inTurn.length; i += CLIENTS_AT_ONCE) {
    const block = inTurn.slice(i, i + CLIENTS_AT_ONCE)
    const toCall = new Set(await owe(redis, seq, block, now()))
    for (const { client, lane } of block) if (toCall.has(client)) calls.push({ client, seq, lane })
  }
  return calls
}

async function enqueue(queue: DeliveryQueue, calls: readonly LaneCall[]): Promise<void> {
  for (const lane of LANES) {
    const ofLane = calls.filter(call => call.lane === lane)
    await queue.wake(
      lane,
      ofLane.map(({ client, seq }) => ({ client, seq, generation: '1' })),
    )
  }
}
