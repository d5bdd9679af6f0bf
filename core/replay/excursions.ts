import type { Excursion } from '#core/figures/execution.ts'
import { type Bars, lastAtOrBefore } from './bars.ts'
import type { ResolvedTrade } from './resolve-trade.ts'
import { signOf } from './trade.ts'

/**
 * How far the price went against each closed trade and for it, in R; null if the leverage of a trade is unknown.
 *
 * One R is the move of the price that costs the base risk, `base risk / leverage` of the entry price: the distance to the
 * stop that the position was sized by. Bars count that are whole between entry and exit, and so do both prices: a low of
 * the entry's own bar may precede an entry inside it, and what follows an exit is not the trade's.
 */
export function excursionsOf(
  trades: readonly ResolvedTrade[],
  bars: Bars,
  baseRisk: number,
): Excursion[] | null {
  if (trades.some(({ leverage }) => leverage === null)) return null
  return trades.flatMap(trade => excursionOf(trade, bars, baseRisk) ?? [])
}

function excursionOf(trade: ResolvedTrade, bars: Bars, baseRisk: number): Excursion | null {
  const { side, entry_time, exit_time, entry_price, exit_price, leverage } = trade
  if (exit_time === null || exit_price === null || leverage === null) return null
  let low = Math.min(entry_price, exit_price)
  let high = Math.max(entry_price, exit_price)
  const from = lastAtOrBefore(bars.t, entry_time - 1) + 1
  const to = lastAtOrBefore(bars.t, exit_time - bars.timeframeMs) + 1
  for (let i = from; i < to; i++) {
    low = Math.min(low, bars.l[i]!)
    high = Math.max(high, bars.h[i]!)
  }
  const sign = signOf(side)
  const inR = (price: number): number => (sign * (price / entry_price - 1) * leverage) / baseRisk
  const [adverse, favourable] = sign === 1 ? [inR(low), inR(high)] : [inR(high), inR(low)]
  return { adverse, favourable }
}
