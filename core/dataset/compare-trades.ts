import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import {
  type Change,
  MOST_LISTED,
  type RestatedTrade,
  type StrategyChanges,
} from '#core/contract/payloads/changes.ts'
import { decimalsOf, toPercent, toPrice } from '#core/contract/rounding.ts'
import { type StrategyData, wordAt } from './snapshot.ts'
import { type TradeResult, tradeResult } from './trade-result.ts'

/** A trade as it is published. */
type PublishedTrade = {
  readonly side: string
  readonly entry_time: number
  readonly exit_time: number
  readonly entry_price: number
  readonly exit_price: number
  readonly return_pct: number
  readonly result: TradeResult
  readonly exit_reason: string
}

/**
 * What the ledger of `after` adds and alters. A trade that closed after the old window is appended, wherever it stands
 * in the order; one that came or went before that alters history.
 */
export function compareTrades(before: StrategyData, after: StrategyData): StrategyChanges['trades'] {
  const closed = closedBy(before)
  const [old, now] = [tradesByKey(before), tradesByKey(after)]
  const restated: RestatedTrade[] = []
  let appended = 0
  for (const [key, trade] of now) {
    const was = old.get(key)
    if (was !== undefined) addIfChanged(restated, trade, differences(was, trade))
    else if (trade.exit_time >= closed) appended++
    else addIfChanged(restated, trade, [{ field: 'trade', old: null, new: trade }])
  }
  for (const [key, trade] of old) {
    if (!now.has(key)) addIfChanged(restated, trade, [{ field: 'trade', old: trade, new: null }])
  }
  restated.sort((a, b) => a.exit_time - b.exit_time)
  return { appended, restated_count: restated.length, restated: restated.slice(0, MOST_LISTED) }
}

/** The instant at which the published window of a strategy ends. */
const closedBy = ({ window }: StrategyData): number =>
  window.to === null ? Number.NEGATIVE_INFINITY : (parseIsoDate(window.to)! + 1) * DAY_MS

/** Trades of the same side and times are told apart by their order. */
function tradesByKey(strategy: StrategyData): Map<string, PublishedTrade> {
  const byKey = new Map<string, PublishedTrade>()
  for (let row = 0; row < strategy.trades.entry_time.length; row++) {
    const trade = publishedTrade(strategy, row)
    const key = `${trade.side} ${trade.entry_time} ${trade.exit_time}`
    let twin = 0
    while (byKey.has(`${key} ${twin}`)) twin++
    byKey.set(`${key} ${twin}`, trade)
  }
  return byKey
}

function publishedTrade({ trades, tick_size }: StrategyData, row: number): PublishedTrade {
  const decimals = decimalsOf(tick_size)
  return {
    side: wordAt(trades.side, row),
    entry_time: trades.entry_time[row]!,
    exit_time: trades.exit_time[row]!,
    entry_price: toPrice(trades.entry_price[row]!, decimals),
    exit_price: toPrice(trades.exit_price[row]!, decimals),
    return_pct: toPercent(100 * trades.notional_return[row]!),
    result: tradeResult(trades.account_return[row]!),
    exit_reason: wordAt(trades.exit_reason, row),
  }
}

const COMPARED = ['entry_price', 'exit_price', 'return_pct', 'result', 'exit_reason'] as const

const differences = (old: PublishedTrade, now: PublishedTrade): Change[] =>
  COMPARED.filter(field => old[field] !== now[field]).map(field => ({
    field,
    old: old[field],
    new: now[field],
  }))

function addIfChanged(restated: RestatedTrade[], trade: PublishedTrade, changes: Change[]): void {
  if (changes.length === 0) return
  const { side, entry_time, exit_time } = trade
  restated.push({ side, entry_time, exit_time, changes })
}
