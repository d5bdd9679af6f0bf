import { resolve } from 'node:path'
import type { Command } from 'commander'
import { toIsoDate } from '#core/calendar.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { findOverlaps } from '#core/replay/ledger.ts'
import type { Trade } from '#core/replay/trade.ts'
import { openCatalogue } from '#pipeline/book/add-strategy.ts'
import type { BarsFile } from '#pipeline/book/book.ts'
import { listed } from '#pipeline/book/field.ts'
import { findBars } from '#pipeline/book/find-bars.ts'
import { type ImportedLedger, importLedger } from '#pipeline/book/import-ledger.ts'
import { importReturns } from '#pipeline/book/import-returns.ts'
import { CATALOGUE_FILE } from '#pipeline/book/read-catalogue.ts'
import { LEDGER_COLUMNS, toLedger } from '#pipeline/book/read-ledger.ts'
import { toReturns } from '#pipeline/book/read-sources.ts'
import { createReading } from '#pipeline/book/reading.ts'
import { assertFree, tableText, writeBookFiles } from '#pipeline/book/write-table.ts'
import { UsageError } from './environment.ts'
import {
  type FileOptions,
  fileRules,
  type Imported,
  parseInstrument,
  parseTimeframe,
  printImport,
  refusal,
} from './import-files.ts'
import type { Runtime } from './runtime.ts'

// `highwater import ledger` and `highwater import returns`: a table of the book, and its entry in the catalogue.

type HistoryOptions = FileOptions & {
  readonly id: string
  readonly baseRisk?: string
  readonly engine?: string
  readonly commissionBps?: string
}

export const addHistoryOptions = (command: Command): Command =>
  command
    .requiredOption('--id <id>', 'the strategy: a public alias, such as elm')
    .option(
      '--base-risk <fraction>',
      'the risk of a trade by which users rescale, 0.02 = 2 %; needed for a new strategy',
    )
    .option('--engine <text>', 'what made the history (default: the name of the format)')
    .option(
      '--commission-bps <n>',
      'the commission of a fill in basis points (default: what the results show)',
    )

export type LedgerOptions = HistoryOptions & {
  readonly instrument: string
  readonly capital?: string
  readonly mark?: string
  readonly realised?: boolean
  /** False with --no-funding. */
  readonly funding?: boolean
}

export type ReturnsOptions = HistoryOptions & { readonly unit: string }

/** Writes the trades of a file as a ledger that is marked on the bars of the book, or as reported returns. */
export async function runLedgerImport(file: string, options: LedgerOptions, runtime: Runtime): Promise<void> {
  const book = resolve(runtime.cwd, options.book)
  const instrument = parseInstrument(options.instrument)
  const bars = await findBars(book, instrument, parseTimeframe(options.mark, '--mark'), runtime.now())
  const read = await readLedger(file, bars, options, runtime)
  const { account, format, ignored, findings } = read.imported
  const unfunded = options.funding === false && !options.realised ? instrument : null
  const entry = await entryOf(options, ledgerFields(read, bars, options), book, unfunded)
  const { length } = read.trades
  const line = account === null ? `${length} trades` : describeTotals(account.totals)
  const summary = { id: options.id, trades: length, ...account?.totals }
  const found = { formats: [format], ignored, findings, line, summary }
  await writeHistory(book, ledgerTables(read, options), entry, found, options, runtime)
}

type ReadLedger = { readonly imported: ImportedLedger; readonly trades: readonly Trade[] }

/** The trades of a file by the rules of a ledger of the book. */
async function readLedger(
  file: string,
  bars: BarsFile | null,
  options: LedgerOptions,
  runtime: Runtime,
): Promise<ReadLedger> {
  const { realised = false } = options
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const capital = parseNumber('--capital', options.capital) ?? undefined
  const commission_bps = parseNumber('--commission-bps', options.commissionBps)
  const known = { bars: bars?.bars ?? null, realised, capital, commission_bps }
  const imported = await importLedger(reading, { ...fileRules([file], options), ...known })
  if (imported === null) throw refusal(reading)
  assertMarkable(file, imported, bars, options)
  const { trades } = toLedger(reading, file, imported.rows, { allowOverlap: true, besideReturns: realised })
  if (!reading.problems.isEmpty()) throw refusal(reading)
  return { imported, trades }
}

/** The tables of the book: the ledger, and the returns of its account if they are taken. */
function ledgerTables({ imported: { rows, account } }: ReadLedger, { id, realised = false }: LedgerOptions) {
  const fields = rows.map(row => row.fields)
  const daily = (account?.daily ?? []).map(({ day, ret }) => [toIsoDate(day), String(ret)])
  return {
    [`ledgers/${id}.csv`]: tableText(LEDGER_COLUMNS.join(), fields),
    ...(realised ? { [`returns/${id}.csv`]: tableText('t,ret', daily) } : {}),
  }
}

/** What the catalogue says of the strategy, but for its name and risk. */
function ledgerFields(
  { imported, trades }: ReadLedger,
  bars: BarsFile | null,
  options: LedgerOptions,
): Readonly<Record<string, unknown>> {
  const { format, commission_bps, deviation_bps } = imported
  const { instrument, realised = false } = options
  const prices = bars === null ? trades.map(({ entry_price }) => entry_price) : pricesOf(bars)
  const stated = assumptions(options, format, commission_bps, prices)
  if (realised) return { source: 'returns', instrument, allow_overlap: true, ...stated }
  const isRounded = deviation_bps > 1 && deviation_bps <= MOST_DEVIATION_BPS
  return {
    ...{ source: 'ledger', instrument, mark: bars?.timeframe },
    ...(findOverlaps(trades).length > 0 ? { allow_overlap: true } : {}),
    ...(isRounded ? { result_tolerance_bps: Math.ceil(deviation_bps * 10) / 10 } : {}),
    ...stated,
  }
}

