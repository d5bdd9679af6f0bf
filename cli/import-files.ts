import type { Command } from 'commander'
import { INSTRUMENT_FORM, INSTRUMENT_PATTERN } from '#pipeline/book/catalogue.ts'
import { BookError } from '#pipeline/book/problem.ts'
import type { Reading } from '#pipeline/book/reading.ts'
import type { Repair } from '#pipeline/book/repair.ts'
import { TIMEFRAMES, type Timeframe } from '#pipeline/book/timeframe.ts'
import { parseZone, ZONE_FORM } from '#pipeline/book/zone.ts'
import { collect } from './build-options.ts'
import { UsageError } from './environment.ts'
import type { Runtime } from './runtime.ts'

// What `highwater import bars`, `ledger` and `returns` share.

export type FileOptions = {
  readonly book: string
  readonly as?: string
  readonly tz?: string
  readonly column?: readonly string[]
  readonly replace?: boolean
  readonly json?: boolean
}

export const addFileOptions = (command: Command, files = '<files...>'): Command =>
  command
    .argument(files, 'plain, .gz or .zip')
    .requiredOption('--book <dir>', 'the folder of the book; it is made if there is none')
    .option('--as <format>', 'refuse every other format')
    .option('--tz <zone>', `the zone of times that have none: ${ZONE_FORM}`)
    .option(
      '--column <role=name>',
      'a column by its name in the header or its place from 1 on; repeatable',
      collect,
    )
    .option('--replace', 'replace a table that the book has already')
    .option('--json', 'print what was read and written as one JSON document')

export type Imported = {
  readonly written: readonly string[]
  readonly formats: readonly string[]
  readonly ignored: readonly string[]
  readonly findings: readonly Repair[]
  readonly summary: Readonly<Record<string, unknown>>
  readonly line: string
}

/** What was written on stdout, what was found on stderr. */
export function printImport(
  { line, summary, ...found }: Imported,
  { json }: FileOptions,
  { terminal }: Runtime,
): void {
  const { written, formats, ignored, findings } = found
  if (json) terminal.json({ ...summary, ...found })
  else {
    terminal.print(`${written.join(' and ')}: ${line}, from ${[...new Set(formats)].join(' and ')}`)
    for (const { file, message } of findings) terminal.note(`note: ${file}: ${message}`)
    if (ignored.length > 0) terminal.note(`note: columns that are not read: ${ignored.join(', ')}`)
  }
}

export function fileRules(files: readonly string[], { as, tz, column }: FileOptions) {
  if (tz !== undefined && parseZone(tz) === null)
    throw new UsageError(`--tz: expected ${ZONE_FORM}, got '${tz}'`)
  return { path: [...files], as, tz, columns: column === undefined ? undefined : parseColumns(column) }
}

function parseColumns(given: readonly string[]): Record<string, string | number> {
  const pairs = given.map(text => {
    const [, role, name] = /^(\w+)=(.+)$/.exec(text) ?? []
    if (role === undefined || name === undefined)
      throw new UsageError(
        `--column: expected ROLE=NAME or ROLE=PLACE, such as t=Datum or c=5, got '${text}'`,
      )
    return [role, /^[1-9]\d*$/.test(name) ? Number(name) : name] as const
  })
  return Object.fromEntries(pairs)
}

export function parseTimeframe(text: string | undefined, option = '--timeframe'): Timeframe | null {
  const timeframe = TIMEFRAMES.find(each => each === text)
  if (text === undefined || timeframe !== undefined) return timeframe ?? null
  throw new UsageError(`${option}: expected one of ${TIMEFRAMES.join(', ')}, got '${text}'`)
}

export function parseInstrument(name: string): string {
  if (INSTRUMENT_PATTERN.test(name)) return name
  throw new UsageError(`--instrument: expected ${INSTRUMENT_FORM}, got '${name}'`)
}

/** Every problem of the files; nothing was written. */
export const refusal = ({ dir, problems }: Reading): BookError =>
  new BookError(dir, problems.sorted(), 'the import')
