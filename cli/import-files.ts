import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { toIsoDate } from '#core/calendar.ts'
import { findOverlaps } from '#core/replay/ledger.ts'
import type { Trade } from '#core/replay/trade.ts'
import { openCatalogue } from '#pipeline/book/add-strategy.ts'
import type { BarsFile } from '#pipeline/book/book.ts'
import { settingsShape, strategyShape, timeframe } from '#pipeline/book/catalogue.ts'
import { spellMoment } from '#pipeline/book/cell.ts'
import { BookError } from '#pipeline/book/problem.ts'
import { CATALOGUE_FILE } from '#pipeline/book/read-catalogue.ts'
import { LEDGER_COLUMNS, type LedgerRow, OPTIONAL_COLUMNS, readLedger } from '#pipeline/book/read-ledger.ts'
import { findBars } from '#pipeline/book/read-market.ts'
import { readReturns } from '#pipeline/book/read-sources.ts'
import { createReading, type Reading } from '#pipeline/book/reading.ts'
import { TIMEFRAMES } from '#pipeline/book/timeframe.ts'
import { assertFree, barsText, tableText, writeBookFiles } from '#pipeline/book/write-table.ts'
import { appendRows } from '#pipeline/import/append.ts'
import { importBars } from '#pipeline/import/bars.ts'
import { type ImportedLedger, importLedger } from '#pipeline/import/ledger.ts'
import { type Origin, spellCounts, spellUnread } from '#pipeline/import/read-table.ts'
import { importReturns } from '#pipeline/import/returns.ts'
import {
  barsFileShape,
  ledgerFileShape,
  returnsFileShape,
  spellStatement,
} from '#pipeline/import/statement.ts'
import { UsageError } from './environment.ts'
import type { Runtime } from './runtime.ts'

// What `highwater import bars`, `ledger` and `returns` do, and the shapes of their options.

const flag = (description: string, isSet = false) => z.boolean().default(isSet).meta({ description })
const amount = (description: string) =>
  z.number().min(0).optional().meta({ description, expected: 'a number of at least 0' })

const { format, tz, columns, ignore, drop_last, drop_impossible, times, duplicates } = barsFileShape
const fileOptions = {
  book: z.string().meta({ description: 'The folder of the book; it is made if there is none.' }),
  ...{ format, tz, columns, ignore },
  replace: flag('Replace a table that the book has already.'),
  json: flag('Print what was read and written as one JSON document.'),
}
const historyOptions = {
  ...{ ...fileOptions, id: strategyShape(1).id },
  engine: z.string().optional().meta({ description: 'What made the history (default: the format).' }),
  base_risk: amount('The risk of a trade by which users rescale, 0.02 = 2 %; a new strategy needs it.'),
  commission_bps: amount('The commission of a fill in basis points (default: what the results show).'),
}
const instrument = settingsShape.instrument.unwrap().meta({
  ...settingsShape.instrument.meta(),
  description: 'The instrument, whose bars the book has under bars/.',
})

export const BARS_OPTIONS = {
  ...{ ...fileOptions, instrument },
  timeframe: timeframe(`${TIMEFRAMES.join(', ')} (default: found by the distance of the bars).`).optional(),
  ...{ times, duplicates, drop_last, drop_impossible },
}
export const LEDGER_OPTIONS = {
  ...{ ...historyOptions, instrument, capital: ledgerFileShape.capital, results: ledgerFileShape.results },
  mark: timeframe('The bars whose closes mark the trades (default: the only ones).').optional(),
  funding: flag('State that the instrument has no funding; otherwise bring funding/<instrument>.csv.', true),
  append: flag('Add the rows after the last one; one that differs is refused.'),
  realised: flag('Take the account without the value of open trades, as returns: it needs no bars.'),
}
export const RETURNS_OPTIONS = {
  ...historyOptions,
  unit: returnsFileShape.unit,
  results: returnsFileShape.results,
}

type FileOptions = z.infer<z.ZodObject<typeof fileOptions>>
type HistoryOptions = z.infer<z.ZodObject<typeof historyOptions>>
type BarsOptions = z.infer<z.ZodObject<typeof BARS_OPTIONS>>
type LedgerOptions = z.infer<z.ZodObject<typeof LEDGER_OPTIONS>>
type ReturnsOptions = z.infer<z.ZodObject<typeof RETURNS_OPTIONS>>

/** The value, unless a file has a problem: then all of them are thrown, and nothing is written. */
function sound<T>({ dir, problems }: Reading, value: T | null): T {
  if (value === null || !problems.isEmpty()) throw new BookError(dir, problems.sorted(), 'the import')
  return value
}

/** What an import made: tables of the book, what is printed of them, and the strategy that they are the history of. */
type Made = {
  readonly tables: Readonly<Record<string, string>>
  readonly line: string
  readonly summary: Readonly<Record<string, unknown>>
  readonly strategy?: NewStrategy
}

