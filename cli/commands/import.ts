import { resolve } from 'node:path'
import type { Command } from 'commander'
import { spellMoment } from '#pipeline/book/cell.ts'
import { importBars } from '#pipeline/book/import-bars.ts'
import { createReading } from '#pipeline/book/reading.ts'
import { TIMEFRAMES } from '#pipeline/book/timeframe.ts'
import { assertFree, barsText, writeBookFiles } from '#pipeline/book/write-table.ts'
import {
  addFileOptions,
  type FileOptions,
  fileRules,
  parseInstrument,
  parseTimeframe,
  printImport,
  refusal,
} from '../import-files.ts'
import {
  addHistoryOptions,
  type LedgerOptions,
  type ReturnsOptions,
  runLedgerImport,
  runReturnsImport,
} from '../import-history.ts'
import type { Runtime } from '../runtime.ts'

const ABOUT = `
Reads CSV (also with semicolons or tabs), JSON, Parquet and Arrow (Feather), each plain, as .gz or in a .zip. The format is
found and named; a file whose columns, zone or timeframe are in doubt is refused. Every repair is counted and printed;
nothing is interpolated. The exit code is 1 if a file is refused: every problem is printed with file and row, and nothing is
written.`

const EXAMPLES = `
Examples:
  highwater import bars BTCUSDT-1d-2026.zip --instrument BTCUSDT --book ./book
  highwater import ledger trades.csv --id elm --instrument ETHUSDT --tz +08:00 --capital 10000 --base-risk 0.02 --no-funding --book ./book
  highwater import returns fund.csv --id yew --unit percent --commission-bps 0 --base-risk 0.02 --book ./book
  highwater import ledger --help`

const LEDGER_EXAMPLES = `${ABOUT}

TradingView (List of Trades), freqtrade (backtest result) and backtesting.py are known; of other tables the columns. The
results become fractions of the account, so that the capital at the start has to be known. A list of TradingView does not
have the zone of its chart: it is found by the bars, and you confirm it with --tz. The totals are those that the tool prints:
compare them. A new strategy gets an entry in the catalogue.

Examples:
  highwater import ledger trades.csv --id elm --instrument ETHUSDT --tz +08:00 --capital 10000 --base-risk 0.02 --no-funding --book ./book
  highwater import ledger backtest-result.zip --id ash --instrument PORTFOLIO --realised --base-risk 0.02 --book ./book
  highwater import ledger trades_final.csv --id fir --instrument BTCUSDT --mark 4h --tz UTC --capital 100000 \\
    --base-risk 0.02 --book ./book`

const RETURNS_EXAMPLES = `${ABOUT}

Every day of the calendar has a return; a new strategy gets an entry in the catalogue.

Example:
  highwater import returns fund.csv --id yew --unit percent --commission-bps 0 --base-risk 0.02 --book ./book`

const BARS_EXAMPLES = `${ABOUT}

Examples:
  highwater import bars Bitstamp_BTCUSD_d.csv --instrument BTCUSD --book ./book
  highwater import bars BTCUSDT-1h-2024-12.zip BTCUSDT-1h-2025-01.zip --instrument BTCUSDT --book ./book
  highwater import bars BTC-USD.csv --tz UTC --instrument BTC-USD --drop-impossible --book ./book
  highwater import bars kurse.csv --column t=Datum --column o=Anfang --column h=Hoch --column l=Tief --column c=Schluss \\
    --tz Europe/Berlin --instrument BTCEUR --book ./book`

/** `highwater import`: brings files from elsewhere into a book. */
export function defineImport(command: Command, runtime: Runtime): void {
  command.addHelpText('after', `${ABOUT}\n${EXAMPLES}`)
  const bars = command.command('bars').description('write bars of one instrument into a book')
  addFileOptions(bars)
    .requiredOption('--instrument <name>', 'the instrument; names the folder under bars/')
    .option('--timeframe <name>', `${TIMEFRAMES.join(', ')} (default: found by the distance of the bars)`)
    .option('--drop-last', 'leave out the last bar, because it was not over when the file was made')
    .option('--drop-impossible', 'leave out bars whose prices contradict each other')
    .addHelpText('after', BARS_EXAMPLES)
    .action((files: string[], options: BarsOptions) => runBars(files, options, runtime))
  const ledger = command.command('ledger').description('write the trades of another tool into a book')
  addHistoryOptions(addFileOptions(ledger, '<file>'))
    .requiredOption(
      '--instrument <name>',
      'the instrument; the book has its bars, unless --realised is given',
    )
    .option('--capital <amount>', 'the account at the start, in its currency, if the file does not have it')
    .option('--mark <timeframe>', 'the bars whose closes mark the trades (default: the only ones)')
    .option(
      '--no-funding',
      'state that the instrument has no funding; otherwise bring funding/<instrument>.csv',
    )
    .option(
      '--realised',
      'take the account without the value of open trades, as reported returns: it needs no bars',
    )
    .addHelpText('after', LEDGER_EXAMPLES)
    .action((file: string, options: LedgerOptions) => runLedgerImport(file, options, runtime))
  const returns = command.command('returns').description('write daily returns into a book')
  addHistoryOptions(addFileOptions(returns, '<file>'))
    .requiredOption('--unit <fraction|percent>', 'what a return of 1 means: +100 % or +1 %')
    .addHelpText('after', RETURNS_EXAMPLES)
    .action((file: string, options: ReturnsOptions) => runReturnsImport(file, options, runtime))
}

type BarsOptions = FileOptions & {
  readonly instrument: string
  readonly timeframe?: string
  readonly dropLast?: boolean
  readonly dropImpossible?: boolean
}

async function runBars(files: readonly string[], options: BarsOptions, runtime: Runtime): Promise<void> {
  const instrument = parseInstrument(options.instrument)
  const reading = createReading(runtime.cwd, { nowMs: runtime.now() })
  const imported = await importBars(reading, {
    ...fileRules(files, options),
    timeframe: parseTimeframe(options.timeframe),
    drop_last: options.dropLast ?? false,
    drop_impossible: options.dropImpossible ?? false,
  })
  if (imported === null) throw refusal(reading)
  const { bars, timeframe, formats, ignored, findings } = imported
  const path = `bars/${instrument}/${timeframe}.csv`
  const book = resolve(runtime.cwd, options.book)
  await assertFree(book, path, options.replace ?? false)
  await writeBookFiles(book, { [path]: barsText(bars) })
  const [from, to] = [spellMoment(bars.t[0]!), spellMoment(bars.t.at(-1)!)]
  const summary = { instrument, timeframe, bars: bars.t.length, from, to }
  const line = `${bars.t.length} bars of ${timeframe}, ${from} to ${to}`
  printImport({ written: [path], formats, ignored, findings, summary, line }, options, runtime)
}
