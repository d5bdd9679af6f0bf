import type { ObjectHeaders, ObjectStore } from './object-store.ts'

/** The remedy for other bytes. Only the message of an error leaves a thread, so callers match this text. */
export const OTHER_BYTES_REMEDY =
  'build under a new --version, or use the code, the book and the --effort that made it'

/**
 * Creates an object, or makes sure that the one already there is the same: so that a command that was killed
 * can be run again and finishes its own work. Throws where other bytes stand under the key.
 */
export async function writeOnce(
  store: ObjectStore,
  key: string,
  bytes: Uint8Array,
  headers: ObjectHeaders,
): Promise<void> {
  if (await store.create(key, bytes, headers)) return
  const there = await store.read(key)
  if (there !== null && Buffer.from(there.buffer, there.byteOffset, there.length).equals(bytes)) return
  throw new Error(
    `${store.url}/${key} exists with other bytes, and what is published never changes: ${OTHER_BYTES_REMEDY}`,
  )
}
