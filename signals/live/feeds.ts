// The feeds of a live runner: a file that grows, a pipe, and a URL that is polled.
import { open, stat } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { request } from 'undici'
import type { Bar } from '#core/replay/strategy.ts'
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

/**
 * Between two polls, at most one request a second. An exchange may revise a bar in the first seconds after its close,
 * so a bar is taken from an answer that was requested this long after it.
 */
const POLL_PART = 1 / 120
const POLL_LEAST_MS = 1_000
const POLL_MOST_MS = 5_000

/** After consecutive failures; the last one repeats. */
const BACK_OFF_MS = [1_000, 2_000, 5_000, 10_000, 30_000]

const DEADLINE_MS = 10_000

/** The newest thousand bars have some 100 kB. */
const MAX_BODY_BYTES = 4_000_000

/** A missing bar is a gap of the market once a later one has closed for this long. */
const GAP_PART = 0.25
const GAP_MOST_MS = 60_000

/** Why an answer is no table of bars: as a whole, or because of a row. */
type NoBars = { readonly why: string; readonly isOneRow: boolean }

type PollOptions = {
  readonly url: string
  readonly timeframeMs: number
  /** The bars of an answer, ascending, those that have not closed among them; or why it is no table of bars. */
  readonly readAnswer: (answer: Buffer) => Promise<readonly Bar[] | NoBars>
  readonly now: () => number
  readonly pause: Pause
  readonly note: (line: string) => void
  /** The open of the newest known bar; null before the first. */
  readonly lastKnown: () => number | null
}

/**
 * Polls a URL for its newest bars. The answer is any table of bars that an import knows. Bars that have not closed, or closed a
 * moment ago, are skipped. An answer other than 200 is requested again, and after a first table also one that is none; what is no
 * table at first ends the feed, and so does a row after the first that is no bar.
 */
export function pollFeed(options: PollOptions): Feed {
  const name = withoutQuery(options.url)
  return { name, repeats: true, bars: stop => pollBars(name, options, stop) }
}

/** A token in a query must not be logged. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//')

async function* pollBars(name: string, options: PollOptions, stop: AbortSignal): AsyncIterable<Bar> {
  const { timeframeMs, pause, note } = options
  const everyMs = Math.min(Math.max(timeframeMs * POLL_PART, POLL_LEAST_MS), POLL_MOST_MS)
  let [failures, isKnown] = [0, false]
  while (!stop.aborted) {
    const settledMs = options.now() - everyMs
    const answer = await ask(options, stop)
    if (stop.aborted) return
    if ('why' in answer) {
      if (answer.isOneRow || (answer.isAnswer && !isKnown)) throw new FeedError(name, answer.why)
      if (failures === 0) note(`${name}: ${answer.why}; trying again`)
      failures++
      await pause(BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length) - 1]!, stop)
      continue
    }
    if (failures > 0) note(`${name} answers again`)
    ;[failures, isKnown] = [0, true]
    const closed = answer.bars.filter(({ t }) => t + timeframeMs <= settledMs)
    yield* upToHole(closed, options)
    await pause(everyMs, stop)
  }
}

type Answer = { readonly bars: readonly Bar[] } | (NoBars & { readonly isAnswer: boolean })

async function ask({ url, readAnswer }: PollOptions, stop: AbortSignal): Promise<Answer> {
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(DEADLINE_MS)])
    const { statusCode, body } = await request(url, {
      signal,
      headers: { accept: 'application/json, text/csv' },
    })
    if (statusCode !== 200) {
      await body.dump()
      return noBars(`it answered ${statusCode}`, false)
    }
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      // a body without an encoding gives Buffers
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) return noBars(`its answer is longer than ${MAX_BODY_BYTES} bytes`, true)
      chunks.push(chunk)
    }
    const bars = await readAnswer(Buffer.concat(chunks))
    return 'why' in bars ? { ...bars, isAnswer: true } : { bars }
  } catch (error) {
    // Only the network, the deadline and the stop can fail here.
    return noBars(`the request failed (${messageOf(error)})`, false)
  }
}

const noBars = (why: string, isAnswer: boolean) => ({ why, isAnswer, isOneRow: false })

/** The bars up to a hole, unless it counts as a gap. */
function upToHole(bars: readonly Bar[], { timeframeMs, now, lastKnown }: PollOptions): readonly Bar[] {
  const patienceMs = Math.min(timeframeMs * GAP_PART, GAP_MOST_MS)
  let before = lastKnown()
  for (const [i, { t }] of bars.entries()) {
    const isHole = before !== null && t > before + timeframeMs
    if (isHole && now() - (t + timeframeMs) < patienceMs) return bars.slice(0, i)
    before = Math.max(before ?? t, t)
  }
  return bars
}
