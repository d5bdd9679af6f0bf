import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { LOG, RELAY_CURSOR } from '../redis/keys.ts'
import { giveBackLease } from './lease.ts'
import { type RelayParts, relayOnce } from './relay.ts'

/** How long a read of the log waits for a signal before the lease is renewed: well below the life of a lease. */
const BLOCK_MS = 1_000

/** How soon a relay that waits for its turn, or for Redis, looks again. */
const RETRY_MS = 500

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
  while (!stopped.aborted) {
    try {
      const relayed = await relayOnce(parts)
      if (relayed === null) await pause(stopped)
      else await untilSignal(parts.redis, waiting)
    } catch (error) {
      if (!stopped.aborted) onError(error)
      await pause(stopped)
    }
  }
  await giveBackLease(parts.redis, parts.token).catch(onError)
}

/** Resolves as soon as the log holds a signal behind the cursor, and now and then without one. */
async function untilSignal(redis: Redis, waiting: Redis): Promise<void> {
  const cursor = (await redis.get(RELAY_CURSOR)) ?? '0'
  await waiting.xread('COUNT', 1, 'BLOCK', BLOCK_MS, 'STREAMS', LOG, `${cursor}-0`)
}

const pause = (stopped: AbortSignal): Promise<void> =>
  sleep(RETRY_MS, undefined, { signal: stopped }).catch(() => {}) // the abort ends the loop
