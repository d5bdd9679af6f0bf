import { DAY_MS } from '#core/calendar.ts'
import { decimalsOf, toPercent, toPrice } from '#core/contract/rounding.ts'
import { instantColumn, numberColumn, type Table, wordColumn } from '../render/table.ts'
import { type StrategyData, tradeResult, wordAt } from '../snapshot.ts'
import { findStrategy, type Resource, strategyLinks } from './resource.ts'

const TRADES_NOTE =
  'Outcomes of closed trades. return_pct is the return per unit of notional after all costs, or after commission alone where the ledger tells no more; result is the sign of what the trade did to the equity. Times are epoch milliseconds UTC. The trade that is still open is in the returns and the curve, not here.'

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
