// The relay: one process at a time carries the log into the outbox, behind a cursor and under a lease.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type LoggedSignal, readAfter } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { LOG, RELAY_CURSOR, RELAY_LEASE, RELAYED } from '../redis/keys.ts'
import { createScript, releaseLease, runScript } from '../redis/script.ts'
import type { HighWater } from './high-water.ts'
import { type Debts, LANES, type Lane, owe } from './outbox.ts'
import { kindOf, type Subscriber } from './subscribers.ts'
import type { Workers } from './workers.ts'

/** Signals that are read at once. */
const BLOCK = 200

/**
 * Signals that are owed together, before any of them is sent: a worker finds them all, and their writes wait for the disk
 * together. More would put off the first attempt.
 */
const SIGNALS_AT_ONCE = 16

/** Debts that are written at once: a script of this size takes some milliseconds. */
const DEBTS_AT_ONCE = 500

export type RelayParts = {
  readonly redis: Redis
  /** Begins to deliver to clients that are due, as far as there is room; the others are found in the schedule. */
  readonly begin: Workers['begin']
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
 * Carries every signal behind the cursor into the outbox, in order. Resolves with how many there were, or
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

/** Outbox, then cursor: what stands behind the cursor is in the outbox for sure. */
async function relayTogether(parts: RelayParts, signals: readonly LoggedSignal[]): Promise<void> {
  const debtors = toDebtors(signals, await parts.subscribersOf(signals))
  const last = signals.at(-1)!.seq // never called with none
  await parts.highWater.cover(last) // also what no webhook gets: it can be pulled
  const due = await oweAll(parts, debtors, signals.length)
  for (const lane of LANES) parts.begin(lane, due[lane])
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

/** Owes what each client is to get, so many signals at the most, and gives the clients of each lane that are due for it. */
async function oweAll(
  { redis, now, shuffle }: RelayParts,
  debtors: readonly Debtor[],
  signalsEach: number,
): Promise<Readonly<Record<Lane, readonly string[]>>> {
  const due: Record<Lane, string[]> = { fast: [], slow: [] }
  const inTurn = shuffle(debtors)
  const clientsAtOnce = Math.ceil(DEBTS_AT_ONCE / signalsEach)
  for (let i = 0; i < inTurn.length; i += clientsAtOnce) {
    const block = inTurn.slice(i, i + clientsAtOnce)
    const found = new Set(await owe(redis, block, now()))
    for (const { client, lane } of block) if (found.has(client)) due[lane].push(client)
  }
  return due
}

/** How long a read of the log waits for a signal before the lease is renewed: well below the life of a lease, a second. */
const BLOCK_SHARE = 1 / 3

/** How soon a relay that waits for its turn, or for Redis, looks again, of the life of a lease: half a second. */
const RETRY_SHARE = 1 / 6

/**
 * Relays from now on until the signal aborts. `waiting` is a connection of its own, because a read that waits for the
 * next signal blocks it. `onError` is told what went wrong; then it goes on.
 */
export async function runRelay(
  parts: RelayParts,
  waiting: Redis,
  stopped: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  const leaseMs = parts.leaseMs ?? LEASE_MS
  while (!stopped.aborted) {
    try {
      const relayed = await relayOnce(parts)
      if (relayed === null) await pause(leaseMs, stopped)
      else await untilSignal(parts.redis, waiting, leaseMs)
    } catch (error) {
      if (!stopped.aborted) onError(error)
      await pause(leaseMs, stopped)
    }
  }
  await giveBackLease(parts.redis, parts.token).catch(onError)
}

/** Resolves as soon as the log holds a signal behind the cursor, and now and then without one. */
async function untilSignal(redis: Redis, waiting: Redis, leaseMs: number): Promise<void> {
  const cursor = (await redis.get(RELAY_CURSOR)) ?? '0'
  const blockMs = Math.ceil(leaseMs * BLOCK_SHARE) // 0 would wait for ever
  await waiting.xread('COUNT', 1, 'BLOCK', blockMs, 'STREAMS', LOG, `${cursor}-0`)
}

const pause = (leaseMs: number, stopped: AbortSignal): Promise<void> =>
  sleep(leaseMs * RETRY_SHARE, undefined, { signal: stopped }).catch(() => {}) // the abort ends the loop

/** How long a relay may be silent before another takes over: far longer than a step, far shorter than anybody notices. */
const LEASE_MS = 3_000

/** A lease that has a smaller share left is renewed: a write waits for the disk, and most signals need not wait for this one. */
const RENEW_BELOW = 2 / 3

const RENEW_SCRIPT = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 1
end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0
`

/** Takes or keeps the lease of the relay. False where another process has it. */
async function holdLease(redis: Redis, token: string, leaseMs: number = LEASE_MS): Promise<boolean> {
  const renewBelowMs = Math.floor(leaseMs * RENEW_BELOW)
  const reply = await askRedis(() => redis.eval(RENEW_SCRIPT, 1, RELAY_LEASE, token, leaseMs, renewBelowMs))
  return reply === 1
}

/** Gives the lease back, so that another process need not wait for its end. */
export const giveBackLease = (redis: Redis, token: string): Promise<void> =>
  releaseLease(redis, RELAY_LEASE, token)

/** A list in an order that favours none (Fisher and Yates). `random` gives numbers in [0, 1). */
export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const mixed = [...list]
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const swapped = mixed[i]!
    mixed[i] = mixed[j]!
    mixed[j] = swapped
  }
  return mixed
}
