import type { Redis } from 'ioredis'
import type { DeliveryQueue } from './delivery-queue.ts'
import { overdueClients } from './ledger.ts'

/** How often the ledger is held against the queue. */
export const RECONCILE_EVERY_MS = 1_000

/** A client that nobody has looked after for so long was lost by the queue: a call needs milliseconds. */
export const OVERDUE_AFTER_MS = 3_000

/** Clients that are called again at once. */
const MOST_CALLS = 1_000

/** A call under an id that waits already is not repeated; after so long the id counts as forgotten. */
const GENERATION_MS = 30_000

/**
 * Calls again for every client that is overdue: what the queue has lost comes back from the ledger, under a generation
 * that BullMQ cannot remember for ever. A client that somebody is at is called in vain, which costs nothing. Resolves with
 * how many were called.
 */
export async function reconcileOnce(
  redis: Redis,
  queue: DeliveryQueue,
  nowMs: number,
  overdueAfterMs: number = OVERDUE_AFTER_MS,
): Promise<number> {
  const overdue = await overdueClients(redis, nowMs - overdueAfterMs, MOST_CALLS)
  const generation = `r${Math.floor(nowMs / GENERATION_MS)}`
  await queue.wake(
    'fast',
    overdue.map(client => ({ client, seq: 0, generation })),
  )
  return overdue.length
}
