import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import { CsvError, parse } from 'csv-parse/sync'

/** The fields of a line, or null if its quotes do not match. csv-parse is slow: a line without quotes is split. */
export function splitLine(line: string, delimiter = ','): readonly string[] | null {
  if (!line.includes('"')) return line.split(delimiter)
  try {
    const [fields]: string[][] = parse(line, { record_delimiter: '\n', delimiter })
    return fields ?? null
  } catch (error) {
    if (error instanceof CsvError) return null
    throw error
  }
}

/** The file cannot be read to its end. The message is for the operator, without the file's name. */
export class UnreadableFile extends Error {
  readonly row: number | null

  constructor(message: string, row: number | null = null) {
    super(message)
    this.name = 'UnreadableFile'
    this.row = row
  }
}

/** Ends the reading of a file. */
export function refuse(message: string, row: number | null = null): never {
  throw new UnreadableFile(message, row)
}

/** The result, or what was expected of the bytes if they are something else: libraries throw errors of many kinds. */
export function attempt<T>(expected: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableFile) throw error
    refuse(`expected ${expected}, got another thing (${String(error)})`)
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
export async function readLines(path: string, onLine: (line: string, row: number) => void) {
  const hash = createHash('sha256')
  const splitter = createLineSplitter(onLine)

  async function* hashed(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }
  async function split(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) splitter.push(chunk)
  }

  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  try {
    if (/\.gz$/i.test(path)) await pipeline(file, hashed, createGunzip({ chunkSize: CHUNK_BYTES }), split)
    else await pipeline(file, hashed, split)
  } catch (error) {
    throw toUnreadable(error, splitter.lines()) ?? error
  }
  return { bytes: file.bytesRead, sha256: hash.digest('hex'), ...splitter.end() }
}

/** Cuts chunks of UTF-8 into lines; a byte order mark, which spreadsheets write, is no part of the first. */
export function createLineSplitter(onLine: (line: string, row: number) => void) {
  const decoder = new StringDecoder('utf8') // reads 115 MB in a quarter less time than a TextDecoder of chunks
  let rest = ''
  let lines = 0
  const unmarked = (line: string): string =>
    lines <= 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line

  return {
    lines: () => lines,
    push(chunk: Uint8Array) {
      const text = rest + decoder.write(chunk)
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        lines += 1
        const line = text.slice(start, text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end)
        onLine(unmarked(line), lines)
        start = end + 1
      }
      rest = text.slice(start)
      if (rest.length > MAX_LINE_CHARS) refuse(LONG_LINE, lines + 1)
      if (lines > MAX_LINES) refuse(`expected at most ${MAX_LINES} lines, got more`, lines)
    },
    /** The number of lines with a break, and what follows the last break, which may be cut off; null if nothing does. */
    end() {
      const openLine = unmarked(rest + decoder.end())
      return { lines, openLine: openLine === '' ? null : openLine }
    },
  }
}

const BYTE_ORDER_MARK = '\ufeff'
const CARRIAGE_RETURN = 13

const LONG_LINE =
  `expected lines of at most ${MAX_LINE_CHARS} characters, got a longer one: ` +
  'a table is text with one row a line, and its line breaks are LF or CRLF'

/** The errors of reading a file; null for any other error. */
export function toUnreadable(error: unknown, lines: number): UnreadableFile | null {
  if (error instanceof UnreadableFile) return error
  if (!(error instanceof Error && 'code' in error)) return null
  if (error.code === 'Z_BUF_ERROR') return new UnreadableFile(CUT_GZIP, lines)
  if (String(error.code).startsWith('Z_')) return new UnreadableFile(`${NO_GZIP} (${error.message})`)
  return 'syscall' in error ? new UnreadableFile(`${NO_FILE} (${error.message})`) : null
}

const CUT_GZIP = 'expected a whole gzip stream, got its beginning: the file is cut off'
const NO_GZIP = 'expected a gzip stream, because its name ends in .gz, got another thing'
const NO_FILE = 'expected a file that can be read, got another thing'

/** A last line without a break may be cut off: `6,5` of `6,543.2` is a number. */
export const NO_LAST_BREAK =
  'expected a line break at the end of the last line, got the end of the file: ' +
  'the file may be cut off; if it is whole, end its last line'
