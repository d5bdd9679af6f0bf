import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import { CsvError, parse } from 'csv-parse/sync'
import { got } from './field.ts'
import { placeOf, type Reading } from './reading.ts'

/**
 * Reads a CSV file of the book, plain or gzip, and hands each row on as its fields in the order of `columns`
 * (required, then optional). Everything that is wrong with the form of the file goes to `reading.problems`.
 *
 * A row is a line: no field of the book needs a line break. Only a line with a quote in it is given to
 * csv-parse, because a plain one is split several times faster.
 */
export async function readTable(
  reading: Reading,
  path: string,
  columns: Columns,
  onRow: (fields: readonly string[], row: number) => void,
): Promise<void> {
  const report = (row: number | null, message: string) =>
    reading.problems.add({ file: path, message, ...(row === null ? {} : { row }) })
  const rows = createRowReader(columns, onRow, report)
  reading.onFile(path)
  try {
    const { bytes, sha256, lines } = await readLines(placeOf(reading, path), rows.onLine)
    reading.inputs.push({ path, bytes, sha256, rows: Math.max(lines - 1, 0) })
    rows.end(lines)
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    report(error.row, error.message)
  }
}

/** Takes the lines of a table one by one: the first is its header; under a bad header no row is checked. */
function createRowReader(
  columns: Columns,
  onRow: (fields: readonly string[], row: number) => void,
  report: (row: number, message: string) => void,
) {
  let header: Header | null = null

  return {
    onLine(line: string, row: number): void {
      if (row === 1) {
        const text = line.replace(BYTE_ORDER_MARK, '')
        header = toHeader(splitLine(text) ?? [], columns)
        if (header === null) report(row, explainHeader(text, columns))
      } else if (header !== null) {
        const fields = splitLine(line)
        if (fields?.length === header.names.length) onRow(header.arrange(fields), row)
        else report(row, explainLength(line, fields, header))
      }
    },
    end(lines: number): void {
      if (lines === 0) report(1, explainHeader('', columns))
      if (lines === 1 && header !== null && !columns.mayBeEmpty)
        report(1, 'expected rows under the header, got none')
    },
  }
}

/** Spreadsheets write it before UTF-8 text. */
const BYTE_ORDER_MARK = '\ufeff'

/** The fields of a line, or null if its quotes do not match. */
function splitLine(line: string): readonly string[] | null {
  if (!line.includes('"')) return line.split(',')
  try {
    const [fields]: string[][] = parse(line, { record_delimiter: '\n' })
    return fields ?? null
  } catch (error) {
    if (error instanceof CsvError) return null
    throw error
  }
}

/** A header or a row is shown whole, unless it is absurd. */
const MAX_SHOWN_CHARS = 200

/** The columns of a table by exact name. Their order in a file is free; any other column is an error. */
export type Columns = {
  readonly required: readonly string[]
  readonly optional?: readonly string[]
  /** Whether at least one of the optional columns is required. */
  readonly needsOptional?: boolean
  /** Whether a header without rows is a table. */
  readonly mayBeEmpty?: boolean
}

export type Header = {
  /** In the order of the file. */
  readonly names: readonly string[]
  /** Brings the fields of a row into the order of the columns; a column that the file lacks is blank. */
  arrange(fields: readonly string[]): readonly string[]
}

/** Null unless each name is a column, none comes twice and no required one is missing. */
export function toHeader(names: readonly string[], columns: Columns): Header | null {
  const { required, optional = [], needsOptional } = columns
  const wanted = [...required, ...optional]
  const isSound =
    names.every(name => wanted.includes(name)) &&
    new Set(names).size === names.length &&
    required.every(name => names.includes(name)) &&
    (!needsOptional || optional.some(name => names.includes(name)))
  if (!isSound) return null
  // Most files have the columns as the documentation has them; then no row is copied.
  if (names.join() === wanted.join()) return { names, arrange: fields => fields }
  const places = wanted.map(name => names.indexOf(name))
  return { names, arrange: fields => places.map(place => fields[place] ?? '') }
}

/** Why `toHeader` returned null. */
export function explainHeader(line: string, { required, optional = [], needsOptional }: Columns): string {
  const others =
    optional.length === 0 ? '' : ` and ${needsOptional ? 'at least one' : 'any'} of ${optional.join(',')}`
  return `expected the columns ${required.join(',')}${others}, in any order, got ${got(line, MAX_SHOWN_CHARS)}`
}

