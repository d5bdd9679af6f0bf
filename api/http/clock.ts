export type Clock = {
  /** The time of day, epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds since some fixed point, for measuring; never set back. */
  readonly elapsed: () => number
}
