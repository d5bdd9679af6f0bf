import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { LOG, RELAY_CURSOR } from '../redis/keys.ts'
import { giveBackLease, LEASE_MS } from './lease.ts'
import { type RelayParts, relayOnce } from './relay.ts'

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
