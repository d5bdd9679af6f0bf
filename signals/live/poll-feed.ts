import { request } from 'undici'
import type { Bar } from '#core/replay/strategy.ts'
import { messageOf } from '#storage/error-code.ts'
import { type Feed, FeedError, type Pause } from './bars.ts'

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
export const pollFeed = (options: PollOptions): Feed => ({
  name: withoutQuery(options.url),
  repeats: true,
  bars: stop => pollBars(options, stop),
})

/** A token in a query must not be logged. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//')

async function* pollBars(options: PollOptions, stop: AbortSignal): AsyncIterable<Bar> {
  const { timeframeMs, pause, note } = options
  const name = withoutQuery(options.url)
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
