import { type Command, Option } from 'commander'
import { z } from 'zod'
import { fieldProblems } from '#pipeline/book/field.ts'
import { TIMEFRAMES } from '#pipeline/book/timeframe.ts'
import { ZONE_FORM } from '#pipeline/book/zone.ts'
import { UsageError } from '../environment.ts'
import {
  BARS_OPTIONS,
  importBarsFiles,
  importLedgerFile,
  importReturnsFile,
  LEDGER_OPTIONS,
  RETURNS_OPTIONS,
} from '../import-files.ts'
import type { Runtime } from '../runtime.ts'

const ABOUT = `
Reads CSV (also with semicolons or tabs), JSON, Parquet and Arrow (Feather), each plain, as .gz or in a .zip. The format is
found and named; a file whose columns, zone or timeframe are in doubt is refused. Every repair is counted and printed;
nothing is interpolated. The exit code is 1 if a file is refused: every problem is printed with file and row, and nothing is
written.
`

const BARS_EXAMPLES = `
Examples:
  highwater import bars Bitstamp_BTCUSD_d.csv --instrument BTCUSD --book ./book
  highwater import bars BTCUSDT-1h-2024-12.zip BTCUSDT-1h-2025-01.zip --instrument BTCUSDT --book ./book
  highwater import bars BTC-USD.csv --tz UTC --instrument BTC-USD --drop-impossible --book ./book
  highwater import bars kurse.csv --column t=Datum --column o=Anfang --column h=Hoch --column l=Tief --column c=Schluss \\
    --tz Europe/Berlin --instrument BTCEUR --book ./book
`

const LEDGER_EXAMPLES = `
TradingView (List of Trades), freqtrade (backtest result) and backtesting.py are known; of other tables the columns. The
results become fractions of the account, so that the capital at the start has to be known. A list of TradingView does not
have the zone of its chart: it is found by the bars, and you confirm it with --tz. The totals are those that the tool prints:
compare them. A new strategy gets an entry in the catalogue.

Examples:
  highwater import ledger trades.csv --id elm --instrument ETHUSDT --tz +08:00 --capital 10000 --base-risk 0.02 --no-funding --book ./book
  highwater import ledger backtest-result.zip --id ash --instrument PORTFOLIO --realised --base-risk 0.02 --book ./book
  highwater import ledger trades_final.csv --id fir --instrument BTCUSDT --mark 4h --tz UTC --capital 100000 \\
    --base-risk 0.02 --book ./book
`

const RETURNS_EXAMPLES = `
Every day of the calendar has a return; a new strategy gets an entry in the catalogue.

Example:
  highwater import returns fund.csv --id yew --unit percent --commission-bps 0 --base-risk 0.02 --book ./book
`

/** `highwater import`: brings files from elsewhere into a book. */
export function defineImport(command: Command, runtime: Runtime): void {
  command.addHelpText('after', ABOUT + BARS_EXAMPLES + LEDGER_EXAMPLES + RETURNS_EXAMPLES)
  const bars = command.command('bars').description('write bars of one instrument into a book')
  define(bars, '<files...>', BARS_OPTIONS, BARS_EXAMPLES, importBarsFiles, runtime)
  const ledger = command.command('ledger').description('write the trades of another tool into a book')
  define(ledger, '<file>', LEDGER_OPTIONS, LEDGER_EXAMPLES, importLedgerFile, runtime)
  const returns = command.command('returns').description('write daily returns into a book')
  define(returns, '<file>', RETURNS_OPTIONS, RETURNS_EXAMPLES, importReturnsFile, runtime)
}

