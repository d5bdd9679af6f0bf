import { NO_LAST_BREAK, readLines, splitLine, UnreadableFile } from '../table/lines.ts'
import { got } from './field.ts'
import { placeOf, type Reading, reporterOf } from './reading.ts'

/**
 * Reads a CSV file of the book, plain or gzip, and hands each row on as its fields in the order of `columns`.
 * Everything that is wrong with the form of the file goes to `reading.problems`.
 *
 * A row is a line: no field of the book needs a line break. Only a line with a quote in it is given to
 * csv-parse, because a plain one is split several times faster. Rows that come from elsewhere obey the same rules.
 */
export async function readTable(
  reading: Reading,
  path: string,
  columns: Columns,
  onRow: OnRow,
  imported?: TableRows,
): Promise<void> {
  if (imported !== undefined) return imported.forEach(({ fields, row }) => void onRow(fields, row))
  const report = reporterOf(reading, path)
  const read = createRowReader(columns)
  const onLine = (line: string, row: number): void => {
    const found = read(line, row)
    if (typeof found === 'string') report(found, row)
    else if (found !== null) onRow(found, row)
  }
  try {
    const { bytes, sha256, lines, openLine } = await readLines(placeOf(reading, path), onLine)
    if (openLine !== null) throw new UnreadableFile(NO_LAST_BREAK, lines + 1)
    reading.inputs.push({ path, bytes, sha256, rows: Math.max(lines - 1, 0) })
    if (lines === 0) onLine('', 1)
    if (lines === 1 && !columns.mayBeEmpty && !reading.problems.has(path))
      report('expected rows under the header, got none', 1)
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    report(error.message, error.row)
  }
}

type OnRow = (fields: readonly string[], row: number) => void

/** Texts in the order of the columns. */
export type TableRows = readonly { readonly fields: readonly string[]; readonly row: number }[]

/**
 * Reads the lines of a table one by one: the first is its header, and under a bad header no row is checked. Returns the fields of a
 * row, what is wrong with a line, or null.
 */
export function createRowReader(columns: Columns) {
  let header: Header | null = null
  return (line: string, row: number): readonly string[] | string | null => {
    const fields = splitLine(line)
    if (row === 1) header = toHeader(fields ?? [], columns)
    if (header === null) return row === 1 ? explainHeader(line, columns) : null
    if (row === 1) return null
    return fields?.length === header.names.length
      ? header.arrange(fields)
      : explainLength(line, fields, header)
  }
}

/** A header or a row is shown whole, unless it is absurd. */
const MAX_SHOWN_CHARS = 200

/** The columns of a table by exact name. Their order in a file is free; any other column is an error. */
export type Columns = {
  readonly required: readonly string[]
  /** Of these, at least one is required. */
  readonly oneOf?: readonly string[]
  /** All of them, in the order in which rows are handed on; without it the required ones. */
  readonly names?: readonly string[]
  /** Whether a header without rows is a table. */
  readonly mayBeEmpty?: boolean
}

type Header = NonNullable<ReturnType<typeof toHeader>>

/** The names of a file, and what brings its rows into the order of the columns, missing ones blank. Null unless they are sound. */
function toHeader(names: readonly string[], columns: Columns) {
  const { required, oneOf = [], names: wanted = required } = columns
  const isSound =
    names.every(name => wanted.includes(name)) &&
    new Set(names).size === names.length &&
    required.every(name => names.includes(name)) &&
    (oneOf.length === 0 || oneOf.some(name => names.includes(name)))
  if (!isSound) return null
  // Most files have the columns as the documentation has them; then no row is copied.
  if (names.join() === wanted.join()) return { names, arrange: (fields: readonly string[]) => fields }
  const places = wanted.map(name => names.indexOf(name))
  return { names, arrange: (fields: readonly string[]) => places.map(place => fields[place] ?? '') }
}

/** Why `toHeader` returned null. */
function explainHeader(line: string, { required, oneOf = [], names = required }: Columns): string {
  const optional = names.filter(name => !required.includes(name) && !oneOf.includes(name))
  const one = oneOf.length === 0 ? '' : ` and at least one of ${oneOf.join(',')}`
  const any = optional.length === 0 ? '' : ` and any of ${optional.join(',')}`
  return `expected the columns ${required.join(',')}${one}${any}, in any order, got ${got(line, MAX_SHOWN_CHARS)}`
}

/** Why a row does not fit its header. `fields` is null if its quotes do not match. */
function explainLength(line: string, fields: readonly string[] | null, { names }: Header): string {
  const expected = `expected ${names.length} fields (${names.join(',')})`
  if (line.trim() === '') return `${expected}, got a blank line`
  if (fields === null)
    return `${expected}, got a field whose quotes do not match: ${got(line, MAX_SHOWN_CHARS)}`
  return `${expected}, got ${fields.length}: ${got(line, MAX_SHOWN_CHARS)}`
}
