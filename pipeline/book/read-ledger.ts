import { byEntry, endOf, findOverlaps } from '#core/replay/ledger.ts'
import type { Trade } from '#core/replay/trade.ts'
import type { Ledger } from './book.ts'
import { fieldProblems } from './field.ts'
import type { Columns } from './header.ts'
import { spellMoment } from './moment.ts'
import type { Reading } from './reading.ts'
import { readTable } from './table.ts'
import { explainTrade, tradeSchema, tradeShape } from './trade-row.ts'

const ALWAYS = ['side', 'entry_time', 'entry_price', 'exit_time', 'exit_price', 'exit_reason']

/** A ledger that is marked: one of the optional columns gives each trade's weight in the account. */
const MARKED: Columns = {
  required: ALWAYS,
  optional: ['leverage', 'stop', 'account_return'],
  needsOptional: true,
  mayBeEmpty: true,
}

/** A ledger beside reported returns: its account returns serve the trade statistics, and nothing is marked. */
const REPORTED: Columns = {
  required: [...ALWAYS, 'account_return'],
  optional: ['leverage', 'stop'],
  needsOptional: false,
  mayBeEmpty: true,
}

export type LedgerRules = { readonly allowOverlap: boolean; readonly besideReturns: boolean }

/**
 * Reads a ledger: a trade a row, the rows in any order; the trades come by entry, then exit time. A header without
 * rows is a strategy that has not traded yet.
 */
export async function readLedger(reading: Reading, path: string, rules: LedgerRules): Promise<Ledger> {
  const columns = rules.besideReturns ? REPORTED : MARKED
  const names = [...columns.required, ...columns.optional]
  const trades: Trade[] = []
  const rows: number[] = []

  await readTable(reading, path, columns, (fields, row) => {
    const record = Object.fromEntries(names.map((name, i) => [name, fields[i]]))
    const trade = tradeSchema.safeParse(record).data
    const messages = trade === undefined ? explainFields(record) : explainTrade(trade, rules.besideReturns)
    for (const message of messages) reading.problems.add({ file: path, row, message })
    if (trade === undefined) return
    trades.push(trade)
    rows.push(row)
  })
  if (!rules.allowOverlap) reportOverlaps(reading, path, trades, rows)
  const order = byEntry(trades)
  return { path, trades: order.map(i => trades[i]!), rows: order.map(i => rows[i]!) }
}

const explainFields = (record: Readonly<Record<string, unknown>>): string[] =>
  fieldProblems(tradeShape, record).map(({ key, message }) => `${key}: ${message}`)

/** The rule is the marking's own; here it is told by the rows of the file. */
function reportOverlaps(
  reading: Reading,
  path: string,
  trades: readonly Trade[],
  rows: readonly number[],
): void {
  for (const { index, other } of findOverlaps(trades)) {
    const end = endOf(trades[other]!)
    const until = end === Number.POSITIVE_INFINITY ? 'still open' : `open until ${spellMoment(end)}`
    const message =
      `entry_time: expected one position at a time, got an entry at ${spellMoment(trades[index]!.entry_time)} while ` +
      `the trade of row ${rows[other]} is ${until}; where that is meant, give the strategy allow_overlap: true`
    reading.problems.add({ file: path, row: rows[index]!, message })
  }
}
