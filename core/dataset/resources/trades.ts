import { DAY_MS } from '#core/calendar.ts'
import { FORMATS } from '#core/contract/parameters.ts'
import { TRADE_RESULTS } from '#core/contract/payloads/changes.ts'
import { list, namedRecord, number, percent, word } from '#core/contract/payloads/field.ts'
import { liveWord } from '#core/contract/payloads/live.ts'
import { tickRounder, toPercent } from '#core/contract/rounding.ts'
import { liveEntries } from '#core/figures/live-figures.ts'
import { EXIT_REASONS } from '#core/replay/trade.ts'
import { instantColumn, numberColumn, type Table, textColumn } from '../render/table.ts'
import { type StrategyData, tradeResult, wordAt } from '../snapshot.ts'
import { datasetRoute, findStrategy } from './resource.ts'
import { positionsOf } from './risk.ts'

const TRADES_NOTE =
  'Outcomes of closed trades. return_pct is the return per unit of notional after all costs, or after commission alone if the ledger has no other costs; result is the sign of what the trade did to the equity. Times are epoch milliseconds UTC. A position that is still open is in the returns and the curve, not here. Leverage and stops are not here either, and can be estimated from returns and prices; those of sealed signals are in their openings.'

export const tradeList = () =>
  list(
    'Closed trades, by entry time and then exit time.',
    namedRecord('Trade', {
      side: word('Direction of the position.', ['long', 'short']),
      entry_time: number('Instant of the entry, epoch milliseconds UTC.'),
      entry_price: number('Fill price of the entry, rounded to the tick of the instrument.'),
      exit_time: number('Instant of the exit, epoch milliseconds UTC.'),
      exit_price: number('Fill price of the exit, rounded to the tick of the instrument.'),
      duration_days: number('Exit minus entry, days, 6 decimals.'),
      return_pct: percent(
        'Return per unit of notional after all costs; after commission alone if the ledger has no other costs.',
      ),
      result: word('Sign of what the trade did to the equity, as the win rate counts it.', TRADE_RESULTS),
      exit_reason: word('Coarse category of the exit.', EXIT_REASONS),
      live: liveWord(),
    }),
  )

export const trades = datasetRoute({
  id: 'trades',
  path: '/v1/strategies/{sid}/trades',
  title: 'Trades',
  about: 'The outcomes of all closed trades.',
  formats: FORMATS,
  isRiskFree: true,
  data: tradeList,
  handler: (snapshot, params) => {
    const table = tradeTable(findStrategy(snapshot, params.sid), snapshot.dataset.seals?.opened_to ?? null)
    return { table, meta: { count: table.rows, note: TRADES_NOTE } }
  },
})

function tradeTable(strategy: StrategyData, opened_to: string | null): Table {
  const { trades, tick_size, live } = strategy
  const words = live === null ? [] : liveEntries({ trades: positionsOf(strategy), live, opened_to })
  const toTick = tickRounder(tick_size)
  return {
    kind: 'table',
    rows: trades.entry_time.length,
    columns: [
      textColumn('side', row => wordAt(trades.side, row)),
      instantColumn('entry_time', row => trades.entry_time[row]!),
      numberColumn('entry_price', row => toTick(trades.entry_price[row]!)),
      instantColumn('exit_time', row => trades.exit_time[row]!),
      numberColumn('exit_price', row => toTick(trades.exit_price[row]!)),
      numberColumn('duration_days', row =>
        toPercent((trades.exit_time[row]! - trades.entry_time[row]!) / DAY_MS),
      ),
      numberColumn('return_pct', row => toPercent(100 * trades.notional_return[row]!)),
      textColumn('result', row => tradeResult(trades.account_return[row]!)),
      textColumn('exit_reason', row => wordAt(trades.exit_reason, row)),
      { ...textColumn('live', row => words[row] ?? ''), has: row => words[row] != null, isNullable: true },
    ],
  }
}
