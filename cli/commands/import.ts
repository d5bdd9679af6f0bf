import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { decimalsOf, toPrice } from '#core/contract/rounding.ts'
import { findOverlaps } from '#core/replay/ledger.ts'
import { openCatalogue } from '#pipeline/book/add-strategy.ts'
import { settingsShape, strategyShape } from '#pipeline/book/catalogue.ts'
import { spellMoment } from '#pipeline/book/cell.ts'
import { BookError } from '#pipeline/book/problem.ts'
import { CATALOGUE_FILE } from '#pipeline/book/read-catalogue.ts'
import { findBars } from '#pipeline/book/read-market.ts'
import { LEDGER_COLUMNS, OPTIONAL_COLUMNS, readLedger, readReturns } from '#pipeline/book/read-sources.ts'
import { createReading, type Reading } from '#pipeline/book/reading.ts'
import type { TableRows } from '#pipeline/book/table.ts'
import { TIMEFRAMES } from '#pipeline/book/timeframe.ts'
import { appendRows, assertFree, barsText, tableText, writeBookFiles } from '#pipeline/book/write-table.ts'
import { parseZone } from '#pipeline/book/zone.ts'
import { importBars } from '#pipeline/import/bars.ts'
import { type ImportedLedger, importLedger } from '#pipeline/import/ledger.ts'
import type { Origin } from '#pipeline/import/read-table.ts'
import { importReturns } from '#pipeline/import/returns.ts'
import { define, flag, group, type OptionsOf, option, repeated, required } from '../options/command.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { decimal, text } from '../settings/text.ts'

const ABOUT = `
Reads CSV (also with semicolons, tabs or bars), JSON, Parquet and Arrow (Feather), each plain, as .gz or in a .zip. The format is
found and named; a file whose columns, zone or timeframe are in doubt is refused. Every repair is counted and printed;
nothing is interpolated. --column and --ignore can be repeated. The exit code is 1 if a file is refused: every problem is
printed with file and row, and nothing is written.
`

const FORMS = 'plain, .gz or .zip'

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

const amount = decimal(value => value >= 0, 'a number of at least 0')
const zone = text
  .refine(given => parseZone(given) !== null)
  .describe('UTC, an offset such as +08:00, or a name such as Europe/Amsterdam')
const timeframe = z.enum(TIMEFRAMES).describe(`one of ${TIMEFRAMES.join(', ')}`)

const oneOf = <const Word extends string>(about: string, ...words: Word[]) =>
  option(`<${words.join('|')}>`, about, z.enum(words).describe(`one of ${words.join(', ')}`))

const FILE_OPTIONS = {
  book: required('<dir>', 'The folder of the book; it is made if there is none.', text),
  replace: flag('Replace a table that the book has already.'),
  json: flag('Print what was read and written as one JSON document.'),
}
const HISTORY_OPTIONS = {
  ...FILE_OPTIONS,
  id: required(
    '<id>',
    'Public alias: a tree or a river, never the mechanism. Names the source file.',
    strategyShape(1).id,
  ),
  engine: option('<text>', 'What made the history (default: the format).'),
  baseRisk: option(
    '<fraction>',
    'The risk of a trade by which users rescale, 0.02 = 2 %; a new strategy needs it.',
    amount,
  ),
  commissionBps: option(
    '<n>',
    'The commission of a fill in basis points (default: what the results show).',
    amount,
  ),
}
const STATED_OPTIONS = {
  format: option(
    '<format>',
    'The name of the format, which is found without; `table` for columns by their names.',
  ),
  tz: option('<zone>', 'The zone of times that have none.', zone),
  column: {
    about:
      'What columns are: the role, and the name in the header, the place from 1 on, or DATE+TIME for two columns that are joined.',
    value: '<role=name>',
    read: addColumn,
  },
  ignore: repeated('<column>', 'Columns that are not read although they could change a figure.'),
}
const instrument = required(
  '<instrument>',
  'The instrument, whose bars the book has under bars/.',
  settingsShape.instrument,
)

