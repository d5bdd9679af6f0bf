import { resolve } from 'node:path'
import { z } from 'zod'
import { toIsoDate } from '#core/calendar.ts'
import { findOverlaps } from '#core/replay/ledger.ts'
import type { Trade } from '#core/replay/trade.ts'
import { openCatalogue } from '#pipeline/book/add-strategy.ts'
import type { BarsFile } from '#pipeline/book/book.ts'
import { settingsShape, strategyShape, timeframe } from '#pipeline/book/catalogue.ts'
import { spellMoment } from '#pipeline/book/cell.ts'
import { listed } from '#pipeline/book/field.ts'
import { barsFileShape, ledgerFileShape, returnsFileShape } from '#pipeline/book/file-spec.ts'
import { findBars } from '#pipeline/book/find-bars.ts'
import { importBars } from '#pipeline/book/import-bars.ts'
import { type ImportedLedger, importLedger } from '#pipeline/book/import-ledger.ts'
import { importReturns } from '#pipeline/book/import-returns.ts'
import { BookError } from '#pipeline/book/problem.ts'
import { CATALOGUE_FILE } from '#pipeline/book/read-catalogue.ts'
import { LEDGER_COLUMNS, readLedger } from '#pipeline/book/read-ledger.ts'
import { readReturns } from '#pipeline/book/read-sources.ts'
import { createReading, type Reading } from '#pipeline/book/reading.ts'
import { assertFree, barsText, tableText, writeBookFiles } from '#pipeline/book/write-table.ts'
import type { Origin } from '#pipeline/table/mapped.ts'
import { UsageError } from './environment.ts'
import type { Runtime } from './runtime.ts'

// What `highwater import bars`, `ledger` and `returns` do, and the shapes of their options.

const flag = z.boolean().default(false)
const amount = z.number().min(0).optional().meta({ expected: 'a number of at least 0' })

const fileOptions = {
  ...{ book: z.string(), replace: flag, json: flag },
  ...{ as: barsFileShape.as, tz: barsFileShape.tz, column: barsFileShape.columns },
}
const historyOptions = {
  ...{ ...fileOptions, id: strategyShape(1).id, engine: z.string().optional() },
  ...{ base_risk: amount, commission_bps: amount },
}
const instrument = settingsShape.instrument.unwrap().meta(settingsShape.instrument.meta() ?? {})
const { drop_last, drop_impossible } = barsFileShape

export const BARS_OPTIONS = {
  ...{ ...fileOptions, instrument, timeframe: timeframe('').optional() },
  ...{ drop_last, drop_impossible },
}
export const LEDGER_OPTIONS = {
  ...{ ...historyOptions, instrument, mark: timeframe('').optional(), capital: ledgerFileShape.capital },
  ...{ funding: z.boolean().default(true), realised: flag },
}
export const RETURNS_OPTIONS = { ...historyOptions, unit: returnsFileShape.unit }

type FileOptions = z.infer<z.ZodObject<typeof fileOptions>>
type HistoryOptions = z.infer<z.ZodObject<typeof historyOptions>>
type BarsOptions = z.infer<z.ZodObject<typeof BARS_OPTIONS>>
type LedgerOptions = z.infer<z.ZodObject<typeof LEDGER_OPTIONS>>
type ReturnsOptions = z.infer<z.ZodObject<typeof RETURNS_OPTIONS>>

/** What the catalogue would say of the files. */
const specOf = (path: string[], { as, tz, column: columns }: FileOptions) => ({ path, as, tz, columns })

/** The value, unless a file has a problem: then all of them are thrown, and nothing is written. */
function sound<T>({ dir, problems }: Reading, value: T | null): T {
  if (value === null || !problems.isEmpty()) throw new BookError(dir, problems.sorted(), 'the import')
  return value
}

/** What is printed of an import. */
type Summary = { readonly line: string; readonly summary: Readonly<Record<string, unknown>> }

