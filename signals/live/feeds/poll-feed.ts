import { request } from 'undici'
import type { Bar } from '#core/replay/strategy.ts'
import { parseJson } from '#storage/parse-json.ts'
import { type Feed, type NewBarReader, type Pause, toBar } from './feed.ts'

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

export type PollOptions = {
  readonly url: string
  readonly timeframeMs: number
  readonly newReader: NewBarReader
  readonly now: () => number
  readonly pause: Pause
  readonly note: (line: string) => void
  /** The open of the newest known bar; null before the first. */
  readonly lastKnown: () => number | null
}

/**
 * Polls a URL for its newest bars. The answer is a table as in a book, or JSON: a list of `[t,o,h,l,c,v]` or
 * `{t,o,h,l,c,v}`, `t` being the open. Bars that have not closed, or closed a moment ago, are skipped. An unusable answer (not 200, no table)
 * is requested again; a malformed row stops the feed.
 */
export const pollFeed = (options: PollOptions): Feed => ({
  name: withoutQuery(options.url),
  repeats: true,
  bars: stop => pollBars(options, stop),
})

/** A token in a query must not be logged. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//')

async function* pollBars(options: PollOptions, stop: AbortSignal): AsyncIterable<Bar> {
  const { timeframeMs, pause, note } = options
  const everyMs = Math.min(Math.max(timeframeMs * POLL_PART, POLL_LEAST_MS), POLL_MOST_MS)
  let failures = 0
  while (!stop.aborted) {
    const settledMs = options.now() - everyMs
    const answer = await ask(options.url, stop)
    if (stop.aborted) return
    if ('why' in answer) {
      if (failures === 0) note(`${withoutQuery(options.url)}: ${answer.why}; trying again`)
      failures++
      await pause(BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length) - 1]!, stop)
      continue
    }
    if (failures > 0) note(`${withoutQuery(options.url)} answers again`)
    failures = 0
    yield* finalBars(answer.table, settledMs, options)
    await pause(everyMs, stop)
  }
}

type Answer = { readonly table: string } | { readonly why: string }

async function ask(url: string, stop: AbortSignal): Promise<Answer> {
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(DEADLINE_MS)])
    const { statusCode, body } = await request(url, {
      signal,
      headers: { accept: 'application/json, text/csv' },
    })
    if (statusCode !== 200) {
      await body.dump()
      return { why: `it answered ${statusCode}` }
    }
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      // a body without an encoding gives Buffers
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) return { why: `its answer is longer than ${MAX_BODY_BYTES} bytes` }
      chunks.push(chunk)
    }
    return toTable(Buffer.concat(chunks).toString('utf8'))
  } catch (error) {
    // Only the network, the deadline and the stop can fail here.
    return { why: `the request failed (${error instanceof Error ? error.message : String(error)})` }
  }
}

/** The bars of a table that closed by `settledMs`, ascending; those after a hole only once it counts as a gap. */
function finalBars(table: string, settledMs: number, options: PollOptions): readonly Bar[] {
  const { timeframeMs, newReader } = options
  const read = newReader()
  const bars: Bar[] = []
  for (const [i, line] of table.split(/\r?\n/).entries()) {
    const bar = line === '' ? null : toBar(withoutQuery(options.url), read(line), i + 1)
    if (bar !== null && bar.t + timeframeMs <= settledMs) bars.push(bar)
  }
  bars.sort((a, b) => a.t - b.t)
  return upToHole(bars, options)
}

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

const NAMES = ['t', 'o', 'h', 'l', 'c', 'v'] as const

/** The answer to a poll as a table, or why it is none. Each JSON row becomes a line, validated as one. */
export function toTable(text: string): { readonly table: string } | { readonly why: string } {
  const body = text.trim()
  if (!body.startsWith('[') && !body.startsWith('{')) {
    return /^[a-z](,[a-z])+\r?$/m.test(body.split('\n', 1)[0] ?? '')
      ? { table: body }
      : { why: `expected a table that begins with ${NAMES.join()} or a JSON list, got another thing` }
  }
  const rows = parseJson(body)
  if (!Array.isArray(rows)) return { why: 'expected a JSON list of bars, got another thing' }
  return { table: [NAMES.join(), ...rows.map(toLine)].join('\n') }
}

/** Anything else becomes a line that the reader rejects. */
function toLine(row: unknown): string {
  if (Array.isArray(row)) return row.map(toCell).join()
  if (typeof row !== 'object' || row === null) return toCell(row)
  const fields = new Map(Object.entries(row))
  return NAMES.map(name => toCell(fields.get(name))).join()
}

const toCell = (value: unknown): string => (value === null || value === undefined ? '' : String(value))