/** Why a row does not fit its header. `fields` is null if its quotes do not match. */
export function explainLength(line: string, fields: readonly string[] | null, { names }: Header): string {
  const expected = `expected ${names.length} fields (${names.join(',')})`
  if (line.trim() === '') return `${expected}, got a blank line`
  if (fields === null)
    return `${expected}, got a field whose quotes do not match: ${got(line, MAX_SHOWN_CHARS)}`
  return `${expected}, got ${fields.length}: ${got(line, MAX_SHOWN_CHARS)}`
}

/** The file cannot be read to its end. The message is for the operator, without the file's name. */
class UnreadableFile extends Error {
  readonly row: number | null

  constructor(message: string, row: number | null, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnreadableFile'
    this.row = row
  }
}

/** A row of numbers has about 100 characters; a file without line breaks would become one line. */
const MAX_LINE_CHARS = 4096

/** One-minute bars of 38 years; what is longer is not a table of this book. */
const MAX_LINES = 20_000_000

/** Large enough that the work for a chunk is small beside the work for its lines. */
const CHUNK_BYTES = 1 << 18

/**
 * Calls `onLine` for every line of a text file, from row 1, without its line break (LF or CRLF); a `.gz` file
 * is unpacked on the way. Memory is a chunk and a line, whatever the file's size. Throws `UnreadableFile` if
 * the file, or its gzip stream, is cut off or is no text of lines.
 */
async function readLines(path: string, onLine: (line: string, row: number) => void) {
  const hash = createHash('sha256')
  const splitter = createLineSplitter(onLine)
  let bytes = 0

  async function* tallied(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  async function split(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) splitter.push(chunk)
  }

  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  try {
    if (path.endsWith('.gz')) await pipeline(file, tallied, createGunzip({ chunkSize: CHUNK_BYTES }), split)
    else await pipeline(file, tallied, split)
  } catch (error) {
    throw toUnreadable(error, splitter.lines())
  }
  return { bytes, sha256: hash.digest('hex'), lines: splitter.end() }
}

function createLineSplitter(onLine: (line: string, row: number) => void) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let lines = 0

  return {
    lines: () => lines,
    push(chunk: Buffer) {
      const text = rest + decoder.write(chunk)
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        lines += 1
        onLine(text.slice(start, text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end), lines)
        start = end + 1
      }
      rest = text.slice(start)
      if (rest.length > MAX_LINE_CHARS) throw new UnreadableFile(LONG_LINE, lines + 1)
      if (lines > MAX_LINES) throw new UnreadableFile(`expected at most ${MAX_LINES} lines, got more`, lines)
    },
    /** The number of lines. A last line without a break may be cut off: `6,5` of `6,543.2` is a number. */
    end(): number {
      if (rest + decoder.end() !== '') throw new UnreadableFile(NO_LAST_BREAK, lines + 1)
      return lines
    },
  }
}

const CARRIAGE_RETURN = 13

const LONG_LINE =
  `expected lines of at most ${MAX_LINE_CHARS} characters, got a longer one: ` +
  'a table is text with one row a line, and its line breaks are LF or CRLF'

const NO_LAST_BREAK =
  'expected a line break at the end of the last line, got the end of the file: ' +
  'the file may be cut off; if it is whole, end its last line'

/** The errors of reading a file as `UnreadableFile`; any other error as it is. */
function toUnreadable(error: unknown, lines: number): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  const cause = { cause: error }
  if (error.code === 'Z_BUF_ERROR') return new UnreadableFile(CUT_GZIP, lines, cause)
  if (String(error.code).startsWith('Z_'))
    return new UnreadableFile(`${NO_GZIP} (${error.message})`, null, cause)
  return 'syscall' in error ? new UnreadableFile(`${NO_FILE} (${error.message})`, null, cause) : error
}

const CUT_GZIP = 'expected a whole gzip stream, got its beginning: the file is cut off'
const NO_GZIP = 'expected a gzip stream, because its name ends in .gz, got another thing'
const NO_FILE = 'expected a file that can be read, got another thing'
