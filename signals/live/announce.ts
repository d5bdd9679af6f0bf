import type { Mode, SignalContent } from '#core/contract/signal.ts'

/** A quarter of a bar, and never more than this: a price of five minutes ago is not the price that was decided on. */
const LATE_MOST_MS = 300_000
const LATE_PART = 0.25

/** How long after the close of its bar an entry may still be traded. */
export const lateAfterMs = (timeframeMs: number): number => Math.min(timeframeMs * LATE_PART, LATE_MOST_MS)

/** The position that subscribers were told of, and how; null where there is none that they know. */
export type Announced = {
  readonly mode: Mode
  readonly stop: number
  readonly action: 'long' | 'short'
} | null

/** What stands over a bar. */
export type Orders = {
  /** LIVE where both the operator's command and the catalogue say so. */
  readonly mode: Mode
  readonly isHalted: boolean
  readonly isLate: boolean
}

export type Announcement = {
  readonly signals: readonly SignalContent[]
  readonly announced: Announced
  /** Ids of entries that a halt kept back. */
  readonly held: readonly string[]
}

/**
 * What becomes of the signals of a step. An entry is LIVE in a live strategy and on time, `DRY_RUN` otherwise, and does
 * not go out at all while the strategy is halted. A `flat` goes out as its entry did, whatever has been ordered since,
 * because it only takes risk off; the `flat` of a position that nobody was told of does not go out.
 */
export function announce(signals: readonly SignalContent[], before: Announced, orders: Orders): Announcement {
  const out: SignalContent[] = []
  const held: string[] = []
  let announced = before
  for (const signal of signals) {
    if (signal.action === 'flat') {
      if (announced !== null) out.push({ ...signal, mode: announced.mode })
      announced = null
    } else if (orders.isHalted) {
      held.push(signal.signal_id)
      announced = null
    } else {
      const mode = orders.isLate ? 'DRY_RUN' : orders.mode
      out.push({ ...signal, mode })
      announced = { mode, stop: signal.stop, action: signal.action }
    }
  }
  return { signals: out, announced, held }
}
