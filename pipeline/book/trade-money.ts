import { type EpochDay, toEpochDay } from '#core/calendar.ts'
import { drawdowns, maxDrawdown } from '#core/figures/drawdown.ts'
import type { Side } from '#core/replay/strategy.ts'
import { signOf } from '#core/replay/trade.ts'
import type { ReadTrades, TradeRecord } from './read-trades.ts'

/** A trade whose times and prices are known; NaN for an amount that the file lacks. */
export type ForeignTrade = {
  readonly row: number
  readonly side: Side
  readonly entry_time: number
  readonly entry_price: number
  /** NaN while it is open. */
  readonly exit_time: number
  readonly exit_price: number
  readonly quantity: number
  readonly pnl: number
  readonly commission: number
  readonly cumulative_pct: number
  readonly record: TradeRecord
}

/** A trade as a part of its account. */
export type AccountTrade = {
  /** Account equity at the entry, in money. */
  readonly base: number
  readonly leverage: number
  readonly account_return: number
}

type Account = {
  readonly capital: number
  /** The commission of a fill, a fraction of notional. */
  readonly feeRate: number
  /** Whether open trades are not valued, because they are of other instruments. */
  readonly realised: boolean
}

/**
 * Leverage and result of each trade as fractions of the account at its entry, which is made up as the marking of a
 * ledger does it: what is realised, and the value of the open trades at the price of the entry; trades that enter at
 * one instant are sized on the same account.
 */
export function sizeTrades(
  trades: readonly ForeignTrade[],
  { capital, feeRate, realised }: Account,
): AccountTrade[] {
  const sized = new Array<AccountTrade>(trades.length)
  let equity = capital
  let open: ForeignTrade[] = []
  for (const i of inOrder(trades)) {
    const trade = trades[i]!
    for (const other of open) if (endOf(other) <= trade.entry_time) equity += other.pnl
    open = open.filter(other => endOf(other) > trade.entry_time)
    const earlier = realised ? [] : open.filter(other => other.entry_time < trade.entry_time)
    const base = earlier.reduce((sum, other) => sum + valueAt(other, trade.entry_price, feeRate), equity)
    sized[i] = {
      base,
      leverage: (trade.quantity * trade.entry_price) / base,
      account_return: trade.pnl / base,
    }
    open.push(trade)
  }
  return sized
}

const endOf = ({ exit_time }: ForeignTrade): number =>
  Number.isNaN(exit_time) ? Number.POSITIVE_INFINITY : exit_time

/** The order in which a ledger is marked: by entry, then exit, then row. */
const inOrder = (trades: readonly ForeignTrade[]): number[] =>
  Array.from(trades.keys()).sort((a, b) => {
    const [one, other] = [trades[a]!, trades[b]!]
    return one.entry_time - other.entry_time || (endOf(one) === endOf(other) ? 0 : endOf(one) - endOf(other))
  })

const valueAt = ({ side, quantity, entry_price }: ForeignTrade, price: number, feeRate: number): number =>
  quantity * (signOf(side) * (price - entry_price) - feeRate * entry_price)

/** The result of a closed trade before costs. */
export const grossOf = ({ side, quantity, entry_price, exit_price }: ForeignTrade): number =>
  quantity * signOf(side) * (exit_price - entry_price)

/** The largest distance of a result from what prices and commission give, in basis points of notional. */
export function deviationOf(trades: readonly ForeignTrade[], commission_bps: number): number {
  const deviations = trades.map(trade => {
    const { quantity, entry_price, exit_price, pnl } = trade
    const expected = grossOf(trade) - (commission_bps / 10_000) * quantity * (entry_price + exit_price)
    return (10_000 * Math.abs(pnl - expected)) / (quantity * entry_price)
  })
  // That of an open trade is no number.
  return deviations.reduce((worst, each) => (each > worst ? each : worst), 0)
}

/** What the tool that made the trades prints too, so that both can be compared. */
export type Totals = ReturnType<typeof totalsOf>

/** Totals of trades in money: the closed ones, and the value of the open ones at the last price of the file. */
export function totalsOf(trades: readonly ForeignTrade[], capital: number) {
  const closed = trades.filter(({ exit_time }) => !Number.isNaN(exit_time))
  const sum = (of: readonly ForeignTrade[]): number => of.reduce((total, { pnl }) => total + pnl, 0)
  const wins = closed.filter(({ pnl }) => pnl > 0).length
  const net = sum(closed)
  return {
    trades: closed.length,
    open: trades.length - closed.length,
    wins,
    losses: closed.filter(({ pnl }) => pnl < 0).length,
    win_rate_pct: closed.length === 0 ? null : (100 * wins) / closed.length,
    net_profit: net,
    open_profit: sum(trades) - net,
    final_equity: capital + net,
    max_drawdown_pct: 100 * realisedDrawdown(closed, capital),
  }
}

/**
 * The daily returns of the account without the value of open trades: what the trades that end on a UTC day earn, as a
 * fraction of the account before it. Every day from the first entry to the last exit.
 */
export function realisedReturns(
  trades: readonly ForeignTrade[],
  capital: number,
): { day: EpochDay; ret: number }[] {
  const closed = trades.filter(({ exit_time }) => !Number.isNaN(exit_time))
  if (closed.length === 0) return []
  const byDay = new Map<EpochDay, number>()
  for (const { exit_time, pnl } of closed)
    byDay.set(toEpochDay(exit_time), (byDay.get(toEpochDay(exit_time)) ?? 0) + pnl)
  const first = toEpochDay(
    closed.reduce((time, { entry_time }) => Math.min(time, entry_time), Number.POSITIVE_INFINITY),
  )
  const days = Array.from({ length: Math.max(...byDay.keys()) - first + 1 }, (_, i) => first + i)
  let equity = capital
  return days.map(day => {
    const pnl = byDay.get(day) ?? 0
    const ret = pnl / equity
    equity += pnl
    return { day, ret }
  })
}

/** The deepest fall of the account from a peak, trade by trade in the order of the exits: a fraction from 0 down. */
function realisedDrawdown(closed: readonly ForeignTrade[], capital: number): number {
  const curve = new Float64Array(closed.length + 1)
  curve[0] = capital
  for (const [i, { pnl }] of closed.toSorted((a, b) => a.exit_time - b.exit_time).entries())
    curve[i + 1] = curve[i]! + pnl
  return maxDrawdown(drawdowns(curve))
}

/** Totals in a file are sums of the numbers beside them. */
const SUM_TOLERANCE = 1e-6

/** Why the totals of a file are not those of its trades, or null. */
export function explainTotals(
  trades: readonly ForeignTrade[],
  totals: Totals,
  stated: ReadTrades['stated'],
  capital: number,
): string | null {
  if (stated.trades !== null && stated.trades !== trades.length)
    return `expected the ${stated.trades} trades that the file states, got ${trades.length}: export the whole result`
  const profit = totals.net_profit + totals.open_profit
  if (stated.profit !== null && Math.abs(profit - stated.profit) > SUM_TOLERANCE * capital)
    return `expected the profit of ${stated.profit} that the file states, got trades with ${profit} in all`
  let sum = 0
  for (const { pnl, cumulative_pct, row } of trades) {
    sum += pnl
    // Printed with two decimals; sums of rounded amounts are a little off.
    if (Math.abs((100 * sum) / capital - cumulative_pct) > 0.0051 + (100 * 0.01 * trades.length) / capital)
      return `expected a capital by which the cumulative profit of row ${row}, ${sum.toFixed(2)}, is ${cumulative_pct} %, got ${capital}: correct --capital (capital:)`
  }
  return null
}
