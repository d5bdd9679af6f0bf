import { toEpochDay, toIsoDate } from '#core/calendar.ts'
import { drawdowns, maxDrawdown } from '#core/figures/drawdown.ts'
import { byEntry, endOf } from '#core/replay/ledger.ts'
import type { Side } from '#core/replay/strategy.ts'
import { signOf, type Trade } from '#core/replay/trade.ts'
import { refuse } from '../table/lines.ts'
import type { TradeRecord } from './read-trades.ts'
import type { LedgerRules } from './statement.ts'

/** A trade whose times and prices are known; NaN for an amount that the file lacks, and for the exit price of an open one. */
export type ForeignTrade = TradeRecord &
  Pick<Trade, 'side' | 'entry_time' | 'entry_price' | 'exit_time'> &
  /** `pnl` is the result, `fees` what was paid, `funding` what was received, all in money. */
  Readonly<Record<'exit_price' | 'quantity' | 'pnl' | 'fees' | 'funding', number>> &
  /** What the prices give, the size of the position, and the value of the fills. */
  Readonly<Record<'gross' | 'notional' | 'turnover', number>>

/** What a move of the price gives. */
export const gainOf = (side: Side, quantity: number, from: number, to: number): number =>
  quantity * signOf(side) * (to - from)

/** A trade as a part of its account, and its costs as parts of its notional, as texts of a ledger. */
export type Size = Readonly<Record<string, string>>

/**
 * Leverage and result of each trade as fractions of the account at its entry, which is made up as the marking of a
 * ledger does it: what is realised, and the value of the open trades at the price of the entry; trades that enter at
 * one instant are sized on the same account. Throws `UnreadableFile` if the account is lost before.
 */
export function sizeTrades(
  trades: readonly ForeignTrade[],
  { capital, commission_bps, realised }: LedgerRules & Readonly<Record<'capital' | 'commission_bps', number>>,
): Size[] {
  const sized = new Array<Size>(trades.length)
  let equity = capital
  let open: ForeignTrade[] = []
  for (const i of byEntry(trades)) {
    const { row, entry_time, entry_price, exit_time, notional, pnl, fees, funding } = trades[i]!
    equity += profitOf(open.filter(other => endOf(other) <= entry_time))
    open = open.filter(other => endOf(other) > entry_time)
    const earlier = realised ? [] : open.filter(other => other.entry_time < entry_time)
    const worthOf = ({ side, quantity, ...other }: ForeignTrade): number =>
      gainOf(side, quantity, other.entry_price, entry_price) - (commission_bps / 1e4) * other.notional
    const base = earlier.reduce((sum, other) => sum + worthOf(other), equity)
    if (!(base > 0)) refuse(`expected an account above 0 at the entry, got ${base}: correct the capital`, row)
    const ended = { account_return: pnl / base, fees: fees / notional, funding: funding / notional }
    sized[i] = spelled({ leverage: notional / base, ...(exit_time === null ? {} : ended) })
    open.push(trades[i]!)
  }
  return sized
}

/** What is not known is blank. */
const spelled = (size: Readonly<Record<string, number>>): Size =>
  Object.fromEntries(
    Object.entries(size).map(([name, value]) => [name, Number.isFinite(value) ? String(value) : '']),
  )

const profitOf = (trades: readonly ForeignTrade[]): number =>
  trades.reduce((total, { pnl }) => total + pnl, 0)

/** By exit; of trades that end at one instant the later entry first, from which the drawdown of freqtrade follows. */
const closedOf = (trades: readonly ForeignTrade[]): ForeignTrade[] =>
  trades
    .filter(({ exit_time }) => exit_time !== null)
    .sort((a, b) => endOf(a) - endOf(b) || b.entry_time - a.entry_time)

/** Totals that the tool prints too, so that both can be compared: of the closed trades, and the open ones at the last price of the file. */
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

/** Daily returns: what trades that end on a UTC day earn, as a fraction of the account before it. From first entry to last exit. */
export function realisedReturns(trades: readonly ForeignTrade[], capital: number): [string, string][] {
  const closed = closedOf(trades)
  if (closed.length === 0) return []
  const byDay = Map.groupBy(closed, trade => toEpochDay(endOf(trade)))
  const first = toEpochDay(closed[byEntry(closed)[0]!]!.entry_time)
  const days = Array.from({ length: toEpochDay(endOf(closed.at(-1)!)) - first + 1 }, (_, i) => first + i)
  let equity = capital
  return days.map(day => {
    const [before, profit] = [equity, profitOf(byDay.get(day) ?? [])]
    equity += profit
    return [toIsoDate(day), String(profit / before)]
  })
}
