import { hash, subtle } from 'node:crypto'

/** The SHA-256 of some bytes, lower-case hex. */
export const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex')

/** Node's WebCrypto refuses more. */
const MOST_SUBTLE_BYTES = 2 ** 31 - 1

/** The same on a thread of Node's pool, for callers that check many files and have a free core. */
export async function sha256Aside(bytes: Uint8Array): Promise<string> {
  if (bytes.length > MOST_SUBTLE_BYTES) return sha256(bytes)
  const own = bytes as Uint8Array<ArrayBuffer> // no store reads into shared memory, and of another the digest is refused
  return Buffer.from(await subtle.digest('SHA-256', own)).toString('hex')
}
