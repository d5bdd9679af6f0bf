import { digestText } from './digest.ts'
import type { StepEvent } from './events.ts'
import type { EngineState } from './state.ts'
import type { Bar, Side } from './strategy.ts'

/** A position as a follower of the signals knows it. */
export type Held = { readonly side: Side; readonly stop: number }

/** A report of one step: the position before its bar, and its events. */
export type StepReport = {
  readonly bar: Bar
  readonly before: Held | null
  readonly events: readonly StepEvent[]
}

/** The position after the orders of a state are filled, or null. */
export function heldAfter({ open, exit_order, entry_order }: EngineState): Held | null {
  if (entry_order !== null) return { side: entry_order.side, stop: entry_order.stop }
  if (exit_order !== null || open === null) return null
  return { side: open.position.side, stop: open.position.stop }
}

/**
 * The digest of everything in a state that a signal can depend on. Money is left out (cash, quantities,
 * leverage): it depends on funding as well, which is published after the bars, and no signal depends on it.
 */
export function decisionHash(state: EngineState): string {
  const { bars, last_t, last_close, open, exit_order, dead, strategy } = state
  const position = open?.position ?? null
  const held = heldAfter(state)
  return digestText(JSON.stringify({ bars, last_t, last_close, position, exit_order, held, dead, strategy }))
}
