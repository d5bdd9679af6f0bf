import type { OrderedExit } from './events.ts'
import type { Position, Side } from './strategy.ts'

/**
 * Everything that a step needs from the steps before it, as plain JSON: this object is the live runner's
 * checkpoint. The account starts with an equity of 1 and begins a new unit of 1 with each closed position, so a
 * quantity is base asset per unit.
 */
export type EngineState = {
  /** Bars seen. Before the first, the times and closes below are 0 and unused. */
  bars: number
  /** The open of the last bar, its close, and the close of the bar before it. */
  last_t: number
  last_close: number
  prior_close: number
  /** Equity without the open position's unrealised result, after its entry fee and funding; in units, as quantities are. */
  cash: number
  /** Equity marked at the last close, in units. */
  equity: number
  /**
   * What 1 is worth in equity at the start: the equity when a position was last closed. So the numbers of a trade,
   * rounding errors included, do not depend on the trades before it.
   */
  unit: number
  open: OpenPosition | null
  exit_order: OrderedExit | null
  entry_order: EntryOrder | null
  /** True from a liquidation on: equity stays 0 and the strategy is not called again. */
  dead: boolean
  /** Counters over the whole life. */
  trades_closed: number
  entries_refused: number
  decisions_ignored: number
  /** What the module's `init` and `onBar` make of it. */
  strategy: unknown
}

export type OpenPosition = {
  /** The part that the strategy sees. */
  readonly position: Position
  /** Base asset, always positive. */
  readonly qty: number
  /** Account equity at the fill: after the exit of a reversal, before the entry fee. */
  readonly equity_at_entry: number
  /** Notional at the fill / `equity_at_entry`. */
  readonly leverage: number
}

export type EntryOrder = { readonly side: Side; readonly stop: number; readonly qty: number }

/**
 * Why the value would not survive JSON, or null if it would: the end of an error sentence such as
 * `.window is a Float64Array`. Plain objects, arrays, strings, booleans, null and finite numbers pass.
 */
export function describePlainJsonFault(value: unknown, path = 'the state'): string | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null
    case 'number':
      return Number.isFinite(value) ? null : `${path} is ${value}`
    case 'object':
      return value === null ? null : describeObjectFault(value, path)
    default:
      return `${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`
  }
}

function describeObjectFault(value: object, path: string): string | null {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = Array.isArray(value) || prototype === Object.prototype || prototype === null
  if (!isPlain) return `${path} is a ${value.constructor?.name ?? 'class instance'}`
  for (const [key, member] of Object.entries(value)) {
    const fault = describePlainJsonFault(member, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)
    if (fault !== null) return fault
  }
  return null
}
