import { from } from 'arquero'
import { z } from 'zod'
import type { Side } from '#core/replay/strategy.ts'
import { got, listed } from '../book/field.ts'
import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { UnreadableFile } from '../table/lines.ts'
import { onlyList, type PickRows } from '../table/rows.ts'
import type { Cell } from './format.ts'
import { parseForeignDecimal } from './number.ts'
import { type ReadTable, readForeign } from './read-table.ts'
import type { Tally } from './repair.ts'
import type { LedgerSpec } from './statement.ts'
import { LIST_OF_TRADES, tradesKind } from './trade-formats.ts'

/** A trade, or a row of a list of trades, as its file has it: texts by role. */
export type TradeRecord = { readonly row: number; readonly cell: Cell }

export type ReadTrades = {
  readonly file: ReadTable
  readonly records: readonly TradeRecord[]
  /** What the file says of the whole test; null for what it does not say. */
  readonly stated: Omit<FreqtradeResult, 'trades'>
}

const amount = z.number().nullable().catch(null)
const freqtradeResult = z.object({
  trades: z.array(z.unknown()),
  ...{ starting_balance: amount, total_trades: amount, profit_total_abs: amount },
})
type FreqtradeResult = z.infer<typeof freqtradeResult>

/** Reads the trades of any known file. Null if there is a problem; all are reported. */
export async function readTrades(
  reading: Reading,
  { path: [path = ''], realised, ...statement }: LedgerSpec & { readonly realised: boolean },
  tally: Tally,
): Promise<ReadTrades | null> {
  const rows: TradeRecord[] = []
  let stated: ReadTrades['stated'] = { starting_balance: null, total_trades: null, profit_total_abs: null }
  const pick: PickRows = document => {
    const result = onlyResult(document)
    stated = result ?? stated
    const added = realised ? -1 : (result?.trades.findIndex(hasTwoEntries) ?? -1)
    if (added >= 0) throw new UnreadableFile(AVERAGED, added + 1)
    return result?.trades ?? onlyList(document)
  }
  const file = await readForeign(reading, path, tradesKind, { statement, tally, pick }, (cell, row) => {
    rows.push({ row, cell })
  })
  const report = reporterOf(reading, path)
  // What does not fit together follows from a row that cannot be read, and sums from trades that are not whole.
  if (file === null || reading.problems.has(path)) return null
  if (file.kind !== LIST_OF_TRADES) return { file, records: rows, stated }
  const pairs = pairTrades(rows, report)
  if (reading.problems.has(path)) return null
  const records = checkSums(pairs, report)
  return reading.problems.has(path) ? null : { file, records, stated }
}

/** Whether a trade of freqtrade has several orders that opened it. */
const hasTwoEntries = (trade: unknown): boolean => {
  const { data } = z.object({ orders: z.array(z.object({ ft_is_entry: z.boolean() })) }).safeParse(trade)
  return (data?.orders ?? []).filter(order => order.ft_is_entry).length > 1
}

const AVERAGED =
  'expected trades of one entry each, got one of several (position adjustment), whose price is an average: take the account as reported returns with --realised'

/** The result of the one strategy of a freqtrade backtest; null for another document. */
function onlyResult(document: unknown): FreqtradeResult | null {
  const { data } = z.object({ strategy: z.record(z.string(), freqtradeResult) }).safeParse(document)
  if (data === undefined) return null
  const names = Object.keys(data.strategy)
  if (names.length === 1) return data.strategy[names[0]!]!
  const found = `${names.length} (${listed(names)})`
  throw new UnreadableFile(`expected the result of one strategy, got ${found}: export one`, null)
}

/** The rows of a trade in a list of trades; while it is open, it has no exit. */
type PairedTrade = {
  readonly trade: string
  readonly side: Side
  readonly entry: TradeRecord
  readonly exit: TradeRecord | null
}

const half = z.custom<TradeRecord>().optional()
const pairSchema = z.object({ trade: z.string(), side: z.enum(['long', 'short']), entry: half, exit: half })

