import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { decimalsOf, toPrice } from '#core/contract/rounding.ts'
import { findOverlaps } from '#core/replay/ledger.ts'
import { openCatalogue } from '#pipeline/book/add-strategy.ts'
import { flag, settingsShape, strategyShape, timeframe } from '#pipeline/book/catalogue.ts'
import { spellMoment } from '#pipeline/book/cell.ts'
import { metaOf, problemsOf } from '#pipeline/book/field.ts'
import { BookError } from '#pipeline/book/problem.ts'
import { CATALOGUE_FILE } from '#pipeline/book/read-catalogue.ts'
import { findBars } from '#pipeline/book/read-market.ts'
import { LEDGER_COLUMNS, OPTIONAL_COLUMNS, readLedger, readReturns } from '#pipeline/book/read-sources.ts'
import { createReading, type Reading } from '#pipeline/book/reading.ts'
import type { TableRows } from '#pipeline/book/table.ts'
import { TIMEFRAMES } from '#pipeline/book/timeframe.ts'
import { appendRows, assertFree, barsText, tableText, writeBookFiles } from '#pipeline/book/write-table.ts'
import { importBars } from '#pipeline/import/bars.ts'
import { type ImportedLedger, importLedger } from '#pipeline/import/ledger.ts'
import type { Origin } from '#pipeline/import/read-table.ts'
import { importReturns } from '#pipeline/import/returns.ts'
import { STATEMENTS, spellStatement } from '#pipeline/import/statement.ts'
import { type Runtime, UsageError } from '../runtime.ts'

const ABOUT = `
Reads CSV (also with semicolons, tabs or bars), JSON, Parquet and Arrow (Feather), each plain, as .gz or in a .zip. The format is
found and named; a file whose columns, zone or timeframe are in doubt is refused. Every repair is counted and printed;
nothing is interpolated. --column and --ignore can be repeated. The exit code is 1 if a file is refused: every problem is
printed with file and row, and nothing is written.
`

const BARS_EXAMPLES = `
Examples:
  highwater import bars Bitstamp_BTCUSD_d.csv --instrument BTCUSD --book ./book
  highwater import bars BTCUSDT-1h-2024-12.zip BTCUSDT-1h-2025-01.zip --instrument BTCUSDT --book ./book
  highwater import bars kurse.csv --column t=Datum --column o=Anfang --column h=Hoch --column l=Tief --column c=Schluss \\
    --tz Europe/Berlin --times open --instrument BTCEUR --book ./book
`

const LEDGER_EXAMPLES = `
TradingView (List of Trades), freqtrade, backtesting.py, vectorbt, backtrader and NinjaTrader are known; of other tables the
columns. The capital at the start makes fractions of amounts, and a list of TradingView needs the zone of its chart. Compare the totals
with those that the tool prints. A new strategy gets an entry in the catalogue.

Examples:
  highwater import ledger trades.csv --id elm --instrument ETHUSDT --tz +08:00 --capital 10000 --base-risk 0.02 --no-funding --book ./book
  highwater import ledger backtest-result.zip --id ash --instrument PORTFOLIO --realised --base-risk 0.02 --book ./book
`

const RETURNS_EXAMPLES = `
Every day of the calendar has a return; a new strategy gets an entry in the catalogue.

Example:
  highwater import returns fund.csv --id yew --unit percent --commission-bps 0 --base-risk 0.02 --book ./book
`

const amount = (description: string) =>
  z.number().min(0).optional().meta({ description, expected: 'a number of at least 0' })

