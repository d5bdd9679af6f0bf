import type { EpochDay } from '#core/calendar.ts'
import type { VerificationState } from '#core/contract/payloads/strategy.ts'
import type { Marking } from '#core/dataset/snapshot.ts'
import type { Series } from '#core/figures/series.ts'
import type { ResolvedTrade } from '#core/replay/resolve-trade.ts'
import type { Costs } from '#core/replay/trade.ts'
import type { StrategyEntry } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'

/** The history of a strategy, whatever it was made from. */
export type History = {
  readonly daily: Series
  readonly daysWithoutBars: readonly EpochDay[]
  /** By entry, then exit; one that is open at the end has no exit. */
  readonly trades: readonly ResolvedTrade[]
  readonly marking: Marking
  readonly verification: VerificationState
  /** What an operator should know and that is no fault: refused entries, a ruin. */
  readonly notices: readonly string[]
}

/** A source turned into a history, or what is wrong with it. */
export type HistoryOutcome = { readonly history: History } | { readonly problems: readonly Problem[] }

export const costsOf = (entry: StrategyEntry): Costs => ({
  commission_bps_per_side: entry.commission_bps_per_side,
  slippage_ticks: entry.slippage_ticks,
  tick_size: entry.tick_size,
  max_leverage: entry.max_leverage,
})

/** One trade booked whole makes the series one that is not marked daily. */
export const markingOf = (trades: readonly ResolvedTrade[]): Marking =>
  trades.some(({ marking }) => marking === 'realised') ? 'realised' : 'marked'
