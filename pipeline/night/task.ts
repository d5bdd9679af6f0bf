import type { EpochDay } from '#core/calendar.ts'
import type { StrategyData } from '#core/dataset/snapshot.ts'
import type { Bars, Funding } from '#core/replay/bars.ts'
import type { StrategyEntry } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'

/** What a thread needs to compute one strategy. Bars lie on shared memory, so sending them copies nothing. */
export type StrategyTask = {
  readonly entry: StrategyEntry
  readonly service: {
    readonly engine: string
    readonly data_source: string
    readonly methodology_url: string
  }
  /** Cut at the end of the last public day; null for reported returns. */
  readonly bars: Bars | null
  readonly funding: Funding | null
  readonly lastDay: EpochDay
  /** Counts up while the strategy makes progress: what the watchdog looks at. */
  readonly pulse: Int32Array
}

/** A strategy computed whole, or everything that is wrong with it. */
export type StrategyOutcome =
  | { readonly kind: 'computed'; readonly data: StrategyData; readonly notices: readonly string[] }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
