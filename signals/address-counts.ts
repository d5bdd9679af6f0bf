import { LRUCache } from 'lru-cache'

/** Addresses that are remembered: some megabyte. Who has more of them is not held back by counting them. */
const MOST_ADDRESSES = 10_000

/** How often an address was counted in its window, this time too, and how long that window still lasts. */
export type Count = { readonly count: number; readonly msLeft: number }

export type AddressCounts = {
  /** Counts an address once more. */
  readonly add: (address: string) => Count
  /** How often an address was counted in its window. */
  readonly countOf: (address: string) => number
}

type Window = { readonly startedMs: number; count: number }

/**
 * Counts addresses inside this process, each in windows that begin with its first request, in bounded memory. `elapsed` is
 * a clock that is never set back.
 */
export function createAddressCounts(windowMs: number, elapsed: () => number): AddressCounts {
  const windows = new LRUCache<string, Window>({ max: MOST_ADDRESSES })
  const runningAt = (now: number, address: string): Window | undefined => {
    const window = windows.get(address)
    return window !== undefined && now - window.startedMs < windowMs ? window : undefined
  }
  return {
    add(address) {
      const now = elapsed()
      const window = runningAt(now, address) ?? { startedMs: now, count: 0 }
      window.count++
      windows.set(address, window)
      // In this order a window that has just begun lasts windowMs, and not a rounding more.
      return { count: window.count, msLeft: windowMs - (now - window.startedMs) }
    },
    countOf: address => runningAt(elapsed(), address)?.count ?? 0,
  }
}
