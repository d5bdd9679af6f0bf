/** What one connection, and all of them together, may take of a process; docs/limits.md tells it to callers. */
export type HttpLimits = { readonly [Name in keyof typeof HTTP_LIMITS]: number }

export const HTTP_LIMITS = {
  /** Request line and headers together; longer ones answer 431. */
  headerBytes: 16 << 10,

  /** Headers must be complete after this: a slow sender must not hold a connection for nothing. */
  headersMs: 10_000,

  /** The whole request must be complete after this. No request of ours has a body worth more. */
  requestMs: 30_000,

  /** How often those two are checked. Node's default of 30 s would turn 10 s into 40 s. */
  checkMs: 1_000,

  /** An idle connection is kept this long: longer than the minute for which balancers keep theirs. */
  keepAliveMs: 65_000,

  /** Within a request and its answer something must move: a reader that stands still is cut off. No answer takes as long. */
  stalledMs: 60_000,

  /**
   * Connections at a time; further ones are closed at once. Proxies in front need a hundred. A connection with an answer
   * that nobody reads holds 80 kB beside the cached bytes, or 160 kB for an uncompressed series of 4 000 days: 330 MB in all.
   */
  connections: 2_048,

  /** At shutdown, a request that has begun to arrive has this long to arrive whole. */
  lingerMs: 1_000,

  /** Answers still under way this long after the start of a shutdown are cut. */
  drainMs: 10_000,
} as const
