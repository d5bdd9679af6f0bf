import { type EpochDay, toEpochDay } from '#core/calendar.ts'
import { drawdowns, maxDrawdown } from '#core/figures/drawdown.ts'
import { byEntry, endOf } from '#core/replay/ledger.ts'
import { signOf, type Trade } from '#core/replay/trade.ts'
import type { ReadTrades, TradeRecord } from './read-trades.ts'

/** A trade whose times and prices are known; NaN for an amount that the file lacks, and for the exit price of an open one. */
export type ForeignTrade = TradeRecord &
  Pick<Trade, 'side' | 'entry_time' | 'entry_price' | 'exit_time'> &
  /** `pnl` is the result, `fees` what was paid, `funding` what was received, all in money. */
  Readonly<
    Record<'exit_price' | 'quantity' | 'pnl' | 'gross' | 'fees' | 'funding' | 'cumulative_pct', number>
  >

/** A trade as a part of its account; `base` is the account equity at the entry, in money. */
export type AccountTrade = Readonly<Record<'base' | 'leverage' | 'account_return', number>>

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
  for (const i of byEntry(trades)) {
    const { entry_time, entry_price, quantity, pnl } = trades[i]!
    equity += profitOf(open.filter(other => endOf(other) <= entry_time))
    open = open.filter(other => endOf(other) > entry_time)
    const earlier = realised ? [] : open.filter(other => other.entry_time < entry_time)
    const worthOf = (other: ForeignTrade): number =>
      grossOf({ ...other, exit_price: entry_price }) - feeRate * other.quantity * other.entry_price
    const base = earlier.reduce((sum, other) => sum + worthOf(other), equity)
    sized[i] = { base, leverage: (quantity * entry_price) / base, account_return: pnl / base }
    open.push(trades[i]!)
  }
  return sized
}

/** What the prices give. */
export const grossOf = ({ side, quantity, entry_price, exit_price }: ForeignTrade): number =>
  quantity * signOf(side) * (exit_price - entry_price)

const profitOf = (trades: readonly ForeignTrade[]): number =>
  trades.reduce((total, { pnl }) => total + pnl, 0)

/** By exit; of trades that end at one instant the later entry first, from which the drawdown of freqtrade follows. */
const closedOf = (trades: readonly ForeignTrade[]): ForeignTrade[] =>
  trades
    .filter(({ exit_time }) => exit_time !== null)
    .sort((a, b) => endOf(a) - endOf(b) || b.entry_time - a.entry_time)

/** What the tool that made the trades prints too, so that both can be compared. */
export type Totals = ReturnType<typeof totalsOf>

/** Totals of trades in money: the closed ones, and the value of the open ones at the last price of the file. */
export function totalsOf(trades: readonly ForeignTrade[], capital: number) {
  const closed = closedOf(trades)
  const wins = closed.filter(({ pnl }) => pnl > 0).length
  const net = profitOf(closed)
  const curve = new Float64Array(closed.length + 1).fill(capital)
  for (const [i, { pnl }] of closed.entries()) curve[i + 1] = curve[i]! + pnl
  return {
    trades: closed.length,
    open: trades.length - closed.length,
    short: trades.filter(({ side }) => side === 'short').length,
    wins,
    losses: closed.filter(({ pnl }) => pnl < 0).length,
    win_rate_pct: closed.length === 0 ? null : (100 * wins) / closed.length,
    net_profit: net,
    open_profit: profitOf(trades) - net,
    final_equity: capital + net,
    // The deepest fall of the account from a peak, trade by trade in the order of the exits.
    max_drawdown_pct: 100 * maxDrawdown(drawdowns(curve)),
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
  const closed = closedOf(trades)
  if (closed.length === 0) return []
  const byDay = Map.groupBy(closed, trade => toEpochDay(endOf(trade)))
  const first = toEpochDay(closed[byEntry(closed)[0]!]!.entry_time)
  const days = Array.from({ length: toEpochDay(endOf(closed.at(-1)!)) - first + 1 }, (_, i) => first + i)
  let equity = capital
  return days.map(day => {
    const before = equity
    equity += profitOf(byDay.get(day) ?? [])
    return { day, ret: profitOf(byDay.get(day) ?? []) / before }
  })
}

/** Totals in a file are sums of the numbers beside them. */
const SUM_TOLERANCE = 1e-6

/** Why the totals of a file are not those of its trades, or null. */
export function explainTotals(
  trades: readonly ForeignTrade[],
  stated: ReadTrades['stated'],
  capital: number,
): string | null {
  const { total_trades, profit_total_abs } = stated
  if (total_trades !== null && total_trades !== trades.length)
    return `expected the ${total_trades} trades that the file states, got ${trades.length}: export the whole result`
  const profit = profitOf(trades)
  if (profit_total_abs !== null && Math.abs(profit - profit_total_abs) > SUM_TOLERANCE * capital)
    return `expected the profit of ${profit_total_abs} that the file states, got trades with ${profit} in all`
  let sum = 0
  for (const { pnl, cumulative_pct, row } of trades) {
    sum += pnl
    // Printed with two decimals; sums of rounded amounts are a little off.
    if (Math.abs((100 * sum) / capital - cumulative_pct) > 0.0051 + (100 * 0.01 * trades.length) / capital)
      return `expected a capital by which the cumulative profit of row ${row}, ${sum.toFixed(2)}, is ${cumulative_pct} %, got ${capital}: correct --capital (capital:)`
  }
  return null
}
