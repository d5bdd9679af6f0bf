import type { z } from 'zod'
import type { ObjectStore } from './object-store.ts'

/** A JSON document as it is stored: a value a line, and a line break at the end. */
export const toJsonBytes = (value: object): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`)

/** A JSON document that is sent as it is stored: on one line. Throws on a number that is not finite. */
export const toAnswerBytes = (value: object): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(value, refuseNotFinite))

/** By itself JSON.stringify makes a silent null of it. */
function refuseNotFinite(key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new Error(`${key} must be a finite number, not ${value}: what computes it is at fault`)
}

/** The value in a stored text or its bytes, or undefined if they are not JSON: no schema accepts that. */
export function parseJson(stored: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof stored === 'string' ? stored : new TextDecoder().decode(stored))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The headers of what is stored and never served. */
export const PRIVATE_JSON = { content_type: 'application/json' }

/** Stores a document that is never served, over the one before. */
export const replaceDocument = (store: ObjectStore, key: string, value: object): Promise<void> =>
  store.replace(key, toJsonBytes(value), PRIVATE_JSON)

/** A stored document: null if there is none, and undefined if it has another form. */
export async function readDocument<T>(store: ObjectStore, key: string, schema: z.ZodType<T>) {
  const bytes = await store.read(key)
  return bytes && schema.safeParse(parseJson(bytes)).data
}

/** The same. Throws if it has another form; `fault`, with what to do, follows its place in that sentence. */
export async function readSound<T>(store: ObjectStore, key: string, schema: z.ZodType<T>, fault: string) {
  const document = await readDocument(store, key, schema)
  if (document !== undefined) return document
  throw new Error(`${store.url}/${key} ${fault}`)
}
