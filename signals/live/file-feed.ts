import { open, stat } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { messageOf } from '#storage/error-code.ts'
import { type Feed, FeedError, type NewBarReader, type Pause } from './bars.ts'

/** How often a file is checked for growth. */
const LOOK_MS = 100

const CHUNK_BYTES = 1 << 16

/** A growing table of bars, read from its beginning; known bars are skipped. */
export const fileFeed = (path: string, newReader: NewBarReader, pause: Pause): Feed => ({
  name: path,
  repeats: false,
  bars: stop => barsOfChunks(path, growth(path, pause, stop), newReader),
})

async function* growth(path: string, pause: Pause, stop: AbortSignal): AsyncIterable<string> {
  const decoder = new StringDecoder() // a character may be written in two parts
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new FeedError(path, `it cannot be read (${messageOf(error)})`)
  })
  try {
    const { ino } = await file.stat()
    let offset = 0
    while (!stop.aborted) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, offset)
      offset += bytesRead
      if (bytesRead > 0) yield decoder.write(buffer.subarray(0, bytesRead))
      else {
        await assertSameFile(path, ino, offset)
        await pause(LOOK_MS, stop)
      }
    }
  } finally {
    await file.close()
  }
}

/** A file that shrank or was replaced may have another history. */
async function assertSameFile(path: string, ino: number, offset: number): Promise<void> {
  const now = await stat(path).catch(() => null)
  if (now === null) throw new FeedError(path, `the file is gone; ${AGAIN}`)
  if (now.ino !== ino) throw new FeedError(path, `another file was put in its place; ${AGAIN}`)
  if (now.size < offset) throw new FeedError(path, `the file was cut to ${now.size} bytes; ${AGAIN}`)
}

const AGAIN = 'start the runner again once it is whole, and it goes on where it stood'

/** A table of bars from a pipe, such as standard input. Ends with it. */
export const streamFeed = (name: string, stream: Readable, newReader: NewBarReader): Feed => ({
  name,
  repeats: false,
  bars: stop => barsOfChunks(name, chunksUntil(stream, stop), newReader),
})

async function* chunksUntil(stream: Readable, stop: AbortSignal): AsyncIterable<string> {
  try {
    yield* addAbortSignal(stop, stream.setEncoding('utf8'))
  } catch (error) {
    if (!stop.aborted) throw error
  }
}

/** A row has about 100 characters; this bounds input without line breaks. */
const MAX_LINE_BYTES = 4_096

/** The bars of a stream of text. An incomplete last line is dropped. */
async function* barsOfChunks(name: string, chunks: AsyncIterable<string>, newReader: NewBarReader) {
  const read = newReader()
  let [rest, lines] = ['', 0]
  for await (const chunk of chunks) {
    const whole = (rest + chunk).split('\n')
    rest = whole.pop()!
    for (const line of whole) {
      lines++
      const row = read(line.replace(/\r$/, ''))
      if (typeof row === 'string') throw new FeedError(name, `line ${lines}: ${row}`)
      if (row !== null) yield row
    }
    if (Buffer.byteLength(rest) > MAX_LINE_BYTES)
      throw new FeedError(
        name,
        `line ${lines + 1} has more than ${MAX_LINE_BYTES} bytes: it is no table of bars`,
      )
  }
}
