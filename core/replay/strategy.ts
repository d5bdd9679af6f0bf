// What a strategy module sees and says. An operator's module imports these types and nothing else.

/** A closed bar. `t` is the bar's OPEN, epoch milliseconds UTC; prices in the quote currency; `v` in the base asset. */
export type Bar = {
  readonly t: number
  readonly o: number
  readonly h: number
  readonly l: number
  readonly c: number
  readonly v: number
}

export type Side = 'long' | 'short'

/** The position a strategy holds, as far as it may see it: no size and no equity. */
export type Position = {
  readonly side: Side
  readonly entry_time: number
  readonly entry_price: number
  readonly stop: number
}

/**
 * What to do at the next open. An entry names its protective stop, below the close for a long and above it for a
 * short; an entry against the position held is a reversal. `flat` closes the position: `why` is published with it.
 */
export type Decision =
  | { readonly act: Side; readonly stop: number }
  | { readonly act: 'flat'; readonly why: 'signal' | 'time' }
  | null

/**
 * A strategy: one closed bar at a time, and a state of its own that must survive JSON. There is no array of history,
 * no clock and no equity, so look-ahead cannot be written and a signal does not depend on the account.
 */
export type Strategy<State = unknown> = {
  readonly id: string
  /** Raised whenever the rules change: a new version is a new history. */
  readonly version: string
  readonly timeframeMs: number
  /** Bars before the first decision can be trusted. */
  readonly warmupBars: number
  /** Fraction of equity lost when the stop is hit: 0.02 = 2 %. */
  readonly baseRisk: number
  init(): State
  onBar(state: State, bar: Bar, position: Position | null): Decision
}