/** Tools round; a result that is further from its prices than this needs another explanation. */
const MOST_DEVIATION_BPS = 5

function assertMarkable(
  file: string,
  { symbols }: ImportedLedger,
  bars: BarsFile | null,
  { instrument, book, realised = false }: LedgerOptions,
): void {
  if (realised) return
  const other = 'or take the account as reported returns with --realised'
  if (symbols.length > 1)
    throw new Error(
      `${file}: expected trades of one instrument, got ${listed(symbols)}: export one, ${other}`,
    )
  if (bars === null)
    throw new Error(
      `${file}: expected bars of ${instrument} in ${book}, got none: bring them with \`highwater import bars\`, ${other}`,
    )
}

const pricesOf = ({ bars: { o, c } }: BarsFile): number[] => [...o.slice(-1000), ...c.slice(-1000)]

const describeTotals = (totals: NonNullable<ImportedLedger['account']>['totals']): string => {
  const { trades, open, win_rate_pct, net_profit, open_profit, max_drawdown_pct } = totals
  const rate = win_rate_pct === null ? '' : `, win rate ${win_rate_pct.toFixed(2)} %`
  const still = open === 0 ? '' : `, ${open} open with ${Number(open_profit.toPrecision(12))}`
  const profit = Number(net_profit.toPrecision(12))
  return `${trades} trades${still}, net profit ${profit}${rate}, drawdown of closed trades ${max_drawdown_pct.toFixed(2)} %`
}

/** Writes daily returns as they were reported. */
export async function runReturnsImport(
  file: string,
  options: ReturnsOptions,
  runtime: Runtime,
): Promise<void> {
  const unit = (['fraction', 'percent'] as const).find(each => each === options.unit)
  if (unit === undefined) throw new UsageError(`--unit: expected fraction or percent, got '${options.unit}'`)
  const book = resolve(runtime.cwd, options.book)
  const reading = createReading(runtime.cwd)
  const imported = await importReturns(reading, { ...fileRules([file], options), unit })
  if (imported === null) throw refusal(reading)
  const series = toReturns(reading, file, imported.rows)
  if (!reading.problems.isEmpty()) throw refusal(reading)
  const { rows, format, ignored, findings } = imported
  const tables = {
    [`returns/${options.id}.csv`]: tableText(
      't,ret',
      rows.map(({ fields }) => fields),
    ),
  }
  const entry = await entryOf(
    options,
    { source: 'returns', ...assumptions(options, format, null, []) },
    book,
    null,
  )
  const [from, to] = [rows[0]?.fields[0], rows.at(-1)?.fields[0]]
  const summary = { id: options.id, days: series.values.length, from, to }
  const line = `${series.values.length} days, ${from} to ${to}`
  await writeHistory(
    book,
    tables,
    entry,
    { formats: [format], ignored, findings, line, summary },
    options,
    runtime,
  )
}

/** What the maker of a history assumed: from the options, and otherwise from what the file shows. */
function assumptions(
  options: HistoryOptions,
  format: string,
  shown: number | null,
  prices: readonly number[],
) {
  const commission = parseNumber('--commission-bps', options.commissionBps) ?? shown
  if (commission === null)
    throw new UsageError(
      '--commission-bps: expected the commission of a fill, because the file does not show it (0 is a statement)',
    )
  return {
    engine: options.engine ?? format,
    commission_bps_per_side: commission,
    slippage_ticks: 0, // the prices of a file are those of its fills
    tick_size: tickOf(prices),
  }
}

/** No market has a smaller step. */
const MOST_DECIMALS = 8

/** The step of which all prices are multiples: a power of ten. */
function tickOf(prices: readonly number[]): number {
  for (let decimals = 0; decimals < MOST_DECIMALS; decimals++) {
    if (prices.every(price => Number(price.toFixed(decimals)) === Number(price.toFixed(MOST_DECIMALS))))
      return 10 ** -decimals
  }
  return 10 ** -MOST_DECIMALS
}

/** The text of the catalogue with a new strategy; null if it is there already, as its author wrote it. */
async function entryOf(
  { id, baseRisk }: HistoryOptions,
  fields: Readonly<Record<string, unknown>>,
  book: string,
  unfunded: string | null,
): Promise<string | null> {
  if (!ID_PATTERN.test(id))
    throw new UsageError(`--id: expected lower-case letters, digits, dashes and underscores, got '${id}'`)
  const catalogue = await openCatalogue(book)
  if (catalogue.ids.includes(id)) return null
  const base_risk_pct = parseNumber('--base-risk', baseRisk)
  if (base_risk_pct === null)
    throw new UsageError(
      `--base-risk: expected the risk of a trade of ${id}, which the catalogue does not have yet, such as 0.02`,
    )
  const name = id.charAt(0).toUpperCase() + id.slice(1)
  return catalogue.with({ id, name, base_risk_pct, ...fields }, unfunded)
}

async function writeHistory(
  book: string,
  tables: Readonly<Record<string, string>>,
  catalogue: string | null,
  found: Omit<Imported, 'written'>,
  options: HistoryOptions,
  runtime: Runtime,
): Promise<void> {
  for (const path of Object.keys(tables)) await assertFree(book, path, options.replace ?? false)
  const files = catalogue === null ? tables : { ...tables, [CATALOGUE_FILE]: catalogue }
  await writeBookFiles(book, files)
  printImport({ ...found, written: Object.keys(files) }, options, runtime)
}

function parseNumber(option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value
  throw new UsageError(`${option}: expected a number of at least 0, got '${text}'`)
}
