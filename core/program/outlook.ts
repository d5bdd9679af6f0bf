import { pausedBars } from './paused.ts'
import { barsPerDay } from './planned-bars.ts'
import type { ProgramData } from './program.ts'

/** What a rule may look at. */
export type Outlook = {
  /** The warm-up and what has happened of the window. */
  readonly closes: Float64Array
  /** Index of the first bar of the window in `closes`. */
  readonly first: number
  readonly bars_per_day: number
  /** For each bar of the window: 1 where nothing is bought. */
  readonly paused: Uint8Array
}

export const outlookOf = ({ plan, bars, first }: ProgramData): Outlook => ({
  closes: bars.c,
  first,
  bars_per_day: barsPerDay(bars.timeframeMs),
  paused: pausedBars(plan.paused, bars, first),
})
