import type { TradeColumns } from '#core/dataset/snapshot.ts'
import { EXIT_WORDS, SIDES } from '#core/dataset/snapshot-files.ts'
import type { TradeOutcome } from '#core/figures/trade-statistics.ts'
import type { ResolvedTrade } from '#core/replay/resolve-trade.ts'

/** A trade that is over: its exit and its results are known. */
export type ClosedTrade = ResolvedTrade & {
  readonly exit_time: number
  readonly exit_price: number
  readonly account_return: number
  readonly return_per_notional: number
}

/** The closed trades by entry, then exit time: the order in which they are published. */
export const closedTrades = (trades: readonly ResolvedTrade[]): ClosedTrade[] =>
  trades.filter(isClosed).sort((a, b) => a.entry_time - b.entry_time || a.exit_time - b.exit_time)

const isClosed = (trade: ResolvedTrade): trade is ClosedTrade =>
  trade.exit_time !== null &&
  trade.exit_price !== null &&
  trade.account_return !== null &&
  trade.return_per_notional !== null

/** What the trade statistics are made from. */
export const toOutcomes = (trades: readonly ClosedTrade[]): TradeOutcome[] =>
  trades.map(({ side, entry_time, exit_time, account_return }) => ({
    side,
    entry_time,
    exit_time,
    account_return,
  }))

/** The columns of the snapshot; what is unknown is NaN. */
export function toTradeColumns(trades: readonly ClosedTrade[]): TradeColumns {
  const floats = (at: (trade: ClosedTrade) => number | null): Float64Array =>
    Float64Array.from(trades.map(trade => at(trade) ?? Number.NaN))
  return {
    side: { codes: Uint8Array.from(trades, ({ side }) => SIDES.indexOf(side)), words: SIDES },
    entry_time: floats(trade => trade.entry_time),
    entry_price: floats(trade => trade.entry_price),
    exit_time: floats(trade => trade.exit_time),
    exit_price: floats(trade => trade.exit_price),
    exit_reason: { codes: Uint8Array.from(trades, exitCode), words: EXIT_WORDS },
    notional_return: floats(trade => trade.return_per_notional),
    account_return: floats(trade => trade.account_return),
    leverage: floats(trade => trade.leverage),
    stop: floats(trade => trade.stop),
  }
}

/** A ledger may close a trade without saying why: then it was the strategy's own signal. */
const exitCode = ({ exit_reason }: ClosedTrade): number => EXIT_WORDS.indexOf(exit_reason ?? 'signal')
