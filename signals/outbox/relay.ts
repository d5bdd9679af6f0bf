// The relay: one process at a time carries the log into the outbox, behind a cursor and under a lease.
import { setTimeout as sleep } from 'node:timers/promises'
import { shuffler } from 'd3-array'
import type { Redis } from 'ioredis'
import type { Client } from '../clients/clients.ts'
import { kindsOf, type LoggedSignal, type LogReader, testsOf, viewOf } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { LOG, RELAY_CURSOR, RELAY_LEASE, RELAYED } from '../redis/keys.ts'
import { claimLease, releaseLease } from '../redis/lease.ts'
import { runScript } from '../redis/script.ts'
import type { Destination } from './destination.ts'
import { type Debts, type Lane, owe } from './outbox.ts'
import { type Records, readRecords } from './records.ts'
import { isRegistrationTest } from './test-fire.ts'
import { enabledWebhooks, filterOf } from './webhooks.ts'

const BLOCK = 200

/**
 * Signals owed together, before any of them is sent: a worker finds them all, and their writes share an fsync. More
 * would delay the first attempt.
 */
const SIGNALS_AT_ONCE = 16

/** A script of this size takes some milliseconds. */
const DEBTS_AT_ONCE = 500

export type RelayParts = {
  readonly redis: Redis
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Numbers in [0, 1). */
  readonly random: () => number
  /** Starts delivery to destinations that are due, as far as there is room; the others stay in the schedule. */
  readonly begin: (lane: Lane, destinations: readonly Destination[]) => void
  readonly token: string
  readonly readAfter: LogReader['readAfter']
  /** How long it may be silent before another takes over; default LEASE_MS. */
  readonly leaseMs?: number | undefined
  readonly debtorsOf: (signals: readonly LoggedSignal[]) => Promise<readonly Debtor[]>
}

/**
 * Carries every signal behind the cursor into the outbox, in order. Resolves with how many there were, or null if
 * another process has the lease. Idempotent: a relay that is killed anywhere is repeated by the next one.
 */
export async function relayOnce(parts: RelayParts): Promise<number | null> {
  const { redis } = parts
  let relayed = 0
  for (;;) {
    // One connection runs these in order: the cursor is read while the lease is held.
    const [isOurs, cursor] = await Promise.all([holdLease(parts), askRedis(() => redis.get(RELAY_CURSOR))])
    if (!isOurs) return null
    const block = await parts.readAfter(Number(cursor ?? 0), BLOCK)
    for (let i = 0; i < block.length; i += SIGNALS_AT_ONCE) {
      await relayTogether(parts, block.slice(i, i + SIGNALS_AT_ONCE))
      if (!(await holdLease(parts))) return null
    }
    relayed += block.length
    if (block.length < BLOCK) return relayed
  }
}

/** Outbox first, then the cursor: what the cursor has passed is in the outbox for certain. */
async function relayTogether(parts: RelayParts, signals: readonly LoggedSignal[]): Promise<void> {
  await oweAll(parts, await parts.debtorsOf(signals), signals.length)
  const last = signals.at(-1)!.seq // never called with none
  const passed = new Map(signals.flatMap(signal => kindsOf(signal).map(kind => [kind, signal.seq])))
  await runScript(parts.redis, ADVANCE_SCRIPT, [RELAY_CURSOR, RELAYED], last, ...[...passed].flat())
}

/**
 * Moves the cursor together with the newest number of each kind, so that a signal relayed twice is never its own
 * predecessor. Never backwards: a relay that paused for longer than its lease would make the next signal name an old
 * predecessor.
 */
const ADVANCE_SCRIPT = `
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], unpack(ARGV, 2))
redis.call('SET', KEYS[1], ARGV[1])
return 1
`

/** Owes up to `signalsEach` signals to each destination, and begins with those that are due while it owes to the next. */
async function oweAll(
  { redis, now, random, begin }: RelayParts,
  debtors: readonly Debtor[],
  signalsEach: number,
): Promise<void> {
  const inTurn = shuffler(random)([...debtors])
  const debtorsAtOnce = Math.ceil(DEBTS_AT_ONCE / signalsEach)
  for (let i = 0; i < inTurn.length; i += debtorsAtOnce) {
    const block = inTurn.slice(i, i + debtorsAtOnce)
    const found = new Set(await owe(redis, block, now()))
    const due = block.filter(({ destination }) => found.has(destination))
    for (const [lane, ready] of Map.groupBy(due, each => each.lane))
      begin(
        lane,
        ready.map(({ destination }) => destination),
      )
  }
}

/** How long a read of the log blocks before the lease is renewed, as a share of the lease: a second. */
const BLOCK_SHARE = 1 / 3

/** The retry of a relay without the lease, or without Redis, as a share of the lease: half a second. */
const RETRY_SHARE = 1 / 6

