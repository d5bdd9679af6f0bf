// How quickly a client gets its signals, read from the log and the outbox, so deliveries do not pay for it.
import type { Redis } from 'ioredis'
import { readDeliveries } from '../delivery/outbox.ts'
import { readStoredHead } from '../log/guard.ts'
import { toLogged } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { LOG } from '../redis/keys.ts'

/** Newest deliveries measured. */
export const MOST_MEASURED = 1_000

/**
 * Newest numbers searched for them: a client with few entitlements has fewer deliveries, and the answer has how many.
 */
export const MOST_LOOKED_THROUGH = 10_000

const BLOCK = 1_000

/** Milliseconds; percentiles by nearest rank. */
export type Spread = { readonly p50: number; readonly p99: number; readonly max: number }

/** Latencies counted from the commit to the log. Null if nothing was delivered. */
export type Latency = Awaited<ReturnType<typeof readLatency>>

type Times = { readonly seq: number; readonly firstAttemptAt: number; readonly settledAt: number }

/**
 * Latency of the last acknowledged deliveries of a client. Resent ones are left out: their second round shows when
 * the operator ordered it.
 */
export async function readLatency(redis: Redis, client: string) {
  const times = await lastDelivered(redis, client)
  const firedAt = await readFiredAt(
    redis,
    times.map(({ seq }) => seq),
  )
  const waits = (end: (time: Times) => number): readonly number[] =>
    times.flatMap(time => {
      const atMs = firedAt.get(time.seq)
      // The clock of the process that fired may be slightly ahead of the worker's.
      return atMs === undefined ? [] : [Math.max(0, end(time) - atMs)]
    })
  return {
    deliveries: firedAt.size,
    firstAttempt: spreadOf(waits(({ firstAttemptAt }) => firstAttemptAt)),
    /** Until the acknowledgement, of whichever attempt. */
    acknowledged: spreadOf(waits(({ settledAt }) => settledAt)),
  }
}

/** From the newest number downwards. */
async function lastDelivered(redis: Redis, client: string): Promise<readonly Times[]> {
  const found: Times[] = []
  const { seq: newest } = await readStoredHead(redis)
  const lowest = Math.max(1, newest - MOST_LOOKED_THROUGH + 1)
  for (let top = newest; top >= lowest && found.length < MOST_MEASURED; top -= BLOCK) {
    const seqs = Array.from({ length: Math.min(BLOCK, top - lowest + 1) }, (_, i) => top - i)
    const states = await readDeliveries(redis, seqs, client)
    for (const [i, state] of states.entries()) {
      if (state?.status !== 'delivered' || state.round > 1) continue
      const { first_attempt_at: firstAttemptAt, settled_at: settledAt } = state
      if (firstAttemptAt !== null && settledAt !== null)
        found.push({ seq: seqs[i]!, firstAttemptAt, settledAt })
    }
  }
  return found.slice(0, MOST_MEASURED)
}

async function readFiredAt(redis: Redis, seqs: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const entries = await askRedis(() =>
    Promise.all(seqs.map(seq => redis.xrange(LOG, `${seq}-0`, `${seq}-0`))),
  )
  return new Map(
    entries
      .flat()
      .map(toLogged)
      .map(({ seq, atMs }) => [seq, atMs]),
  )
}

export function spreadOf(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b)
  const ranked = (fraction: number): number => sorted[Math.ceil(fraction * sorted.length) - 1]!
  return sorted.length === 0 ? null : { p50: ranked(0.5), p99: ranked(0.99), max: ranked(1) }
}
