import { createAddressCounts } from '#signals/address-counts.ts'

/** Failures a minute that an address has; nobody mistypes a key more often. Who has many addresses guesses 256 bits. */
export const MOST_FAILURES = 20

export const WINDOW_MS = 60_000

/** Counts the failures of addresses, a minute at a time, in bounded memory. */
export type FailedKeys = {
  readonly add: (address: string) => void
  /** Whether an address has had all its failures of this minute. */
  readonly isSpent: (address: string) => boolean
}

/** `elapsed` is a clock that is never set back. */
export function createFailedKeys(elapsed: () => number): FailedKeys {
  const { add, countOf } = createAddressCounts(WINDOW_MS, elapsed)
  return { add, isSpent: address => countOf(address) >= MOST_FAILURES }
}
