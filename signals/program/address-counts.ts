import { LRUCache } from 'lru-cache'

/** Addresses that are remembered: some megabyte. */
const MOST_ADDRESSES = 10_000

/** How often an address was counted in its window, this time too, and how long that window still lasts. */
export type Count = { readonly count: number; readonly msLeft: number }

type Window = { readonly startedMs: number; count: number }

/**
 * Counts addresses inside this process, each in windows that begin with its first request, in bounded memory. `elapsed` is
 * a clock that is never set back.
 */
export function createAddressCounts(windowMs: number, elapsed: () => number): (address: string) => Count {
  const windows = new LRUCache<string, Window>({ max: MOST_ADDRESSES })
  return address => {
    const now = elapsed()
    let window = windows.get(address)
    if (window === undefined || now - window.startedMs >= windowMs) {
      window = { startedMs: now, count: 0 }
      windows.set(address, window)
    }
    window.count++
    return { count: window.count, msLeft: window.startedMs + windowMs - now }
  }
}
