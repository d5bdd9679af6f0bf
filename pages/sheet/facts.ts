// What a fact sheet takes from the snapshot, at night only: the browser reads it from the page and the published files.
import { toPercent } from '#core/contract/rounding.ts'
import { equalWeightBookOf } from '#core/dataset/equal-weight-book.ts'
import { openSince, riskInput } from '#core/dataset/resources/risk.ts'
import { type Snapshot, type StrategyData, tradeResult } from '#core/dataset/snapshot.ts'
import type { Series } from '#core/figures/series.ts'
import type { Position } from '#core/figures/trade-statistics.ts'
import type { Dot } from '../charts/dot-chart.ts'
import { caveatOf } from '../format.ts'

export type SheetFacts = ReturnType<typeof sheetFacts>

/** What the sheet of a strategy needs beside its series: the same at every risk level, and plain JSON. */
export function sheetFacts(snapshot: Snapshot, strategy: StrategyData) {
  const { dataset } = snapshot
  const { id, name, instrument, base_risk_pct, published_since } = strategy
  const { leverage_typical, leverage_max, max_leverage, refused_above_risk_pct } = strategy
  return {
    ...{ id, name, instrument, base_risk_pct, published_since },
    ...{ leverage_typical, leverage_max, max_leverage, refused_above_risk_pct },
    max_modelled_risk_pct: dataset.max_modelled_risk_pct,
    stress_periods: dataset.stress_periods,
    caveat: caveatOf(dataset), // what pictures say of made-up data
    has_book: hasOthers(snapshot, strategy),
    /** Since when a position is open that is in no trade, ISO; or null. */
    open_since: openSince(strategy),
  }
}

/** Whether another strategy is alive on any day of this one: the equal-weight book is another line then. */
function hasOthers(snapshot: Snapshot, { daily }: StrategyData): boolean {
  const { daily: book, alive } = equalWeightBookOf(snapshot)
  const start = daily.first - book.first
  return alive.subarray(start, start + daily.values.length).some(count => count > 1)
}

/** The published series of a strategy, and of its benchmarks over at least the same days; null without one. */
export type SheetSeries = {
  readonly daily: Series
  readonly weekly: Series
  readonly benchmark: Series | null
  /** The equal-weight book at base risk. */
  readonly book: Series | null
  /** Closed trades. */
  readonly trades: readonly SheetTrade[]
}

export type SheetTrade = Position & { readonly return_pct: number; readonly result: Dot['result'] }

export function sheetSeries(snapshot: Snapshot, strategy: StrategyData): SheetSeries {
  const { benchmark, trades } = riskInput(snapshot, strategy)
  const { notional_return, account_return } = strategy.trades
  return {
    ...{ daily: strategy.daily, weekly: strategy.weekly, benchmark },
    book: equalWeightBookOf(snapshot).published,
    trades: trades.map((trade, row) => ({
      ...trade,
      return_pct: toPercent(100 * notional_return[row]!),
      result: tradeResult(account_return[row]!),
    })),
  }
}
