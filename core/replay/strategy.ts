// The interface of strategy modules, which import these types and nothing else.

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

/** The position of a strategy, as the strategy sees it: without size and equity. */
export type Position = {
  readonly side: Side
  readonly entry_time: number
  readonly entry_price: number
  readonly stop: number
}

/**
 * The decision for the next open. An entry names its protective stop, below the close for a long and above it for a
 * short; an entry against the position held is a reversal. `flat` closes the position: `why` is published with it.
 */
export type Decision =
  | { readonly act: Side; readonly stop: number }
  | { readonly act: 'flat'; readonly why: 'signal' | 'time' }
  | null

/** Published with each answer, so neither a text without end nor one that a terminal obeys. */
export const MODULE_VERSION = /^[\w.+-]{1,32}$/

/**
 * A strategy: one closed bar at a time, and a state of its own that must survive JSON. It gets no array of history, no
 * clock and no equity, so it cannot look ahead, and its signals do not depend on the account.
 */
export type Strategy<State = unknown> = {
  readonly id: string
  /** Raised whenever the rules change: a new version is a new history. A `MODULE_VERSION`. */
  readonly version: string
  readonly timeframeMs: number
  /** Bars before the first reliable decision. */
  readonly warmupBars: number
  /** Bars after which no decision depends any more on where the history begins. Default: twice `warmupBars`. */
  readonly memoryBars?: number
  /** Fraction of equity lost when the stop is hit: 0.02 = 2 %. */
  readonly baseRisk: number
  init(): State
  onBar(state: State, bar: Bar, position: Position | null): Decision
}