/** Writes what was made, and the catalogue if it changes; prints what was written on stdout, what was found on stderr. */
async function write(
  { tables, line, summary, strategy }: Made,
  { formats, unread, findings, files: read }: Origin,
  options: (FileOptions | HistoryOptions) & { readonly append?: boolean },
  { cwd, terminal }: Runtime,
): Promise<void> {
  const book = resolve(cwd, options.book)
  const catalogue = await openCatalogue(book)
  for (const path of Object.keys(tables)) catalogue.state(path, spellStatement(options))
  if (strategy && 'id' in options) addStrategy(catalogue, options, strategy, formats)
  for (const path of Object.keys(tables)) assertFree(book, path, options.replace || options.append === true)
  const text = catalogue.text()
  const files = text === null ? tables : { ...tables, [CATALOGUE_FILE]: text }
  await writeBookFiles(book, files)
  const written = Object.keys(files)
  if (options.json) return terminal.json({ ...summary, written, formats, unread, findings, files: read })
  terminal.print(`${written.join(' and ')}: ${line}, from ${[...new Set(formats)].join(' and ')}`)
  const notes = [
    ...findings.map(({ file, message }) => `${file}: ${message}`),
    ...read.map(each => `${each.file}: ${spellCounts(each)}`),
    ...(unread.length === 0 ? [] : [spellUnread(unread)]),
  ]
  for (const note of notes) terminal.note(`note: ${note}`)
}

/** Writes bars of one instrument. */
export async function importBarsFiles(paths: string[], options: BarsOptions, runtime: Runtime) {
  const { instrument, timeframe: stated = null } = options
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const catalogue = await openCatalogue(resolve(runtime.cwd, options.book))
  const readers = catalogue.modulesOn(instrument)
  const rules = { ...options, path: paths, timeframe: stated, readers }
  const { bars, timeframe, ...origin } = sound(reading, await importBars(reading, rules))
  const [from, to] = [spellMoment(bars.t[0]!), spellMoment(bars.t.at(-1)!)]
  const summary = { instrument, timeframe, bars: bars.t.length, from, to }
  const line = `${bars.t.length} bars of ${timeframe}, ${from} to ${to}`
  const tables = { [`bars/${instrument}/${timeframe}.csv`]: barsText(bars) }
  await write({ tables, line, summary }, origin, options, runtime)
}

/** Writes daily returns as they were reported. */
export async function importReturnsFile(paths: string[], options: ReturnsOptions, runtime: Runtime) {
  const { id } = options
  const reading = createReading(runtime.cwd)
  const imported = sound(reading, await importReturns(reading, { ...options, path: paths }))
  const days = imported.rows.map(({ fields }) => fields)
  const count = sound(reading, await readReturns(reading, paths[0]!, imported.rows)).values.length
  const [from, to] = [days[0]?.[0], days.at(-1)?.[0]]
  const printed = { line: `${count} days, ${from} to ${to}`, summary: { id, days: count, from, to } }
  const tables = { [`returns/${id}.csv`]: tableText('t,ret', days) }
  const strategy = { fields: { source: 'returns' }, shown: null, prices: [], unfunded: null }
  await write({ ...printed, tables, strategy }, imported, options, runtime)
}

/** Writes the trades of a file as a ledger that is marked on the bars of the book, or as reported returns. */
export async function importLedgerFile(paths: string[], options: LedgerOptions, runtime: Runtime) {
  const { id, instrument, realised, commission_bps = null } = options
  const book = resolve(runtime.cwd, options.book)
  const file = await findBars(book, instrument, options.mark ?? null, runtime.now())
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const rules = { bars: file?.bars ?? null, commission_bps, isUnfunded: !options.funding }
  const imported = sound(reading, await importLedger(reading, { ...options, path: paths, ...rules }))
  if (!realised && file === null)
    throw new Error(
      `${paths[0]}: expected bars of ${instrument} in ${options.book}, got none: bring them with \`highwater import bars\`, or take the account as reported returns with --realised`,
    )
  const lax = { allowOverlap: true, besideReturns: realised }
  const ledger = await readLedger(reading, paths[0]!, lax, imported.rows)
  const { trades } = sound(reading, ledger)
  if (!realised && file !== null) assertCovered(paths[0]!, trades, file)

  const { o = [], c = [] } = file?.bars ?? {}
  const prices = file === null ? trades.map(each => each.entry_price) : [...o.slice(-1000), ...c.slice(-1000)]
  const { account, commission_bps: shown } = imported
  const source = realised
    ? { source: 'returns', instrument }
    : { source: 'ledger', instrument, mark: file?.timeframe }
  const mayOverlap = realised || findOverlaps(trades).length > 0
  const fields = { ...source, ...(mayOverlap ? { allow_overlap: true } : {}) }
  const unfunded = options.funding || realised ? null : instrument
  const daily = (account?.daily ?? []).map(({ day, ret }) => [toIsoDate(day), String(ret)])
  const made = {
    [`ledgers/${id}.csv`]: ledgerText(imported.rows),
    ...(realised ? { [`returns/${id}.csv`]: tableText('t,ret', daily) } : {}),
  }
  const tables = options.append ? await grown(book, made, id) : made
  const line = account === null ? `${trades.length} trades` : describeTotals(account.totals)
  const summary = { id, trades: trades.length, ...account?.totals }
  const strategy = { fields, shown, prices, unfunded }
  await write({ tables, line, summary, strategy }, imported, options, runtime)
}

