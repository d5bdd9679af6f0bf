import { z } from 'zod'
import type { Side } from '#core/replay/strategy.ts'
import { got, listed } from '../book/field.ts'
import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { refuse } from '../table/lines.ts'
import { onlyList, type PickRows } from '../table/rows.ts'
import type { Cell } from './format.ts'
import { readForeign } from './read-table.ts'
import type { Tally } from './repair.ts'
import type { LedgerRules } from './statement.ts'
import { LIST_OF_TRADES, tradesKind } from './trade-formats.ts'
import { explainDecimal, parseForeignDecimal } from './values.ts'

/** A trade, or a row of a list of trades, as its file has it: texts by role. */
export type TradeRecord = { readonly row: number; readonly cell: Cell }

/** The trades of a file, and the account at the start, as it is stated or in the file. */
export type ReadTrades = NonNullable<Awaited<ReturnType<typeof readTrades>>>

const amount = z.number().nullable().catch(null)
const orders = z.array(z.object({ ft_is_entry: z.boolean() })).catch([])
const freqtradeResult = z.object({
  trades: z.array(z.object({ profit_abs: amount, orders }).loose()),
  ...{ starting_balance: amount, total_trades: amount, profit_total_abs: amount },
})
type FreqtradeResult = z.infer<typeof freqtradeResult>

/** Reads the trades of any known file. Null if there is a problem; all are reported. */
export async function readTrades(reading: Reading, path: string, rules: LedgerRules, tally: Tally) {
  const rows: TradeRecord[] = []
  let balance = null as number | null
  const pick: PickRows = document => {
    const result = onlyResult(document, rules.realised)
    balance = result?.starting_balance ?? null
    return result?.trades ?? onlyList(document)
  }
  const request = { statement: rules, tally, pick }
  const file = await readForeign(reading, path, tradesKind, request, (cell, row) => rows.push({ row, cell }))
  const report = reporterOf(reading, path)
  // What does not fit together follows from a row that cannot be read, and sums from trades that are not whole.
  if (file === null || reading.problems.has(path)) return null
  const capital = rules.capital ?? balance
  const pairs = file.kind === LIST_OF_TRADES ? pairTrades(rows, report) : null
  if (reading.problems.has(path)) return null
  const records = pairs === null ? rows : toRecords(pairs, capital, report)
  return reading.problems.has(path) ? null : { file, records, capital }
}

/** The result of the one strategy of a freqtrade backtest; null for another document. */
function onlyResult(document: unknown, realised: boolean): FreqtradeResult | null {
  const { data } = z.object({ strategy: z.record(z.string(), freqtradeResult) }).safeParse(document)
  if (data === undefined) return null
  const names = Object.keys(data.strategy)
  const found = `${names.length} (${listed(names)})`
  if (names.length !== 1) refuse(`expected the result of one strategy, got ${found}: export one`)
  const result = data.strategy[names[0]!]!
  const wrong = explainTotals(result)
  if (wrong !== null) refuse(wrong)
  const added = result.trades.findIndex(each => each.orders.filter(order => order.ft_is_entry).length > 1)
  if (added >= 0 && !realised)
    refuse(
      'expected trades of one entry each, got one of several (position adjustment), whose price is an average: take the account as reported returns with --realised',
      added + 1,
    )
  return result
}

/** Totals in a file are sums of the numbers beside them. */
const SUM_TOLERANCE = 1e-6

function explainTotals(result: FreqtradeResult): string | null {
  const { trades, total_trades, profit_total_abs, starting_balance } = result
  if (total_trades !== null && total_trades !== trades.length)
    return `expected the ${total_trades} trades that the file states, got ${trades.length}: export the whole result`
  const profit = trades.reduce((sum, { profit_abs }) => sum + (profit_abs ?? 0), 0)
  const slack = SUM_TOLERANCE * (starting_balance ?? 1)
  if (profit_total_abs === null || Math.abs(profit - profit_total_abs) <= slack) return null
  return `expected the profit of ${profit_total_abs} that the file states, got trades with ${profit} in all`
}

type PairedTrade = NonNullable<ReturnType<typeof joinRows>>

/** Joins the two rows of each trade, an entry and an exit. */
export function pairTrades(rows: readonly TradeRecord[], report: Report): PairedTrade[] {
  const strange = rows.filter(({ cell }) => !/^(?:entry|exit) (?:long|short)$/i.test(cell('type')))
  for (const { row, cell } of strange)
    report(`type: expected Entry or Exit long or short, got ${got(cell('type'))}`, row)
  if (strange.length > 0) return []
  const end = rows.reduce((latest, { cell }) => (cell('time') > latest ? cell('time') : latest), '')
  const trades = Map.groupBy(rows, ({ cell }) => `${cell('trade')} ${sideOf(cell)}`)
  const pairs = [...trades.values()].flatMap(own => joinRows(own, end, report) ?? [])
  // Trades are numbered as they end, so that only open ones follow an open one.
  const last = pairs.reduce((most, { trade, exit }) => Math.max(most, exit === null ? 0 : Number(trade)), 0)
  for (const { trade, entry, exit } of pairs)
    if (exit === null && Number(trade) < last)
      report(
        `expected an exit of trade ${trade}, because trade ${last} after it is closed, got an open trade: export the whole list, and give no order the name Open`,
        entry.row,
      )
  return pairs
}

