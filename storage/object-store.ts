// The interface of a store. Small on purpose: every implementation passes the one conformance suite.
import { IMMUTABLE } from '#core/contract/artifacts.ts'
import { messageOf } from './error-code.ts'

/** The HTTP headers of an object. A store that cannot keep them derives them from the key. */
export type ObjectHeaders = {
  readonly content_type: string
  readonly content_encoding?: string
  readonly cache_control?: string
}

/** Objects by key (`assertKey`). Every method throws a StoreError that names store, key and cause; absence is an answer. */
export type ObjectStore = {
  /** Where it is, for messages: `file:///var/highwater/public`. */
  readonly url: string
  /** The bytes of an object, or null if there is none. */
  read(key: string): Promise<Uint8Array | null>
  /** Whether there is an object, without reading it. */
  has(key: string): Promise<boolean>
  /**
   * Writes an object once, whole and durable before the promise resolves. False if the key exists: then
   * nothing was written. Of any number of racers exactly one gets true.
   */
  create(key: string, bytes: Uint8Array, headers: ObjectHeaders): Promise<boolean>
  /** Writes an object whether or not it exists. A reader sees the old bytes or the new ones, whole. */
  replace(key: string, bytes: Uint8Array, headers: ObjectHeaders): Promise<void>
  /** The keys that begin with `prefix`, a path with a slash at its end or '', ascending by code point. */
  list(prefix: string): Promise<readonly string[]>
  /** Removes an object; no error if there is none. */
  remove(key: string): Promise<void>
}

/** The public store, and the private one beside it. */
export type Stores = { readonly store: ObjectStore; readonly privateStore: ObjectStore }

/** Whether the objects of a store are files: `measure` and `beginBatch` make use of it. */
export const isFolder = ({ url }: ObjectStore): boolean => url.startsWith('file:')

/** Something the store could not do, with the reason of the system below as `cause`. */
export class StoreError extends Error {
  constructor(action: string, url: string, key: string, cause: unknown) {
    super(`cannot ${action} ${url}/${key}: ${messageOf(cause)}`, { cause })
    this.name = 'StoreError'
  }
}

const LONGEST_KEY = 512 // S3 allows 1024 bytes with the operator's own prefix in it

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/

/** Throws unless the key is a path that no store can misread: no `..`, no hidden files, ASCII only. */
export function assertKey(key: string): void {
  if (key.length <= LONGEST_KEY && key.split('/').every(segment => SEGMENT.test(segment))) return
  throw new Error(
    `not a key of an object store: ${JSON.stringify(key.slice(0, LONGEST_KEY))}; expected segments of letters, ` +
      `digits, '.', '_' and '-', joined by '/', at most ${LONGEST_KEY} characters`,
  )
}

export const immutableHeaders = (content_type: string): ObjectHeaders => ({
  content_type,
  cache_control: IMMUTABLE,
})

export const IMMUTABLE_JSON = immutableHeaders('application/json; charset=utf-8')
export const IMMUTABLE_TEXT = immutableHeaders('text/plain; charset=utf-8')
export const IMMUTABLE_BYTES = immutableHeaders('application/octet-stream')

/** Whether an object is absent. If the store does not answer, it does not count as absent. */
export async function isAbsent(store: ObjectStore, key: string): Promise<boolean> {
  try {
    return !(await store.has(key))
  } catch (error) {
    if (error instanceof StoreError) return false
    throw error
  }
}

/** The remedy for other bytes. Only the message of an error leaves a thread, so callers match this text. */
export const OTHER_BYTES_REMEDY =
  'build under a new --version, or use the code, the book and the --effort that made it'

/** Creates an object, or finds the same one, so that a killed command can be run again. Throws if other bytes are under the key. */
export async function writeOnce(store: ObjectStore, key: string, bytes: Uint8Array, headers: ObjectHeaders) {
  if (await store.create(key, bytes, headers)) return
  const there = await store.read(key)
  if (there !== null && Buffer.from(there.buffer, there.byteOffset, there.length).equals(bytes)) return
  throw new Error(
    `${store.url}/${key} exists with other bytes, and what is published never changes: ${OTHER_BYTES_REMEDY}`,
  )
}

/** What to do about a service without conditional writes, as the end of a sentence. */
export const CONDITIONAL_REMEDY =
  'use a service with conditional writes, such as AWS S3, Cloudflare R2, MinIO or Ceph'

/** Beside the locks: never served, and no version. */
const PROBE_KEY = 'lock/probe'

/**
 * Throws if a bucket lets a key be created twice, as services do that ignore `If-None-Match: *`: two builds would each take the
 * lock, and the pointer entry of one would replace that of the other. The object stays, so the proof needs no right to remove,
 * is not disturbed by another one at the same time, and takes two requests once and one from then on. A folder needs none:
 * `link` of the kernel, which creates there, never replaces a file.
 */
export async function assertCreatesOnce(store: ObjectStore): Promise<void> {
  if (isFolder(store)) return
  for (const turn of ['first', 'second']) {
    // Not the same bytes: a create whose answer was lost takes an object with its own bytes for its own.
    const bytes = new TextEncoder().encode(`${turn} of two creations, of which a store refuses the second\n`)
    if (!(await store.create(PROBE_KEY, bytes, { content_type: 'text/plain' }))) return
  }
  throw new Error(
    `${store.url} let the key ${PROBE_KEY} be created twice (its service ignores \`If-None-Match: *\`), so that two builds ` +
      `would overwrite one another: ${CONDITIONAL_REMEDY}`,
  )
}
