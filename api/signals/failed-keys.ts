import { LRUCache } from 'lru-cache'

/** Failures a minute that an address has; nobody mistypes a key more often. */
export const MOST_FAILURES = 20

export const WINDOW_MS = 60_000

/** Addresses that are remembered: some megabyte. Who has more of them can guess at leisure, 256 bits. */
const MOST_ADDRESSES = 10_000

/** Counts the failures of addresses, a minute at a time, in bounded memory. */
export type FailedKeys = {
  readonly add: (address: string) => void
  /** Whether an address has had all its failures of this minute. */
  readonly isSpent: (address: string) => boolean
}

type Window = { readonly startedMs: number; count: number }

/** `elapsed` is a clock that is never set back. */
export function createFailedKeys(elapsed: () => number): FailedKeys {
  const windows = new LRUCache<string, Window>({ max: MOST_ADDRESSES })
  const current = (address: string): Window | undefined => {
    const window = windows.get(address)
    return window !== undefined && elapsed() - window.startedMs < WINDOW_MS ? window : undefined
  }
  return {
    add(address) {
      const window = current(address)
      if (window === undefined) windows.set(address, { startedMs: elapsed(), count: 1 })
      else window.count++
    },
    isSpent: address => (current(address)?.count ?? 0) >= MOST_FAILURES,
  }
}