/** Writes tables of the book, and the catalogue if it changes; prints what was written on stdout, what was found on stderr. */
async function write(
  tables: Readonly<Record<string, string>>,
  catalogue: string | null,
  { formats, ignored, findings }: Origin,
  { line, summary }: Summary,
  options: FileOptions,
  { cwd, terminal }: Runtime,
): Promise<void> {
  const book = resolve(cwd, options.book)
  for (const path of Object.keys(tables)) assertFree(book, path, options.replace)
  const files = catalogue === null ? tables : { ...tables, [CATALOGUE_FILE]: catalogue }
  await writeBookFiles(book, files)
  const written = Object.keys(files)
  if (options.json) return terminal.json({ ...summary, written, formats, ignored, findings })
  terminal.print(`${written.join(' and ')}: ${line}, from ${[...new Set(formats)].join(' and ')}`)
  for (const { file, message } of findings) terminal.note(`note: ${file}: ${message}`)
  if (ignored.length > 0) terminal.note(`note: columns that are not read: ${ignored.join(', ')}`)
}

/** Writes bars of one instrument. */
export async function importBarsFiles(paths: string[], options: BarsOptions, runtime: Runtime) {
  const { instrument, timeframe: stated = null, drop_last, drop_impossible } = options
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const rules = { ...specOf(paths, options), timeframe: stated, drop_last, drop_impossible }
  const { bars, timeframe, ...origin } = sound(reading, await importBars(reading, rules))
  const [from, to] = [spellMoment(bars.t[0]!), spellMoment(bars.t.at(-1)!)]
  const summary = { instrument, timeframe, bars: bars.t.length, from, to }
  const line = `${bars.t.length} bars of ${timeframe}, ${from} to ${to}`
  const tables = { [`bars/${instrument}/${timeframe}.csv`]: barsText(bars) }
  await write(tables, null, origin, { line, summary }, options, runtime)
}

/** Writes daily returns as they were reported. */
export async function importReturnsFile(paths: string[], options: ReturnsOptions, runtime: Runtime) {
  const { id, unit } = options
  const reading = createReading(runtime.cwd)
  const imported = sound(reading, await importReturns(reading, { ...specOf(paths, options), unit }))
  const days = imported.rows.map(({ fields }) => fields)
  const count = sound(reading, await readReturns(reading, paths[0]!, imported.rows)).values.length
  const fields = { source: 'returns', ...assumptions(options, imported, null, []) }
  const catalogue = await catalogueWith(options, fields, null, runtime)
  const [from, to] = [days[0]?.[0], days.at(-1)?.[0]]
  const printed = { line: `${count} days, ${from} to ${to}`, summary: { id, days: count, from, to } }
  const tables = { [`returns/${id}.csv`]: tableText('t,ret', days) }
  await write(tables, catalogue, imported, printed, options, runtime)
}

/** Writes the trades of a file as a ledger that is marked on the bars of the book, or as reported returns. */
export async function importLedgerFile(paths: string[], options: LedgerOptions, runtime: Runtime) {
  const { id, instrument, realised, capital, commission_bps = null } = options
  const book = resolve(runtime.cwd, options.book)
  const file = await findBars(book, instrument, options.mark ?? null, runtime.now())
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const rules = { bars: file?.bars ?? null, realised, capital, commission_bps }
  const imported = sound(reading, await importLedger(reading, { ...specOf(paths, options), ...rules }))
  if (!realised) assertMarkable(paths[0]!, imported, file, options)
  const lax = { allowOverlap: true, besideReturns: realised }
  const ledger = await readLedger(reading, paths[0]!, lax, imported.rows)
  const { trades } = sound(reading, ledger)
  if (!realised && file !== null) assertCovered(paths[0]!, trades, file)

  const prices = file === null ? trades.map(each => each.entry_price) : pricesOf(file)
  const stated = assumptions(options, imported, imported.commission_bps, prices)
  const { deviation_bps, account } = imported
  const isRounded = deviation_bps > 1 && deviation_bps <= MOST_DEVIATION_BPS
  const marked = {
    ...{ source: 'ledger', instrument, mark: file?.timeframe },
    ...(findOverlaps(trades).length > 0 ? { allow_overlap: true } : {}),
    ...(isRounded ? { result_tolerance_bps: Math.ceil(deviation_bps * 10) / 10 } : {}),
  }
  const fields = realised ? { source: 'returns', instrument, allow_overlap: true } : marked
  const unfunded = options.funding || realised ? null : instrument
  const catalogue = await catalogueWith(options, { ...fields, ...stated }, unfunded, runtime)
  const daily = (account?.daily ?? []).map(({ day, ret }) => [toIsoDate(day), String(ret)])
  const tables = {
    [`ledgers/${id}.csv`]: tableText(
      LEDGER_COLUMNS.join(),
      imported.rows.map(row => row.fields),
    ),
    ...(realised ? { [`returns/${id}.csv`]: tableText('t,ret', daily) } : {}),
  }
  const line = account === null ? `${trades.length} trades` : describeTotals(account.totals)
  const summary = { id, trades: trades.length, ...account?.totals }
  await write(tables, catalogue, imported, { line, summary }, options, runtime)
}

