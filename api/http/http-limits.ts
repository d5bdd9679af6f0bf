/** What one connection, and all of them together, may take of a process; docs/limits.md tells it to callers. */
export type HttpLimits = { readonly [Name in keyof typeof HTTP_LIMITS]: number }

export const HTTP_LIMITS = {
  /** Request line and headers together; longer ones answer 431. */
  headerBytes: 16 << 10,

  /** Headers must be complete after this: a slow sender must not hold a connection for nothing. */
  headersMs: 10_000,

  /** The whole request must be complete after this. No request of ours has a body worth more. */
  requestMs: 30_000,

  /** How often those two are looked at. Node's own pace is half a minute, which would make forty seconds of ten. */
  lookMs: 1_000,

  /** An idle connection is kept this long: longer than the minute for which balancers keep theirs. */
  keepAliveMs: 65_000,

  /** Within a request and its answer something must move: a reader that stands still is cut off. No answer takes as long. */
  stalledMs: 60_000,

  /**
   * Connections that are served at a time; proxies in front need a hundred. One with an answer that nobody fetches holds
   * 80 kB beside the shared bytes, so these cost 160 MB. An answer that one caller alone asked for is shared with nobody: with
   * 160 kB each, for an uncompressed series of 4 000 days at a new level, they hold 330 MB more. A table just below
   * `largeCells` is up to 2 MB, but takes 50 ms to make, and who stands still is cut off after `stalledMs`.
   */
  connections: 2_048,

  /** Connections beyond those that hear 503 `overloaded`; what comes past these, too, is closed without a word. */
  refusedConnections: 256,

  /** A refused sender that still sends has this long to read why: closing at once would take the answer from it. */
  lingerMs: 1_000,

  /** What still runs this long after the process was asked to end is cut off. */
  drainMs: 10_000,
} as const