/** Flags and what they do, by the key of their value. */
const FLAGS: Readonly<Record<string, readonly [flags: string, about: string]>> = {
  book: ['--book <dir>', 'the folder of the book; it is made if there is none'],
  format: [
    '--format <name>',
    'read it as this format, or as a plain `table` of columns by name (default: found by the columns)',
  ],
  tz: ['--tz <zone>', `the zone of times that have none: ${ZONE_FORM}`],
  column: [
    '--column <role=name>',
    'a column by its name in the header, its place from 1 on, or t=DATE+TIME; repeatable',
  ],
  ignore: [
    '--ignore <column>',
    'do not read a column that could change a figure, which is published; repeatable',
  ],
  replace: ['--replace', 'replace a table that the book has already'],
  json: ['--json', 'print what was read and written as one JSON document'],
  instrument: ['--instrument <name>', 'the instrument, whose bars the book has under bars/'],
  timeframe: ['--timeframe <name>', `${TIMEFRAMES.join(', ')} (default: found by the distance of the bars)`],
  times: ['--times <open|close>', 'what the time of a row is (default: what the format says)'],
  duplicates: [
    '--duplicates <which>',
    'of rows of one time count the first, the last or the one of largest-volume',
  ],
  drop_last: ['--drop-last', 'leave out the last bar, because it was not over when the file was made'],
  drop_impossible: ['--drop-impossible', 'leave out bars whose prices contradict each other'],
  id: ['--id <id>', 'the strategy: a public alias, such as elm'],
  base_risk: [
    '--base-risk <fraction>',
    'the risk of a trade by which users rescale, 0.02 = 2 %; needed for a new strategy',
  ],
  engine: ['--engine <text>', 'what made the history (default: the name of the format)'],
  commission_bps: [
    '--commission-bps <n>',
    'the commission of a fill in basis points (default: what the results show)',
  ],
  capital: ['--capital <amount>', 'the account at the start, in its currency, if the file does not have it'],
  mark: ['--mark <timeframe>', 'the bars whose closes mark the trades (default: the only ones)'],
  funding: [
    '--no-funding',
    'state that the instrument has no funding; otherwise bring funding/<instrument>.csv',
  ],
  results: [
    '--results <what>',
    'results are after-costs or before-costs (default: what the prices show); of returns: per-day',
  ],
  append: ['--append', 'add the rows after the last one; one that differs is refused'],
  realised: [
    '--realised',
    'take the account without the value of open trades, as reported returns: it needs no bars',
  ],
  unit: ['--unit <fraction|percent>', 'what a return of 1 means: +100 % or +1 %'],
}

/** Defines a command by the shape of its options; one that may not be missing is required. */
function define<Shape extends z.ZodRawShape>(
  command: Command,
  files: string,
  shape: Shape,
  examples: string,
  run: (files: string[], options: z.infer<z.ZodObject<Shape>>, runtime: Runtime) => Promise<void>,
  runtime: Runtime,
): void {
  command.argument(files, 'plain, .gz or .zip').addHelpText('after', ABOUT + examples)
  for (const [key, schema] of Object.entries(shape)) {
    const [flags, about] = FLAGS[key]!
    const isNumber = (text: string): boolean =>
      text.trim() !== '' && z.safeParse(schema, Number(text)).success
    const parse = (text: string, before: unknown): unknown =>
      key === 'column'
        ? addColumn(text, before)
        : key === 'ignore'
          ? [...listOf(before), text]
          : isNumber(text)
            ? Number(text)
            : text
    const option = new Option(flags, about).makeOptionMandatory(!z.safeParse(schema, undefined).success)
    command.addOption(option.required ? option.argParser(parse) : option)
  }
  command.action(async (given: string | string[], options: object) => {
    const record = Object.fromEntries(
      Object.entries(options).map(([key, value]) => [
        key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
        value,
      ]),
    )
    const [problem] = fieldProblems(shape, record)
    if (problem !== undefined)
      throw new UsageError(`--${problem.key.replaceAll('_', '-')}: ${problem.message}`)
    await run([given].flat(), z.object(shape).parse(record), runtime)
  })
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function addColumn(text: string, before: unknown): object {
  const [, role, name = ''] = /^(\w+)=(.+)$/.exec(text) ?? []
  if (role === undefined)
    throw new UsageError(`--column: expected ROLE=NAME or ROLE=PLACE, such as t=Datum or c=5, got '${text}'`)
  return { ...Object(before), [role]: /^[1-9]\d*$/.test(name) ? Number(name) : name }
}