const BARS_OPTIONS = {
  ...{ ...FILE_OPTIONS, ...STATED_OPTIONS },
  times: oneOf('Whether the times are the opens or the closes of bars.', 'open', 'close'),
  duplicates: oneOf('Which of the rows of one time counts.', 'first', 'last', 'largest-volume'),
  dropLast: flag('Whether the last bar is left out, because it was not over when the file was made.'),
  dropImpossible: flag('Whether bars whose prices contradict each other are left out, which leaves gaps.'),
  instrument,
  timeframe: option(
    '<name>',
    `${TIMEFRAMES.join(', ')} (default: found by the distance of the bars).`,
    timeframe,
  ),
}
const LEDGER_OPTIONS = {
  ...{ ...HISTORY_OPTIONS, ...STATED_OPTIONS },
  results: oneOf('Whether fees and funding are in the results already.', 'after-costs', 'before-costs'),
  capital: option(
    '<capital>',
    'The account at the start, in its currency; it makes fractions of the amounts in the file.',
    decimal(value => value > 0, 'an amount above 0'),
  ),
  instrument,
  mark: option('<timeframe>', 'The bars whose closes mark the trades (default: the only ones).', timeframe),
  noFunding: flag('State that the instrument has no funding; otherwise bring funding/<instrument>.csv.'),
  append: flag('Add the rows after the last one; one that differs is refused.'),
  realised: flag('Take the account without the value of open trades, as returns: it needs no bars.'),
}
const RETURNS_OPTIONS = {
  ...{ ...HISTORY_OPTIONS, ...STATED_OPTIONS },
  results: oneOf('That values which look like a sum since the start are returns of days.', 'per-day'),
  unit: required(
    '<fraction|percent>',
    'What a return of 1 means: a fraction (+100 %) or a percent.',
    z.enum(['fraction', 'percent']).describe('fraction or percent'),
  ),
}

export const defineImport = group(ABOUT + BARS_EXAMPLES + LEDGER_EXAMPLES + RETURNS_EXAMPLES, {
  bars: [
    'write bars of one instrument into a book',
    define(BARS_OPTIONS, ABOUT + BARS_EXAMPLES, importBarsFiles, { '<files...>': FORMS }),
  ],
  ledger: [
    'write the trades of another tool into a book',
    define(LEDGER_OPTIONS, ABOUT + LEDGER_EXAMPLES, importLedgerFile, { '<file>': FORMS }),
  ],
  returns: [
    'write daily returns into a book',
    define(RETURNS_OPTIONS, ABOUT + RETURNS_EXAMPLES, importReturnsFile, { '<file>': FORMS }),
  ],
})

type Columns = Readonly<Record<string, string | number>>

/** The columns before with another one. */
function addColumn(given: string, _: string, before: unknown): Columns | undefined {
  const [, role, name = ''] = /^(\w+)=(.+)$/.exec(given) ?? []
  if (role === undefined)
    throw new UsageError(`--column: expected ROLE=NAME or ROLE=PLACE, such as t=Datum or c=5, got '${given}'`)
  return { ...Object(before), [role]: /^[1-9]\d*$/.test(name) ? Number(name) : name }
}

/** The value, unless a file has a problem: then all of them are thrown, and nothing is written. */
function sound<T>({ dir, problems }: Reading, value: T | null): T {
  if (value === null || !problems.isEmpty()) throw new BookError(dir, problems.sorted(), 'the import')
  return value
}

type Placing = Partial<Readonly<Record<'append' | 'replace' | 'json', boolean | undefined>>>
type Catalogue = Awaited<ReturnType<typeof openCatalogue>>
type Texts = Readonly<Record<string, string>>

