import type { z } from 'zod'
import type { ObjectStore } from './object-store.ts'

/** The value in a stored text or its bytes, or undefined if they are not JSON: no schema accepts that. */
export function parseJson(stored: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof stored === 'string' ? stored : new TextDecoder().decode(stored))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A stored document: null if there is none, and undefined if it has another form. */
export async function readDocument<T>(store: ObjectStore, key: string, schema: z.ZodType<T>) {
  const bytes = await store.read(key)
  return bytes && schema.safeParse(parseJson(bytes)).data
}