/** Tools round; a result that is further from its prices than this needs another explanation. */
const MOST_DEVIATION_BPS = 5

function assertMarkable(
  path: string,
  { symbols }: ImportedLedger,
  file: BarsFile | null,
  { instrument, book }: LedgerOptions,
): void {
  const other = 'or take the account as reported returns with --realised'
  if (symbols.length > 1)
    throw new Error(
      `${path}: expected trades of one instrument, got ${listed(symbols)}: export one, ${other}`,
    )
  if (file === null)
    throw new Error(
      `${path}: expected bars of ${instrument} in ${book}, got none: bring them with \`highwater import bars\`, ${other}`,
    )
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

const pricesOf = ({ bars: { o, c } }: BarsFile): number[] => [...o.slice(-1000), ...c.slice(-1000)]

function describeTotals(totals: NonNullable<ImportedLedger['account']>['totals']): string {
  const { trades, open, win_rate_pct, net_profit, open_profit, max_drawdown_pct } = totals
  const spell = (value: number): string => String(Number(value.toPrecision(12)))
  const still = open === 0 ? '' : `, ${open} open with ${spell(open_profit)}`
  const rate = win_rate_pct === null ? '' : `, win rate ${win_rate_pct.toFixed(2)} %`
  return `${trades} trades${still}, net profit ${spell(net_profit)}${rate}, drawdown of closed trades ${max_drawdown_pct.toFixed(2)} %`
}

/** What the maker of a history assumed: from the options, and otherwise from what the file shows. */
function assumptions(
  { commission_bps, engine }: HistoryOptions,
  { formats }: Origin,
  shown: number | null,
  prices: readonly number[],
) {
  const commission_bps_per_side = commission_bps ?? shown
  if (commission_bps_per_side === null)
    throw new UsageError(
      '--commission-bps: expected the commission of a fill, because the file does not show it (0 is a statement)',
    )
  // The prices of a file are those of its fills.
  return {
    engine: engine ?? formats[0],
    commission_bps_per_side,
    slippage_ticks: 0,
    tick_size: tickOf(prices),
  }
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

/** The text of the catalogue with a new strategy; null if it is there already, as its author wrote it. */
async function catalogueWith(
  { id, base_risk, book }: HistoryOptions,
  fields: Readonly<Record<string, unknown>>,
  unfunded: string | null,
  { cwd }: Runtime,
): Promise<string | null> {
  const catalogue = await openCatalogue(resolve(cwd, book))
  if (catalogue.ids.includes(id)) return null
  if (base_risk === undefined)
    throw new UsageError(
      `--base-risk: expected the risk of a trade of ${id}, which the catalogue does not have yet, such as 0.02`,
    )
  const name = id.charAt(0).toUpperCase() + id.slice(1)
  return catalogue.with({ id, name, base_risk_pct: base_risk, ...fields }, unfunded)
}
