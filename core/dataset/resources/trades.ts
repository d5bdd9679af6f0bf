import { DAY_MS } from '#core/calendar.ts'
import { decimalsOf, toPercent, toPrice } from '#core/contract/rounding.ts'
import { instantColumn, numberColumn, type Table, wordColumn } from '../render/table.ts'
import { type StrategyData, tradeResult, wordAt } from '../snapshot.ts'
import type { Resource } from './answer.ts'
import { findStrategy } from './find-strategy.ts'
import { strategyLinks } from './links.ts'
import { TRADES_NOTE } from './notes.ts'

/** `/v1/strategies/{sid}/trades`: the outcomes of the closed trades. */
export const trades: Resource = (snapshot, params) => {
  const table = tradeTable(findStrategy(snapshot, params.sid))
  return {
    data: table,
    table,
    meta: { count: table.rows, note: TRADES_NOTE },
    links: strategyLinks('trades', params),
  }
}

function tradeTable({ trades: ledger, tick_size }: StrategyData): Table {
  const decimals = decimalsOf(tick_size)
  const {
    side,
    entry_time,
    entry_price,
    exit_time,
    exit_price,
    exit_reason,
    notional_return,
    account_return,
  } = ledger
  return {
    kind: 'table',
    rows: entry_time.length,
    columns: [
      wordColumn('side', row => wordAt(side, row)),
      instantColumn('entry_time', row => entry_time[row]!),
      numberColumn('entry_price', row => toPrice(entry_price[row]!, decimals)),
      instantColumn('exit_time', row => exit_time[row]!),
      numberColumn('exit_price', row => toPrice(exit_price[row]!, decimals)),
      numberColumn('duration_days', row => toPercent((exit_time[row]! - entry_time[row]!) / DAY_MS)),
      numberColumn('return_pct', row => toPercent(100 * notional_return[row]!)),
      wordColumn('result', row => tradeResult(account_return[row]!)),
      wordColumn('exit_reason', row => wordAt(exit_reason, row)),
    ],
  }
}