const sideOf = (cell: Cell): Side => (/long$/i.test(cell('type')) ? 'long' : 'short')

/** Joins the two rows of one trade in a list that ends at a time; while it is open, it has no exit. */
function joinRows(rows: readonly TradeRecord[], end: string, report: Report) {
  const kinds = Object.groupBy(rows, ({ cell }) => (/^entry/i.test(cell('type')) ? 'entry' : 'exit'))
  const { entry: entries = [], exit: exits = [] } = kinds
  const [[entry], [exit]] = [entries, exits]
  const { row, cell } = rows[0]!
  const trade = cell('trade')
  const others = [...entries.slice(1), ...exits.slice(1)]
  for (const again of others)
    report(`expected one ${again.cell('type').split(' ')[0]} of trade ${trade}, got another`, again.row)
  if (others.length > 0) return null
  if (entry === undefined || exit === undefined) {
    const [lacking, other] = entry === undefined ? ['an entry', 'exit'] : ['an exit', 'entry']
    return report(`expected ${lacking} of trade ${trade}, got its ${other} alone: export the whole list`, row)
  }
  // An old list has an open trade with a blank exit. An order may have the name Open too, but only an open trade is listed with
  // the last time of the list.
  const isBlank = exit.cell('time') === '' && exit.cell('price') === ''
  const isOpen = isBlank || (/^open$/i.test(exit.cell('signal')) && exit.cell('time') === end)
  return { trade, side: sideOf(cell), entry, exit: isOpen ? null : exit }
}

/** Amounts have two decimals, so that a sum of two is off by at most this. */
const CENTS = 0.021

/** What may be between a percentage of two decimals and what it was made of. */
const HALF_A_DIGIT = 0.0051

/** Why a trade does not continue the one before it in its list, or null. */
function explainSums(pair: PairedTrade, before?: PairedTrade): string | null {
  const [{ trade, exit }, { cell }] = [pair, pair.entry]
  const [number, cumulative] = [Number(before?.trade ?? 0) + 1, cell('cumulative')]
  const sum = parseForeignDecimal(before?.entry.cell('cumulative') ?? '0') + parseForeignDecimal(cell('pnl'))
  if (Number(trade) !== number)
    return `expected trade ${number}, got trade ${got(trade)}: export the whole list`
  if (exit !== null && ['pnl', 'cumulative'].some(role => cell(role) !== exit.cell(role)))
    return `expected the same profit on both rows of trade ${trade}, got two: the file may be cut off`
  if (cumulative !== '' && !(Math.abs(parseForeignDecimal(cumulative) - sum) <= CENTS))
    return `expected a cumulative profit of ${sum.toFixed(2)} after trade ${trade}, got ${got(cumulative)}: rows are missing or changed`
  return null
}

/**
 * The trades of a list, of which no part may be missing: they are numbered from 1 without a gap, both rows of one have the
 * same profit, each cumulative profit is the one before and the trade's, and its percentage that of the capital.
 */
function toRecords(pairs: readonly PairedTrade[], capital: number | null, report: Report): TradeRecord[] {
  const sorted = pairs.toSorted((a, b) => Number(a.trade) - Number(b.trade))
  let sum = 0
  return sorted.map((pair, i) => {
    const { side, exit } = pair
    const { row, cell } = pair.entry
    const wrong = explainSums(pair, sorted[i - 1])
    const stated = cell('cumulative')
    sum = stated === '' ? sum + parseForeignDecimal(cell('pnl')) : parseForeignDecimal(stated)
    const percent = parseForeignDecimal(cell('cumulative_pct'))
    if (wrong !== null) report(wrong, row)
    else if (cell('cumulative_pct') !== '' && Number.isNaN(percent))
      report(`cumulative_pct: ${explainDecimal(cell('cumulative_pct'), 'a number')}`, row)
    // A sum of rounded amounts is a little off.
    else if (capital && Math.abs((100 * sum) / capital - percent) > HALF_A_DIGIT + sorted.length / capital)
      report(
        `expected a capital by which the cumulative profit of ${sum.toFixed(2)} is ${percent} %, got ${capital}: correct --capital`,
        row,
      )
    const own: Readonly<Record<string, string>> = {
      ...{ side, entry_time: cell('time'), entry_price: cell('price') },
      ...{ exit_time: exit?.cell('time') ?? '', exit_price: exit?.cell('price') ?? '' },
    }
    return { row, cell: role => own[role] ?? cell(role) }
  })
}
