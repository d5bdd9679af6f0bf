import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'

/** What a file was, as it lies on the disk. */
export type FileTally = { readonly bytes: number; readonly sha256: string; readonly lines: number }

/** The file cannot be read to its end. The message is a sentence for the operator, without the file's name. */
export class UnreadableFile extends Error {
  readonly row: number | null

  constructor(message: string, row: number | null, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnreadableFile'
    this.row = row
  }
}

/** A row of numbers has about 100 characters; without line breaks a whole file would be gathered as one line. */
const MAX_LINE_CHARS = 4096

/** One-minute bars of 38 years; what is longer is not a table of this book. */
const MAX_LINES = 20_000_000

/** Large enough that the work for a chunk is small beside the work for its lines. */
const CHUNK_BYTES = 1 << 18

/**
 * Calls `onLine` for every line of a text file, from row 1, without its line break (LF or CRLF); a `.gz` file is
 * unpacked on the way. Memory is a chunk and a line, whatever the file's size. Throws `UnreadableFile` where the
 * file, or its gzip stream, is cut off or is no text of lines.
 */
export async function readLines(
  path: string,
  onLine: (line: string, row: number) => void,
): Promise<FileTally> {
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
    /** The number of lines. A last line without a line break may be half a line: `6,5` of `6,543.2` is a number. */
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

/** The faults of a file, told; anything else that was thrown on the way passes through. */
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
