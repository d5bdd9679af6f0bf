import { setTimeout as pause } from 'node:timers/promises'
import { currentHint } from '#core/contract/pointer.ts'
import { describe } from '#storage/measure.ts'
import { StoreError } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { currentPlace, type Place, type PublicReader } from './reader.ts'

/** Three attempts outlast a restart or the swap of a balancer; a minute of silence is an outage. */
const SUBSCRIBER_PATIENCE = {
  /** Ends an attempt if no byte arrives for this long. */
  silenceMs: 20_000,
  /** Ends an attempt if its answer is not complete by then. */
  wholeMs: 600_000,
  /** Pauses before the second attempt, the third and so on. */
  pausesMs: [300, 2_000],
}

type HttpPatience = typeof SUBSCRIBER_PATIENCE

/** A service moves its paths at most so often within its own origin. */
const MOST_REDIRECTS = 3

/** A failure that a retry may fix: the network, or a service that is overloaded or restarts. */
class PassingFailure extends Error {}

/** Reads published objects from a service, or a CDN before it, as they are before any coding. */
export function createHttpReader(url: string, patience = SUBSCRIBER_PATIENCE): PublicReader {
  const base = url.replace(/\/+$/, '')
  const read = async (place: Place): Promise<Uint8Array | null> => {
    try {
      return await insist(() => readOnce(new URL(base + place.path), place.mostBytes, patience), patience)
    } catch (error) {
      throw new StoreError('read', base, place.path.slice(1), error)
    }
  }
  return {
    nameOf: ({ path }) => path,
    read,
    measure: async place => describe(await read(place)),
    leastEntries: async () => {
      const bytes = await read(currentPlace)
      if (bytes === null) return 0
      const hint = currentHint.safeParse(parseJson(bytes)).data
      if (hint !== undefined) return hint.seq
      const cause = new Error('it is no hint at a pointer entry')
      throw new StoreError('read', base, currentPlace.path.slice(1), cause)
    },
    hasTwins: false,
  }
}

async function insist<T>(attempt: () => Promise<T>, { pausesMs }: HttpPatience): Promise<T> {
  for (const ms of pausesMs) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof PassingFailure)) throw error
      await pause(ms)
    }
  }
  return attempt()
}

async function readOnce(
  url: URL,
  mostBytes: number,
  { silenceMs, wholeMs }: HttpPatience,
): Promise<Uint8Array | null> {
  const stop = new AbortController()
  const end = (why: string) => () => stop.abort(new PassingFailure(why))
  const whole = setTimeout(end(`the answer was not complete after ${wholeMs / 1000} s`), wholeMs)
  const silence = setTimeout(end(`nothing came for ${silenceMs / 1000} s`), silenceMs)
  try {
    const response = await follow(url, stop.signal)
    if (response === null) return null
    return await readBody(response, mostBytes, () => silence.refresh())
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason
    throw error instanceof TypeError ? toPassing(error) : error
  } finally {
    clearTimeout(whole)
    clearTimeout(silence)
    stop.abort() // a body that was not read to its end would hold its connection
  }
}

/** The answer behind redirects that stay within the origin; null for 404 and 410. */
async function follow(url: URL, signal: AbortSignal): Promise<Response | null> {
  let at = url
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(at, {
      redirect: 'manual',
      signal,
      headers: { 'accept-encoding': 'identity' },
    })
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null) return answerOf(response)
    const next = new URL(location, at)
    if (next.origin !== url.origin) {
      throw new Error(`it redirects to another origin, ${next.origin}: name that address if you trust it`)
    }
    at = next
  }
  throw new Error(`it redirects more than ${MOST_REDIRECTS} times`)
}

function answerOf(response: Response): Response | null {
  if (response.status === 200) return response
  if (response.status === 404 || response.status === 410) return null
  const message = `the service answered ${response.status}`
  throw response.status >= 500 || response.status === 429 ? new PassingFailure(message) : new Error(message)
}

/** Reads a body to its end, and no further than it may go. */
async function readBody(response: Response, mostBytes: number, onBytes: () => void): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    onBytes()
    chunks.push(chunk)
    length += chunk.length
    if (length > mostBytes) throw new Error(`the answer is longer than ${mostBytes} bytes`)
  }
  return Uint8Array.from(Buffer.concat(chunks, length))
}

/** `fetch` says no more than that it failed; its cause says why. */
function toPassing({ message, cause }: TypeError): PassingFailure {
  const why = cause instanceof Error && cause.message !== '' ? cause.message : message
  return new PassingFailure(cause instanceof AggregateError ? 'connection refused' : why)
}
