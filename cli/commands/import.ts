import { type Command, Option } from 'commander'
import { z } from 'zod'
import { metaOf, problemsOf } from '#pipeline/book/field.ts'
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
Reads CSV (also with semicolons, tabs or bars), JSON, Parquet and Arrow (Feather), each plain, as .gz or in a .zip. The format is
found and named; a file whose columns, zone or timeframe are in doubt is refused. Every repair is counted and printed;
nothing is interpolated. --column and --ignore can be repeated. The exit code is 1 if a file is refused: every problem is
printed with file and row, and nothing is written.
`

const BARS_EXAMPLES = `
Examples:
  highwater import bars Bitstamp_BTCUSD_d.csv --instrument BTCUSD --book ./book
  highwater import bars BTCUSDT-1h-2024-12.zip BTCUSDT-1h-2025-01.zip --instrument BTCUSDT --book ./book
  highwater import bars BTC-USD.csv --tz UTC --instrument BTC-USD --drop-impossible --book ./book
  highwater import bars kurse.csv --column t=Datum --column o=Anfang --column h=Hoch --column l=Tief --column c=Schluss \\
    --tz Europe/Berlin --times open --instrument BTCEUR --book ./book
`

const LEDGER_EXAMPLES = `
TradingView (List of Trades), freqtrade, backtesting.py, vectorbt, backtrader and NinjaTrader are known; of other tables the
columns. The results become fractions of the account, so that the capital at the start has to be known. A list of TradingView does not
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
  run: (files: string[], options: z.infer<z.ZodObject<Shape>>, runtime: Runtime) => Promise<void>,
  runtime: Runtime,
): void {
  command.argument(files, 'plain, .gz or .zip').addHelpText('after', ABOUT + examples)
  const names = Object.entries(shape).map(([key, schema]) => {
    const about = metaOf(schema)?.description
    const isNumber = (text: string): boolean =>
      text.trim() !== '' && z.safeParse(schema, Number(text)).success
    const parse = (text: string, before: unknown): unknown => {
      if (key === 'columns') return addColumn(text, before)
      if (key === 'ignore') return [...(Array.isArray(before) ? before : []), text]
      return isNumber(text) ? Number(text) : text
    }
    const option = new Option(flagsOf(key, schema), about).makeOptionMandatory(
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
