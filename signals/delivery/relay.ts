import type { Redis } from 'ioredis'
import { type LoggedSignal, readAfter } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR, RELAYED } from '../redis/keys.ts'
import { createScript, runScript } from '../redis/script.ts'
import { type DeliveryQueue, LANES, type Lane, type WakeUp } from './delivery-queue.ts'
import type { HighWater } from './high-water.ts'
import { holdLease } from './lease.ts'
import { type Debts, owe } from './ledger.ts'
import { kindOf, type Subscriber } from './subscribers.ts'

/** Signals that are read at once. */
const BLOCK = 200

/**
 * Signals that are owed together, before anybody is called for: a worker finds them all, and their writes wait for the disk
 * together. More would put off the first attempt.
 */
const SIGNALS_AT_ONCE = 16

/** Debts that are written at once: a script of this size takes some milliseconds. */
const DEBTS_AT_ONCE = 500

export type RelayParts = {
  readonly redis: Redis
  readonly queue: DeliveryQueue
  readonly highWater: Pick<HighWater, 'cover'>
  /** Names this process. */
  readonly token: string
  /** How long it may be silent before another takes over; LEASE_MS but in tests. */
  readonly leaseMs?: number | undefined
  readonly now: () => number
  /** Puts the clients into an order that favours none. */
  readonly shuffle: <T>(list: readonly T[]) => T[]
  /** Who is to get these signals, for each of them. */
  readonly subscribersOf: (signals: readonly LoggedSignal[]) => Promise<readonly (readonly Subscriber[])[]>
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
      holdLease(redis, parts.token, parts.leaseMs),
      askRedis(() => redis.get(RELAY_CURSOR)),
    ])
    if (!isOurs) return null
    const block = await readAfter(redis, Number(cursor ?? 0), BLOCK)
    for (let i = 0; i < block.length; i += SIGNALS_AT_ONCE) {
      await relayTogether(parts, block.slice(i, i + SIGNALS_AT_ONCE))
      if (!(await holdLease(redis, parts.token, parts.leaseMs))) return null
    }
    relayed += block.length
    if (block.length < BLOCK) return relayed
  }
}

/** Ledger, then queue, then cursor: what stands behind the cursor is in the ledger for sure. */
async function relayTogether(parts: RelayParts, signals: readonly LoggedSignal[]): Promise<void> {
  const debtors = toDebtors(signals, await parts.subscribersOf(signals))
  const last = signals.at(-1)!.seq // never called with none
  await parts.highWater.cover(last) // also what nobody is called for: it can be pulled
  await enqueue(parts.queue, await oweAll(parts, debtors, signals.length))
  const passed = new Map(signals.map(signal => [kindOf(signal), signal.seq]))
  await runScript(parts.redis, ADVANCE_SCRIPT, [RELAY_CURSOR, RELAYED], last, ...[...passed].flat())
}

/**
 * Moves the cursor, with what is newest of each kind: together, so that a signal which is relayed a second time is never
 * its own predecessor. Never back: a relay that stood still for longer than its lease would put both behind what another
 * has relayed meanwhile, and the next signal would name a predecessor that is too old.
 */
const ADVANCE_SCRIPT = createScript(`
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], unpack(ARGV, 2))
redis.call('SET', KEYS[1], ARGV[1])
return 1
`)

/** A client and the signals that it is to get. */
type Debtor = Debts & { readonly lane: Lane }

/** Turned over: from who gets a signal to what a client gets. */
function toDebtors(
  signals: readonly LoggedSignal[],
  subscribers: readonly (readonly Subscriber[])[],
): readonly Debtor[] {
  const debtors = new Map<string, Debtor & { readonly signals: { seq: number; prev: number }[] }>()
  for (const [i, { seq }] of signals.entries()) {
    for (const { client, lane, prev } of subscribers[i]!) {
      const debtor = debtors.get(client)
      if (debtor === undefined) debtors.set(client, { client, lane, signals: [{ seq, prev }] })
      else debtor.signals.push({ seq, prev })
    }
  }
  return [...debtors.values()]
}

type LaneCall = WakeUp & { readonly lane: Lane }

/** Owes what each client is to get, so many signals at the most, and gives the calls that are to be made for it. */
async function oweAll(
  { redis, now, shuffle }: RelayParts,
  debtors: readonly Debtor[],
  signalsEach: number,
): Promise<readonly LaneCall[]> {
  const calls: LaneCall[] = []
  const inTurn = shuffle(debtors)
  const clientsAtOnce = Math.ceil(DEBTS_AT_ONCE / signalsEach)
  for (let i = 0; i < inTurn.length; i += clientsAtOnce) {
    const block = inTurn.slice(i, i + clientsAtOnce)
    const toCall = new Set(await owe(redis, block, now()))
    for (const { client, lane, signals } of block) {
      if (toCall.has(client)) calls.push({ client, seq: signals[0]!.seq, lane }) // a debtor has at least one
    }
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
