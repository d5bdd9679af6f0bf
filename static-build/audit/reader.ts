// The audited objects, and how they are read: from a store, or over HTTP.
import { setTimeout as pause } from 'node:timers/promises'
import { manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { KEYS_KEY, KEYS_PATH } from '#core/contract/file-routes.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { CURRENT_KEY, currentHint, pointerKey } from '#core/contract/pointer.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { type Described, describe, measure } from '#storage/measure.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import { listSeqs } from '#storage/pointer-log.ts'
import { retry } from '#storage/retry.ts'

/** A published object: its key in a store, and its path in the service. */
export type Place = {
  readonly key: string
  /** Path and query below the address of a service. */
  readonly path: string
  /** A body of more bytes is not read to its end: it is something else. */
  readonly mostBytes: number
}

/** Reads published objects: for the publisher from the store, for a subscriber over HTTP. */
export type PublicReader = {
  /** What an object is called here: its key, or its path. */
  readonly nameOf: (place: Place) => string
  /** The bytes of an object, or null if it is missing. Rejects with a StoreError if the store fails. */
  readonly read: (place: Place) => Promise<Uint8Array | null>
  /** Its length and digest alone, which may take less. */
  readonly measure: (place: Place) => Promise<Described | null>
  /** The log has at least so many entries; 0 if nothing is known. Rejects with a StoreError. */
  readonly leastEntries: () => Promise<number>
  /** Whether it reads a store, in which the compressed twins of a file are objects of their own, and what is derived has a key. */
  readonly hasTwins: boolean
}

export const createStoreReader = (store: ObjectStore): PublicReader => ({
  nameOf: ({ key }) => key,
  read: ({ key }) => store.read(key),
  measure: ({ key }) => measure(store, key),
  leastEntries: async () => Math.max(0, ...(await listSeqs(store))),
  hasTwins: true,
})

/** The result of reading an object: its bytes, null, or the error of the store. */
export type Found = Uint8Array | null | StoreError

export const tryRead = (reader: PublicReader, place: Place): Promise<Found> => attempt(reader.read(place))

/** What was read; an error of the store is returned, any other is thrown. */
export async function attempt<Result>(reading: Promise<Result>): Promise<Result | StoreError> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}

/** Entries, signatures, time stamps, hints and keys take less than a tenth of it. */
const SMALL_BYTES = 1 << 20

/** The manifest of ten thousand strategies takes less. */
const DOCUMENT_BYTES = 128 << 20

/** The place of an object: the service has it under its key, but for the keys and `changes.json`, if it serves it at all. */
export function placeOf(key: string, mostBytes = SMALL_BYTES): Place {
  const path = key === KEYS_KEY ? KEYS_PATH : `/${key.replace(/\/changes\.json$/, '/changes')}`
  return { key, path, mostBytes }
}

export const entryPlace = (seq: number): Place => placeOf(pointerKey(seq))

export const manifestPlace = (version: string): Place => placeOf(manifestKey(version), DOCUMENT_BYTES)

export const documentPlace = (version: string, name: string): Place =>
  placeOf(`${versionFolder(version)}/${name}`, DOCUMENT_BYTES)

export const filePlace = (version: string, { key, url, bytes }: Artifact): Place => ({
  key,
  path: pinnedPath(version, url),
  mostBytes: bytes,
})

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
  const { pausesMs } = patience
  const read = ({ path, mostBytes }: Place): Promise<Uint8Array | null> =>
    retry(
      () => readOnce(new URL(base + path), mostBytes, patience),
      pausesMs.length + 1,
      tried => pause(pausesMs[tried - 1]),
      error => error instanceof PassingFailure,
    ).catch((error: unknown) => {
      throw new StoreError('read', base, path.slice(1), error)
    })
  return {
    nameOf: ({ path }) => path,
    read,
    measure: async place => describe(await read(place)),
    leastEntries: async () => {
      const place = placeOf(CURRENT_KEY)
      const bytes = await read(place)
      if (bytes === null) return 0
      const hint = currentHint.safeParse(parseJson(bytes)).data
      if (hint !== undefined) return hint.seq
      const cause = new Error('it is no hint at a pointer entry')
      throw new StoreError('read', base, place.path.slice(1), cause)
    },
    hasTwins: false,
  }
}

async function readOnce(url: URL, mostBytes: number, { silenceMs, wholeMs }: HttpPatience) {
  const stop = new AbortController()
  const end = (why: string) => () => stop.abort(new PassingFailure(why))
  const whole = setTimeout(end(`the answer was not complete after ${wholeMs / 1000} s`), wholeMs)
  const silence = setTimeout(end(`nothing came for ${silenceMs / 1000} s`), silenceMs)
  try {
    const response = await follow(url, stop.signal)
    return response && (await readBody(response, mostBytes, () => silence.refresh()))
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
async function follow(
  url: URL,
  signal: AbortSignal,
  redirectsLeft = MOST_REDIRECTS,
): Promise<Response | null> {
  const headers = { 'accept-encoding': 'identity' }
  const response = await fetch(url, { redirect: 'manual', signal, headers })
  const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
  if (location === null) return answerOf(response)
  const next = new URL(location, url)
  if (next.origin !== url.origin)
    throw new Error(`it redirects to another origin, ${next.origin}: name that address if you trust it`)
  if (redirectsLeft === 0) throw new Error(`it redirects more than ${MOST_REDIRECTS} times`)
  return follow(next, signal, redirectsLeft - 1)
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