const fileOptions = {
  book: z.string().meta({ description: 'The folder of the book; it is made if there is none.' }),
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

const BARS_OPTIONS = {
  ...{ ...fileOptions, ...STATEMENTS.bars, instrument },
  timeframe: timeframe(`${TIMEFRAMES.join(', ')} (default: found by the distance of the bars).`).optional(),
}
const LEDGER_OPTIONS = {
  ...{ ...historyOptions, ...STATEMENTS.ledger, instrument },
  mark: timeframe('The bars whose closes mark the trades (default: the only ones).').optional(),
  funding: flag('State that the instrument has no funding; otherwise bring funding/<instrument>.csv.', true),
  append: flag('Add the rows after the last one; one that differs is refused.'),
  realised: flag('Take the account without the value of open trades, as returns: it needs no bars.'),
}
const RETURNS_OPTIONS = { ...historyOptions, ...STATEMENTS.returns }

type Options<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape>>

export function defineImport(command: Command, runtime: Runtime): void {
  command.addHelpText('after', ABOUT + BARS_EXAMPLES + LEDGER_EXAMPLES + RETURNS_EXAMPLES)
  const bars = command.command('bars').description('write bars of one instrument into a book')
  define(bars, '<files...>', BARS_OPTIONS, BARS_EXAMPLES, importBarsFiles, runtime)
  const ledger = command.command('ledger').description('write the trades of another tool into a book')
  define(ledger, '<file>', LEDGER_OPTIONS, LEDGER_EXAMPLES, importLedgerFile, runtime)
  const returns = command.command('returns').description('write daily returns into a book')
  define(returns, '<file>', RETURNS_OPTIONS, RETURNS_EXAMPLES, importReturnsFile, runtime)
}

/** What the value of an option is called, if it is neither one of a few words nor called like the option. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ book: 'dir', tz: 'zone', columns: 'role=name', ignore: 'column', engine: 'text' },
  ...{ base_risk: 'fraction', commission_bps: 'n', timeframe: 'name', mark: 'timeframe' },
}

/** `--drop-last`, `--no-funding`, `--tz <zone>` or `--times <open|close>`. */
function flagsOf(key: string, schema: z.core.$ZodType): string {
  const name = key === 'columns' ? 'column' : key.replaceAll('_', '-')
  const initial = z.safeParse(schema, undefined).data
  if (typeof initial === 'boolean') return `${initial ? '--no-' : '--'}${name}`
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  const words = inner instanceof z.ZodEnum ? inner.options.join('|') : key
  return `--${name} <${VALUES[key] ?? words}>`
}

/** Defines a command by the shape of its options; one that may not be missing is required. */
function define<Shape extends z.ZodRawShape>(
  command: Command,
  files: string,
  shape: Shape,
  examples: string,
  run: (files: string[], options: Options<Shape>, runtime: Runtime) => Promise<void>,
  runtime: Runtime,
): void {
  command.argument(files, 'plain, .gz or .zip').addHelpText('after', ABOUT + examples)
  const names = Object.entries(shape).map(([key, schema]) => {
    const isNumber = (text: string): boolean =>
      text.trim() !== '' && z.safeParse(schema, Number(text)).success
    const parse = (text: string, before: unknown): unknown => {
      if (key === 'columns') return addColumn(text, before)
      if (key === 'ignore') return [...(Array.isArray(before) ? before : []), text]
      return isNumber(text) ? Number(text) : text
    }
    const option = new Option(flagsOf(key, schema), metaOf(schema)?.description).makeOptionMandatory(
      !z.safeParse(schema, undefined).success,
    )
    command.addOption(option.required ? option.argParser(parse) : option)
    return [key, option.attributeName()] as const
  })
  command.action(async (given: string | string[], options: Readonly<Record<string, unknown>>) => {
    const record = Object.fromEntries(names.map(([key, name]) => [key, options[name]]))
    const [problem] = problemsOf(z.object(shape), record)
    if (problem !== undefined)
      throw new UsageError(`--${problem.path.join('.').replaceAll('_', '-')}: ${problem.message}`)
    await run([given].flat(), z.object(shape).parse(record), runtime)
  })
}

function addColumn(text: string, before: unknown): object {
  const [, role, name = ''] = /^(\w+)=(.+)$/.exec(text) ?? []
  if (role === undefined)
    throw new UsageError(`--column: expected ROLE=NAME or ROLE=PLACE, such as t=Datum or c=5, got '${text}'`)
  return { ...Object(before), [role]: /^[1-9]\d*$/.test(name) ? Number(name) : name }
}

/** The value, unless a file has a problem: then all of them are thrown, and nothing is written. */
function sound<T>({ dir, problems }: Reading, value: T | null): T {
  if (value === null || !problems.isEmpty()) throw new BookError(dir, problems.sorted(), 'the import')
  return value
}

type Catalogue = Awaited<ReturnType<typeof openCatalogue>>
type Texts = Readonly<Record<string, string>>

/** Writes tables of the book, and the catalogue if it changes; prints what was written on stdout, what was found on stderr. */
async function write(
  catalogue: Catalogue,
  { tables, line, summary }: { readonly tables: Texts; readonly line: string; readonly summary: object },
  { formats, unread, findings, files: read }: Origin,
  options: Options<typeof fileOptions> & { readonly append?: boolean },
  { terminal }: Runtime,
): Promise<void> {
  for (const path of Object.keys(tables)) {
    catalogue.state(path, spellStatement(options), options.append === true)
    assertFree(catalogue.dir, path, options.replace || options.append === true)
  }
  const text = catalogue.text()
  const files = text === null ? tables : { ...tables, [CATALOGUE_FILE]: text }
  await writeBookFiles(catalogue.dir, files)
  const written = Object.keys(files)
  if (options.json) return terminal.json({ ...summary, written, formats, unread, findings, files: read })
  terminal.print(`${written.join(' and ')}: ${line}, from ${[...new Set(formats)].join(' and ')}`)
  for (const { file, message } of findings) terminal.note(`note: ${file}: ${message}`)
  for (const { file, total, header, dropped } of read) {
    const counts = `${total - header - dropped} read + ${dropped} dropped + ${header} of the header`
    terminal.note(`note: ${file}: ${total} rows = ${counts}`)
  }
  const columns = unread.map(({ column, why }) => `${column} (${why})`).join(', ')
  if (columns !== '') terminal.note(`note: columns that are not read: ${columns}`)
}

type Fields = Readonly<Record<string, unknown>> & { readonly unfunded?: string | null }

/** Adds a strategy that the catalogue does not have, with what its maker assumed: stated, or as the file shows it. */
function addStrategy(
  catalogue: Catalogue,
  { id, base_risk: base_risk_pct, commission_bps, engine }: Options<typeof historyOptions>,
  { formats, commission_bps: shown = null }: Origin & { readonly commission_bps?: number | null },
  { tick_size = 1, unfunded = null, ...fields }: Fields,
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
  const costs = { commission_bps_per_side, slippage_ticks: 0, tick_size } // prices are those of fills
  catalogue.add({ id, name, base_risk_pct, ...fields, engine: engine ?? formats[0], ...costs }, unfunded)
}

async function importBarsFiles(paths: string[], options: Options<typeof BARS_OPTIONS>, runtime: Runtime) {
  const { instrument, timeframe: stated = null } = options
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const catalogue = await openCatalogue(resolve(runtime.cwd, options.book))
  const rules = { ...options, paths, timeframe: stated, readers: catalogue.modulesOn(instrument) }
  const { bars, timeframe, ...origin } = sound(reading, await importBars(reading, rules))
  const [from, to] = [spellMoment(bars.t[0]!), spellMoment(bars.t.at(-1)!)]
  const summary = { instrument, timeframe, bars: bars.t.length, from, to }
  const line = `${bars.t.length} bars of ${timeframe}, ${from} to ${to}`
  const tables = { [`bars/${instrument}/${timeframe}.csv`]: barsText(bars) }
  await write(catalogue, { tables, line, summary }, origin, options, runtime)
}

async function importReturnsFile(
  [path = '']: string[],
  options: Options<typeof RETURNS_OPTIONS>,
  runtime: Runtime,
) {
  const { id } = options
  const reading = createReading(runtime.cwd)
  const catalogue = await openCatalogue(resolve(runtime.cwd, options.book))
  const imported = sound(reading, await importReturns(reading, path, options))
  const rows = imported.rows.map(({ fields }) => fields)
  const days = sound(reading, await readReturns(reading, path, imported.rows)).values.length
  const [from, to] = [rows[0]?.[0], rows.at(-1)?.[0]]
  const printed = { line: `${days} days, ${from} to ${to}`, summary: { id, days, from, to } }
  const tables = { [`returns/${id}.csv`]: tableText('t,ret', rows) }
  addStrategy(catalogue, options, imported, { source: 'returns' })
  await write(catalogue, { ...printed, tables }, imported, options, runtime)
}

/** Writes the trades of a file as a ledger that is marked on the bars of the book, or as reported returns. */
async function importLedgerFile(
  [path = '']: string[],
  options: Options<typeof LEDGER_OPTIONS>,
  runtime: Runtime,
) {
  const { id, instrument, realised, commission_bps = null, append } = options
  const catalogue = await openCatalogue(resolve(runtime.cwd, options.book))
  const file = await findBars(catalogue.dir, instrument, options.mark ?? null)
  if (!realised && file === null)
    throw new Error(
      `${path}: expected bars of ${instrument} in ${options.book}, got none: bring them with \`highwater import bars\`, or take the account as reported returns with --realised`,
    )
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const rules = { bars: file?.bars ?? null, commission_bps, isUnfunded: !options.funding }
  const imported = sound(reading, await importLedger(reading, path, { ...options, ...rules }))
  const lax = { allowOverlap: true, besideReturns: realised }
  const { trades } = sound(reading, await readLedger(reading, path, lax, imported.rows))

  const { account, rows } = imported
  const { o = [], c = [] } = file?.bars ?? {}
  const prices = file === null ? trades.map(each => each.entry_price) : [...o.slice(-1000), ...c.slice(-1000)]
  addStrategy(catalogue, options, imported, {
    ...{ source: realised ? 'returns' : 'ledger', instrument },
    ...(realised ? {} : { mark: file?.timeframe }),
    ...(realised || findOverlaps(trades).length > 0 ? { allow_overlap: true } : {}),
    tick_size: tickOf(prices),
    unfunded: options.funding || realised ? null : instrument,
  })
  const made = {
    [`ledgers/${id}.csv`]: ledgerText(rows),
    ...(realised ? { [`returns/${id}.csv`]: tableText('t,ret', account?.daily ?? []) } : {}),
  }
  const tables = append ? await grown(catalogue.dir, made) : made
  const line = account === null ? `${trades.length} trades` : describeTotals(account.totals)
  const summary = { id, trades: trades.length, ...account?.totals }
  await write(catalogue, { tables, line, summary }, imported, options, runtime)
}

/** Optional columns are there if a trade has one of them. */
function ledgerText(rows: TableRows): string {
  const names = [...LEDGER_COLUMNS, ...OPTIONAL_COLUMNS]
  const isThere = (i: number): boolean =>
    i < LEDGER_COLUMNS.length || rows.some(({ fields }) => fields[i] !== '')
  const kept = [...names.keys()].filter(isThere)
  const pick = (texts: readonly string[]): string[] => kept.map(i => texts[i]!)
  return tableText(
    pick(names).join(),
    rows.map(({ fields }) => pick(fields)),
  )
}

/** The tables of the book with the rows that are new in them. */
async function grown(dir: string, tables: Texts) {
  const texts: Record<string, string> = {}
  for (const [path, text] of Object.entries(tables)) {
    const before = await readFile(join(dir, path), 'utf8').catch(() => null)
    if (before === null)
      throw new UsageError(`--append: expected ${path} in ${dir}, got none: import it once without --append`)
    texts[path] = appendRows(before, text, path)
  }
  return texts
}

function describeTotals(totals: NonNullable<ImportedLedger['account']>['totals']): string {
  const { trades, open, win_rate_pct, net_profit, open_profit, max_drawdown_pct } = totals
  const spell = (value: number): string => String(Number(value.toPrecision(12)))
  const still = open === 0 ? '' : `, ${open} open with ${spell(open_profit)}`
  const rate = win_rate_pct === null ? '' : `, win rate ${win_rate_pct.toFixed(2)} %`
  return `${trades} trades${still}, net profit ${spell(net_profit)}${rate}, drawdown of closed trades ${max_drawdown_pct.toFixed(2)} %`
}

/** The step of which all prices are multiples: a power of ten. */
const tickOf = (prices: readonly number[]): number =>
  10 ** -prices.reduce((most, price) => Math.max(most, decimalsOf(toPrice(price))), 0)
