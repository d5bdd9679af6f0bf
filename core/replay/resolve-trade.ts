import { type Bars, type Funding, lastAtOrBefore } from './bars.ts'
import { type Costs, commissionRate, signOf, slippagePrice, type Trade } from './trade.ts'

/** A trade with every value that is known or can be derived. */
export type ResolvedTrade = Trade & {
  /**
   * Net return per unit of notional: account return / leverage; from prices and commission if the leverage is
   * unknown. Null while the trade is open.
   */
  readonly return_per_notional: number | null
}

/** A trade that is over: its exit and its results are known. */
export type ClosedTrade = ResolvedTrade &
  Readonly<Record<'exit_time' | 'exit_price' | 'account_return' | 'return_per_notional', number>>

/** The closed trades by entry, then exit time: the order in which they are published. */
export const closedTrades = (trades: readonly ResolvedTrade[]): ClosedTrade[] =>
  trades.filter(isClosed).sort((a, b) => a.entry_time - b.entry_time || a.exit_time - b.exit_time)

const isClosed = (trade: ResolvedTrade): trade is ClosedTrade =>
  trade.exit_time !== null &&
  trade.exit_price !== null &&
  trade.account_return !== null &&
  trade.return_per_notional !== null

export type TradeTerms = {
  /** Commission of one side, a fraction of notional. */
  readonly feeRate: number
  readonly baseRisk: number
  readonly maxLeverage: number
  readonly funding: FundingSums
}

/**
 * A leverage is inferred from the account return only if the return per notional is at least this far from 0.
 * At 0.01, an unknown basis point of costs (a rebate, slippage) changes the leverage by one percent; nearer
 * to 0 the quotient is dominated by such errors.
 */
export const INFERENCE_MIN_RETURN = 0.01

/**
 * The leverage of a trade is, in this order: the ledger's; `baseRisk * entry / |entry - stop|`; the account
 * return over the return per notional, if that is well conditioned (`INFERENCE_MIN_RETURN`) and the account
 * was not ruined. A derived leverage that is not above 0, or above the cap of the strategy, is discarded.
 *
 * The account return is the ledger's, or leverage x return per notional from prices, commission and funding, or what the
 * ledger states of these two. It is never below -1, because an account cannot lose more than it has; a trade that loses
 * everything is a liquidation, and a liquidation returns exactly -1.
 *
 * Returns the end of an error sentence if a closed trade has neither an account return nor a leverage to
 * compute one.
 */
export function resolveTrade(trade: Trade, terms: TradeTerms): ResolvedTrade | string {
  const perNotional = returnPerNotional(trade, terms)
  const given = givenReturn(trade)
  const leverage = findLeverage(trade, terms, given, perNotional)
  const computed = leverage === null || perNotional === null ? null : Math.max(-1, leverage * perNotional)
  const accountReturn = given ?? computed
  if (trade.exit_time !== null && accountReturn === null) return describeUnknown(trade, terms)
  return {
    ...trade,
    exit_reason: accountReturn === -1 ? 'liquidation' : trade.exit_reason,
    leverage,
    account_return: accountReturn,
    return_per_notional:
      leverage === null || accountReturn === null ? pricesAlone(trade, terms) : accountReturn / leverage,
  }
}

function givenReturn({ exit_time, exit_reason, account_return }: Trade): number | null {
  if (exit_time === null) return null
  if (exit_reason === 'liquidation') return -1
  return account_return === null ? null : Math.max(-1, account_return)
}

function findLeverage(
  trade: Trade,
  terms: TradeTerms,
  accountReturn: number | null,
  perNotional: number | null,
): number | null {
  if (trade.leverage !== null) return trade.leverage
  const byStop = trade.stop === null ? 0 : leverageFromStop(trade, trade.stop, terms)
  if (byStop > 0 && byStop <= terms.maxLeverage) return byStop
  const byReturn = leverageFromReturn(accountReturn, perNotional)
  return byReturn > 0 && byReturn <= terms.maxLeverage ? byReturn : null
}

// 0 if the quotient would be meaningless. A return of -1 is a floor, not a measurement.
function leverageFromReturn(accountReturn: number | null, perNotional: number | null): number {
  if (accountReturn === null || perNotional === null || accountReturn === -1) return 0
  return Math.abs(perNotional) < INFERENCE_MIN_RETURN ? 0 : accountReturn / perNotional
}

const leverageFromStop = ({ entry_price }: Trade, stop: number, { baseRisk }: TradeTerms): number =>
  (baseRisk * entry_price) / Math.abs(entry_price - stop)

/** Net return per unit of notional from prices, both commissions and funding; null while open. */
export function returnPerNotional(
  trade: Trade,
  { feeRate, funding }: Pick<TradeTerms, 'feeRate' | 'funding'>,
): number | null {
  const beforeFunding = pricesAlone(trade, { feeRate })
  if (beforeFunding === null || trade.exit_time === null) return null
  return beforeFunding + fundingOf(trade, trade.exit_time, funding)
}

function pricesAlone(trade: Trade, { feeRate }: Pick<TradeTerms, 'feeRate'>): number | null {
  if (trade.exit_price === null) return null
  const ratio = trade.exit_price / trade.entry_price
  return signOf(trade.side) * (ratio - 1) - (trade.fees ?? feeRate * (1 + ratio))
}

/** The funding that a trade received, a fraction of the notional at entry: as the ledger states it, or by the payments. */
export function fundingOf(trade: Trade, exitTime: number, sums: FundingSums): number {
  if (trade.funding !== null) return trade.funding
  const paid = paidUpTo(sums, exitTime) - paidUpTo(sums, trade.entry_time)
  return -(signOf(trade.side) * paid) / trade.entry_price
}

function describeUnknown(trade: Trade, terms: TradeTerms): string {
  if (trade.stop === null)
    return 'has neither leverage, stop nor account_return; give at least one of the three'
  const leverage = leverageFromStop(trade, trade.stop, terms)
  return (
    `has its stop ${trade.stop} so near to its entry ${trade.entry_price} that the leverage would be ` +
    `${leverage}, above the cap of ${terms.maxLeverage}; give leverage or account_return`
  )
}

type FundingSums = ReturnType<typeof sumFunding>

/** What fills and positions are charged: commission of a side, a fraction of notional; slippage of a fill, a price; funding. */
export const chargesOf = (bars: Bars, costs: Costs, funding: Funding | null) => ({
  feeRate: commissionRate(costs),
  slippage: slippagePrice(costs),
  funding: sumFunding(bars, funding),
})

/**
 * Funding as running sums of rate x price: what one unit of the base asset, held long, has paid up to each
 * event, in the quote currency, at the last close known then. Before the first close there is no price and
 * nothing is charged, because no position can be open. O(events + bars): both ascend.
 */
export function sumFunding(bars: Bars, funding: Funding | null) {
  if (funding === null) return { t: new Float64Array(0), paid: new Float64Array(0) }
  const paid = new Float64Array(funding.t.length)
  let sum = 0
  let closed = 0 // bars that had closed by the event
  for (let i = 0; i < paid.length; i++) {
    while (closed < bars.t.length && bars.t[closed]! + bars.timeframeMs <= funding.t[i]!) closed++
    if (closed > 0) sum += funding.rate[i]! * bars.c[closed - 1]!
    paid[i] = sum
  }
  return { t: funding.t, paid }
}

/** What one unit, held long, has paid up to and including `ms`. O(log events). */
export function paidUpTo({ t, paid }: FundingSums, ms: number): number {
  const i = lastAtOrBefore(t, ms)
  return i < 0 ? 0 : paid[i]!
}
