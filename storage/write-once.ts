import { isFolder, type ObjectHeaders, type ObjectStore } from './object-store.ts'

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