/**
 * Relays until the signal aborts. `waiting` is a separate connection because it blocks. `onError` gets errors that
 * are retried.
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
  await releaseLease(parts.redis, RELAY_LEASE, parts.token).catch(onError)
}

/** Resolves as soon as the log has a signal behind the cursor, and periodically without one. */
async function untilSignal(redis: Redis, waiting: Redis, leaseMs: number): Promise<void> {
  const cursor = (await redis.get(RELAY_CURSOR)) ?? '0'
  const blockMs = Math.ceil(leaseMs * BLOCK_SHARE) // 0 would block for ever
  await waiting.xread('COUNT', 1, 'BLOCK', blockMs, 'STREAMS', LOG, `${cursor}-0`)
}

const pause = (leaseMs: number, stopped: AbortSignal): Promise<void> =>
  sleep(leaseMs * RETRY_SHARE, undefined, { signal: stopped }).catch(() => {}) // the abort ends the loop

/** How long a relay may be silent before another takes over. */
const LEASE_MS = 3_000

/** A lease with a smaller share left is renewed: a renewal waits for the disk, so most signals skip it. */
const RENEW_BELOW = 2 / 3

/** Takes or keeps the lease of the relay. False if another process has it. */
async function holdLease({ redis, token, leaseMs = LEASE_MS }: RelayParts): Promise<boolean> {
  const enoughMs = Math.floor(leaseMs * RENEW_BELOW)
  return (await claimLease(redis, RELAY_LEASE, token, leaseMs, { enoughMs })) === null
}

/** What a destination with an enabled webhook is to be owed, and its lane. */
type Debtor = Debts & { readonly lane: Lane }

/** Records that are read by one script. */
const RECORDS_AT_ONCE = 500

/** What an endpoint of a client is sent: its own tests, and of the client's aliases those that its filter has. */
export const endpointView = (
  { id, status, aliases }: Client,
  sentTo: Destination,
  filter: readonly string[] | null,
) => ({
  id,
  isActive: status === 'active',
  aliases: filter === null ? aliases : aliases.filter(alias => filter.includes(alias)),
  sentTo,
})

/** Whether an endpoint may get a signal now: a test goes to its addressee, others to entitled clients, as far as the filter has them. */
export const isEntitled = (
  { isActive, aliases, sentTo }: ReturnType<typeof endpointView>,
  { alias, onlyFor }: LoggedSignal,
): boolean => (onlyFor === null ? isActive && aliases.includes(alias) : onlyFor === sentTo)

/**
 * The recipients of these signals, which ascend, each signal with the previous number that its recipient is sent: the
 * newest of its aliases and of its tests that the relay has passed. So a client without a webhook for a while sees
 * the gap, and the number agrees with what it can pull. Everything is read once for all signals.
 */
export async function debtorsOf(redis: Redis, signals: readonly LoggedSignal[]): Promise<readonly Debtor[]> {
  const [enabled, relayed] = await Promise.all([
    enabledWebhooks(redis),
    askRedis(() => redis.hgetall(RELAYED)),
  ])
  const isForAll = signals.some(({ onlyFor }) => onlyFor === null)
  const addressed = new Set(signals.map(({ onlyFor }) => onlyFor))
  const readers = isForAll ? enabled : enabled.filter(destination => addressed.has(destination))
  // All blocks are asked for together: under load each reply waits for deliveries.
  const reading: Promise<readonly Records[]>[] = []
  for (let from = 0; from < readers.length; from += RECORDS_AT_ONCE)
    reading.push(readRecords(redis, readers.slice(from, from + RECORDS_AT_ONCE)))
  return (await Promise.all(reading)).flat().flatMap(({ record, webhook }, i) => {
    const destination = readers[i]! // as many records as readers
    const endpoint = record && endpointView(record, destination, filterOf(webhook))
    const owed = endpoint === null ? [] : owedTo(endpoint, signals, relayed)
    const lane = webhook.lane === 'slow' ? 'slow' : 'fast'
    return owed.length === 0 ? [] : [{ destination, lane, signals: owed }]
  })
}

function owedTo(
  endpoint: ReturnType<typeof endpointView>,
  signals: readonly LoggedSignal[],
  relayed: Readonly<Record<string, string>>,
) {
  const owed: { seq: number; prev: number }[] = []
  let prev = Number(relayed[testsOf(endpoint.sentTo)] ?? 0)
  for (const alias of endpoint.aliases) prev = Math.max(prev, Number(relayed[alias] ?? 0))
  for (const signal of signals.filter(viewOf(endpoint))) {
    // The test of a registration was sent by the registration itself.
    if (isEntitled(endpoint, signal) && !isRegistrationTest(signal)) owed.push({ seq: signal.seq, prev })
    prev = signal.seq
  }
  return owed
}
