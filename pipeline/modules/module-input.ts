import { type Bars, type Funding, lastAtOrBefore, toBars } from '#core/replay/bars.ts'
import { firstCompleteDay } from '#core/replay/daily.ts'
import type { Costs } from '#core/replay/trade.ts'
import type { StrategyEntry } from '../book/book.ts'
import { TIMEFRAME_MS } from '../book/timeframe.ts'
import type { ModuleInput } from './tasks.ts'

export const costsOf = (entry: StrategyEntry): Costs => ({
  commission_bps_per_side: entry.commission_bps_per_side,
  slippage_ticks: entry.slippage_ticks,
  tick_size: entry.tick_size,
  max_leverage: entry.max_leverage,
})

/** A module strategy of a book, its funding, and all bars that the book has of it. */
export type ModuleTask = {
  readonly entry: StrategyEntry
  readonly bars: Bars
  readonly funding: Funding | null
}

export function toModuleInput({ entry, bars, funding }: ModuleTask): ModuleInput {
  if (entry.source.kind !== 'module') throw new Error(`${entry.id} is no module: nothing of it can be run`)
  return {
    path: entry.source.path,
    id: entry.id,
    timeframeMs: entry.timeframe === null ? bars.timeframeMs : TIMEFRAME_MS[entry.timeframe],
    baseRisk: entry.base_risk_pct,
    costs: costsOf(entry),
    funding,
    from: entry.inception ?? firstCompleteDay(bars),
  }
}

/** A part of the bars, copied: shared memory cannot leave this process, and a view would take all of it along. */
export const copyBars = (bars: Bars, from = 0, to = bars.t.length): Bars =>
  toBars(bars.timeframeMs, name => bars[name].slice(from, to))

/** The payments before an instant, copied. */
export function copyFunding(funding: Funding | null, endMs: number): Funding | null {
  if (funding === null) return null
  const count = lastAtOrBefore(funding.t, endMs - 1) + 1
  return { t: funding.t.slice(0, count), rate: funding.rate.slice(0, count) }
}
