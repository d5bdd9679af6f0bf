import { LRUCache } from 'lru-cache'
import type { RateLimiterRes } from 'rate-limiter-flexible'

/** Addresses remembered: about a megabyte. Counting does not slow down an attacker with more. */
const MOST_ADDRESSES = 10_000

/** How often an address was counted in its window, this time included, and how long the window lasts. */
export type Count = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>

type Window = { readonly startedMs: number; count: number }

/**
 * Counts addresses in this process, each in windows that begin with its first request, in bounded memory. `elapsed`
 * is a monotonic clock.
 */
export function createAddressCounts(windowMs: number, elapsed: () => number) {
  const windows = new LRUCache<string, Window>({ max: MOST_ADDRESSES })
  return (address: string): Count => {
    const now = elapsed()
    const last = windows.get(address)
    const isRunning = last !== undefined && now - last.startedMs < windowMs
    const window = isRunning ? last : { startedMs: now, count: 0 }
    window.count++
    windows.set(address, window)
    // In this order a window that has just begun lasts exactly windowMs.
    return { consumedPoints: window.count, msBeforeNext: windowMs - (now - window.startedMs) }
  }
}