/** Writes tables of the book, and the catalogue if it changes; prints what was written on stdout, what was found on stderr. */
async function write(
  catalogue: Catalogue,
  { tables, line, summary }: { readonly tables: Texts; readonly line: string; readonly summary: object },
  { formats, unread, findings, files: read, stated }: Origin,
  { append = false, replace, json }: Placing,
  { terminal }: Runtime,
): Promise<void> {
  for (const path of Object.keys(tables)) {
    catalogue.state(path, stated, append)
    assertFree(catalogue.dir, path, replace || append)
  }
  const text = catalogue.text()
  const files = text === null ? tables : { ...tables, [CATALOGUE_FILE]: text }
  await writeBookFiles(catalogue.dir, files)
  const written = Object.keys(files)
  terminal.result(json, { ...summary, written, formats, unread, findings, files: read }, [
    `${written.join(' and ')}: ${line}, from ${[...new Set(formats)].join(' and ')}`,
  ])
  if (json) return
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
  { id, baseRisk: base_risk_pct, commissionBps, engine }: OptionsOf<typeof HISTORY_OPTIONS>,
  { formats, commission_bps: shown = null }: Origin & { readonly commission_bps?: number | null },
  { tick_size = 1, unfunded = null, ...fields }: Fields,
): void {
  const commission_bps_per_side = commissionBps ?? shown
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

async function importBarsFiles(
  options: OptionsOf<typeof BARS_OPTIONS>,
  runtime: Runtime,
  ...paths: string[]
) {
  const { instrument, timeframe: stated = null, column: columns } = options
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const catalogue = await openCatalogue(resolve(runtime.cwd, options.book))
  const drops = { drop_last: options.dropLast, drop_impossible: options.dropImpossible }
  const read = { ...options, columns, ...drops, timeframe: stated }
  const rules = { ...read, paths, readers: catalogue.modulesOn(instrument) }
  const { bars, timeframe, ...origin } = sound(reading, await importBars(reading, rules))
  const [from, to] = [spellMoment(bars.t[0]!), spellMoment(bars.t.at(-1)!)]
  const summary = { instrument, timeframe, bars: bars.t.length, from, to }
  const line = `${bars.t.length} bars of ${timeframe}, ${from} to ${to}`
  const tables = { [`bars/${instrument}/${timeframe}.csv`]: barsText(bars) }
  await write(catalogue, { tables, line, summary }, origin, options, runtime)
}

async function importReturnsFile(options: OptionsOf<typeof RETURNS_OPTIONS>, runtime: Runtime, path = '') {
  const { id } = options
  const reading = createReading(runtime.cwd)
  const catalogue = await openCatalogue(resolve(runtime.cwd, options.book))
  const imported = sound(reading, await importReturns(reading, path, { ...options, columns: options.column }))
  const rows = imported.rows.map(({ fields }) => fields)
  const days = sound(reading, await readReturns(reading, path, imported.rows)).values.length
  const [from, to] = [rows[0]?.[0], rows.at(-1)?.[0]]
  const printed = { line: `${days} days, ${from} to ${to}`, summary: { id, days, from, to } }
  const tables = { [`returns/${id}.csv`]: tableText('t,ret', rows) }
  addStrategy(catalogue, options, imported, { source: 'returns' })
  await write(catalogue, { ...printed, tables }, imported, options, runtime)
}

/** Writes the trades of a file as a ledger that is marked on the bars of the book, or as reported returns. */
async function importLedgerFile(options: OptionsOf<typeof LEDGER_OPTIONS>, runtime: Runtime, path = '') {
  const { id, instrument, realised = false, noFunding = false, column: columns } = options
  const catalogue = await openCatalogue(resolve(runtime.cwd, options.book))
  const file = await findBars(catalogue.dir, instrument, options.mark ?? null)
  if (!realised && file === null)
    throw new Error(
      `${path}: expected bars of ${instrument} in ${options.book}, got none: bring them with \`highwater import bars\`, or take the account as reported returns with --realised`,
    )
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const rules = { bars: file?.bars ?? null, commission_bps: options.commissionBps ?? null, realised }
  const stated = { ...options, columns, ...rules, isUnfunded: noFunding }
  const imported = sound(reading, await importLedger(reading, path, stated))
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
    unfunded: noFunding && !realised ? instrument : null,
  })
  const made = {
    [`ledgers/${id}.csv`]: ledgerText(rows),
    ...(realised ? { [`returns/${id}.csv`]: tableText('t,ret', account?.daily ?? []) } : {}),
  }
  const tables = options.append ? await grown(catalogue.dir, made) : made
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