/** Optional columns are there if a trade has one of them. */
function ledgerText(rows: readonly LedgerRow[]): string {
  const names = [...LEDGER_COLUMNS, ...OPTIONAL_COLUMNS]
  const isThere = names.map(
    (name, i) => LEDGER_COLUMNS.includes(name) || rows.some(row => row.fields[i] !== ''),
  )
  const [header = [], ...lines] = [names, ...rows.map(({ fields }) => fields)].map(texts =>
    texts.filter((_, i) => isThere[i]),
  )
  return tableText(header.join(), lines)
}

/** The tables of the book with the rows that are new in them. */
async function grown(
  book: string,
  tables: Readonly<Record<string, string>>,
  id: string,
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const [path, text] of Object.entries(tables)) {
    const before = await readFile(join(book, path), 'utf8').catch(() => null)
    if (before === null)
      throw new UsageError(`--append: expected ${path} in ${book}, got none: import it once without --append`)
    texts[path] = appendRows(before, text, { path, id })
  }
  return texts
}

/** A trade before the first bar cannot be marked. */
function assertCovered(path: string, trades: readonly Trade[], { bars }: BarsFile): void {
  const [first = Number.POSITIVE_INFINITY] = bars.t
  const early = trades.filter(({ entry_time }) => entry_time < first).length
  if (early > 0)
    throw new Error(
      `${path}: ${early} of ${trades.length} trades are before the first bar, ${spellMoment(first)}: import older bars, or take the account as reported returns with --realised`,
    )
}

function describeTotals(totals: NonNullable<ImportedLedger['account']>['totals']): string {
  const { trades, open, win_rate_pct, net_profit, open_profit, max_drawdown_pct } = totals
  const spell = (value: number): string => String(Number(value.toPrecision(12)))
  const still = open === 0 ? '' : `, ${open} open with ${spell(open_profit)}`
  const rate = win_rate_pct === null ? '' : `, win rate ${win_rate_pct.toFixed(2)} %`
  return `${trades} trades${still}, net profit ${spell(net_profit)}${rate}, drawdown of closed trades ${max_drawdown_pct.toFixed(2)} %`
}

/** The fields of a history, the commission of a fill that its file shows, and the instrument that has no funding. */
type NewStrategy = {
  readonly fields: Readonly<Record<string, unknown>>
  readonly shown: number | null
  readonly prices: readonly number[]
  readonly unfunded: string | null
}

/** Adds a strategy that the catalogue does not have, with what its maker assumed: stated, or as the file shows it. */
function addStrategy(
  catalogue: Awaited<ReturnType<typeof openCatalogue>>,
  { id, base_risk: base_risk_pct, commission_bps, engine }: HistoryOptions,
  { fields, shown, prices, unfunded }: NewStrategy,
  formats: readonly string[],
): void {
  const commission_bps_per_side = commission_bps ?? shown
  if (commission_bps_per_side === null)
    throw new UsageError(
      '--commission-bps: expected the commission of a fill, because the file does not show it (0 is a statement)',
    )
  if (catalogue.ids.includes(id)) return
  if (base_risk_pct === undefined)
    throw new UsageError(
      `--base-risk: expected the risk of a trade of ${id}, which the catalogue does not have yet, such as 0.02`,
    )
  const name = id.charAt(0).toUpperCase() + id.slice(1)
  const costs = { commission_bps_per_side, slippage_ticks: 0, tick_size: tickOf(prices) } // prices are those of fills
  catalogue.add({ id, name, base_risk_pct, ...fields, engine: engine ?? formats[0], ...costs }, unfunded)
}

/** No market has a smaller step. */
const MOST_DECIMALS = 8

/** The step of which all prices are multiples: a power of ten. */
function tickOf(prices: readonly number[]): number {
  const rounded = (price: number, decimals: number): number => Number(price.toFixed(decimals))
  let decimals = 0
  while (prices.some(price => rounded(price, decimals) !== rounded(price, MOST_DECIMALS))) decimals++
  return 10 ** -decimals
}