/** Joins the two rows of each trade, an entry and an exit. */
export function pairTrades(rows: readonly TradeRecord[], report: Report): PairedTrade[] {
  const halves = new Map<string, object>()
  /** Trades whose exit needs not be there, and those of which a row cannot be read. */
  const [alone, unread] = [new Set<string>(), new Set<string>()]
  for (const record of rows) {
    const { row, cell } = record
    const [, kind = '', side = ''] = /^(entry|exit) (long|short)$/i.exec(cell('type')) ?? []
    const key = `${kind} ${cell('trade')}`.toLowerCase()
    if (kind === '') {
      report(`type: expected Entry or Exit long or short, got ${got(cell('type'))}`, row)
      unread.add(cell('trade'))
    } else if (halves.has(key)) report(`expected one ${kind} of trade ${cell('trade')}, got another`, row)
    // An old list has an open trade with a blank exit.
    else if (/exit/i.test(kind) && cell('time') === '' && cell('price') === '') alone.add(cell('trade'))
    else halves.set(key, { trade: cell('trade'), side: side.toLowerCase(), kind: kind.toLowerCase(), record })
  }
  if (halves.size === 0) return []
  const end = rows.reduce((latest, { cell }) => (cell('time') > latest ? cell('time') : latest), '')
  const pairs = from([...halves.values()])
    .groupby('trade', 'side')
    .pivot('kind', 'record')
    .objects()
  const joined = pairs.flatMap(pair => {
    const { trade, side, entry, exit } = pairSchema.parse(pair)
    if (unread.has(trade)) return []
    if (entry === undefined || (exit === undefined && !alone.has(trade))) {
      const [lacking, other] = entry === undefined ? ['an entry', 'exit'] : ['an exit', 'entry']
      const { row } = entry ?? exit ?? {}
      report(`expected ${lacking} of trade ${trade}, got its ${other} alone: export the whole list`, row)
      return []
    }
    // An order may have the name Open too, but only an open trade is listed with the last time of the list.
    const isOpen = exit === undefined || (/^open$/i.test(exit.cell('signal')) && exit.cell('time') === end)
    return [{ trade, side, entry, exit: isOpen ? null : exit }]
  })
  reportOpenAmongClosed(joined, report)
  return joined
}

/** Trades are numbered as they end, so that only open ones follow an open one. */
function reportOpenAmongClosed(pairs: readonly PairedTrade[], report: Report): void {
  const lastClosed = pairs
    .filter(({ exit }) => exit !== null)
    .reduce((last, { trade }) => Math.max(last, Number(trade)), Number.NEGATIVE_INFINITY)
  for (const { trade, entry, exit } of pairs)
    if (exit === null && Number(trade) < lastClosed)
      report(
        `expected an exit of trade ${trade}, because trade ${lastClosed} after it is closed, got an open trade: export the whole list, and give no order the name Open`,
        entry.row,
      )
}

/** Amounts have two decimals, so that a sum of two is off by at most this. */
const CENTS = 0.021

/**
 * Checks that no part of a list is missing: trades are numbered from 1 without a gap, both rows of one have the same
 * profit, and each cumulative profit is the one before and the trade's.
 */
function checkSums(pairs: readonly PairedTrade[], report: Report): TradeRecord[] {
  const sorted = pairs.toSorted((a, b) => Number(a.trade) - Number(b.trade))
  return sorted.map(({ trade, side, entry, exit }, i) => {
    const { row, cell } = entry
    const isSame = ['pnl', 'cumulative'].every(role => cell(role) === (exit ?? entry).cell(role))
    const before = sorted[i - 1]
    const sum =
      parseForeignDecimal(before?.entry.cell('cumulative') ?? '0') + parseForeignDecimal(cell('pnl'))
    const number = Number(before?.trade ?? 0) + 1
    if (Number(trade) !== number)
      report(`expected trade ${number}, got trade ${got(trade)}: export the whole list`, row)
    else if (!isSame)
      report(`expected the same profit on both rows of trade ${trade}, got two: the file may be cut off`, row)
    else if (cell('cumulative') !== '' && !(Math.abs(parseForeignDecimal(cell('cumulative')) - sum) <= CENTS))
      report(
        `expected a cumulative profit of ${sum.toFixed(2)} after trade ${trade}, got ${got(cell('cumulative'))}: rows are missing or changed`,
        row,
      )
    const exits = { exit_time: exit?.cell('time') ?? '', exit_price: exit?.cell('price') ?? '' }
    const own = new Map(
      Object.entries({ side, entry_time: cell('time'), entry_price: cell('price'), ...exits }),
    )
    return { row, cell: role => own.get(role) ?? cell(role) }
  })
}
