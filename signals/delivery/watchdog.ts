import type { DeliveryEvent } from './delivery-parts.ts'
import type { DeliveryQueue } from './delivery-queue.ts'

/** How often it is looked whether calls are answered. */
export const WATCH_EVERY_MS = 5_000

/** Calls that wait while none is begun for so long: a request lasts 10 s at the most, so no worker is merely busy. */
export const STUCK_AFTER_MS = 30_000

export type WatchdogParts = {
  readonly queue: Pick<DeliveryQueue, 'counts'>
  /** When a worker last began a call, epoch milliseconds. */
  readonly lastStartMs: () => number
  readonly now: () => number
  readonly onEvent: (event: DeliveryEvent) => void
}

/** A look at the queue: tells once of each time in which calls wait and none is begun. */
export function createWatchdog({ queue, lastStartMs, now, onEvent }: WatchdogParts): () => Promise<void> {
  let waitingSinceMs: number | null = null
  let toldOfMs: number | null = null
  return async () => {
    const { fast, slow } = await queue.counts()
    const waiting = fast + slow
    waitingSinceMs = waiting === 0 ? null : (waitingSinceMs ?? now())
    if (waitingSinceMs === null) return
    const sinceMs = Math.max(waitingSinceMs, lastStartMs())
    const forMs = now() - sinceMs
    if (forMs < STUCK_AFTER_MS || toldOfMs === sinceMs) return
    toldOfMs = sinceMs
    onEvent({ kind: 'stuck', waiting, forMs })
  }
}
