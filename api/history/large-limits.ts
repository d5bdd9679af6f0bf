/** What large answers may take of a process; docs/limits.md tells it to callers. */
export type LargeLimits = { readonly [Name in keyof typeof LARGE_LIMITS]: number }

export const LARGE_LIMITS = {
  /** Cells from which on an answer is large: 2 MB of text, and 50 ms in which the thread would answer nobody else. */
  largeCells: 100_000,

  /** Large answers that are made and sent at a time: each holds memory until the last of its readers has gone. */
  mostLarge: 2,

  /** A large answer is made this far ahead of its quickest reader: a second of a good line. */
  aheadBytes: 1 << 20,

  /**
   * What is held of a large answer while it is sent. Below, who asks for the same shares it from the beginning: five
   * hundred strategies over ten years with zstd. Above, what all have read is let go, and the slowest reader sets the pace.
   */
  heldBytes: 16 << 20,

  /** A larger one is not kept: each of its readers would hold it whole, outside of the places that bound their number. */
  keptBytes: 1 << 20,

  /** A reader has this long for a large answer: who reads just fast enough not to stand still would hold it for ever. */
  readingMs: 600_000,
} as const
