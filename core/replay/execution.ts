// What costs took of the trades, and how far prices went against them and for them.
import type { CostData, Excursion, TradeCosts } from '#core/figures/execution.ts'
import { type Bars, type Funding, lastAtOrBefore } from './bars.ts'
import { type LedgerInput, markLedger } from './marks.ts'
import { chargesOf, paidUpTo, type ResolvedTrade } from './resolve-trade.ts'
import { signOf, type Trade } from './trade.ts'

type CostInput = Omit<LedgerInput, 'trades'> & { readonly trades: readonly ResolvedTrade[] }

/**
 * What the costs took of each closed trade, and the account at twice the costs; null if the leverage of a trade is
 * unknown.
 *
 * A trade of leverage L holds `q = L / entry price` of the base asset for each unit of account equity at its entry. Its
 * fees are `q f (entry + exit price)`, its slippage `2 q S`, its funding `q` x what one unit paid, if long; fees and
 * funding that the ledger states count L times. Twice the costs take the same once more from its result, while q stays:
 * the entry is S worse, so its leverage changes with its price. Until the exit the ledger is marked as always, with
 * doubled commission and funding.
 */
export function costData({ trades, ...market }: CostInput): CostData | null {
  const { bars, funding, costs } = market
  if (trades.some(({ leverage }) => leverage === null)) return null
  const charges = chargesOf(bars, costs, funding)
  const parts = trades.map(trade => costsOf(trade, charges))
  const { daily } = markLedger({
    ...market,
    trades: trades.map((trade, i) => atTwice(trade, parts[i] ?? null, charges.slippage)),
    costs: { ...costs, commission_bps_per_side: 2 * costs.commission_bps_per_side },
    funding: funding === null ? null : doubled(funding),
  })
  return { trades: parts.filter(part => part !== null), doubled: daily }
}

/** Null while the trade is open. */
function costsOf(trade: ResolvedTrade, { feeRate, slippage, funding }: ReturnType<typeof chargesOf>) {
  const { side, entry_time, exit_time, entry_price, exit_price, leverage, account_return } = trade
  if (exit_time === null || exit_price === null || leverage === null || account_return === null) return null
  const quantity = leverage / entry_price
  const paid = paidUpTo(funding, exit_time) - paidUpTo(funding, entry_time)
  return {
    result: account_return,
    fees: trade.fees === null ? quantity * feeRate * (entry_price + exit_price) : leverage * trade.fees,
    slippage: quantity * 2 * slippage,
    funding: trade.funding === null ? quantity * signOf(side) * paid : -leverage * trade.funding,
  }
}

/** A price that slippage of more than the whole would leave. */
const LEAST_PRICE = 1e-9

function atTwice(trade: ResolvedTrade, parts: TradeCosts | null, slippage: number): Trade {
  const { side, entry_price, leverage } = trade
  const entry = Math.max(entry_price + signOf(side) * slippage, entry_price * LEAST_PRICE)
  return {
    ...trade,
    entry_price: entry,
    leverage: leverage === null ? null : leverage * (entry / entry_price),
    account_return: parts === null ? null : parts.result - parts.fees - parts.slippage - parts.funding,
  }
}

const doubled = (funding: Funding): Funding => ({ ...funding, rate: funding.rate.map(rate => 2 * rate) })

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
