import { createHash, hash, subtle } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** The SHA-256 of some bytes or of a text, lower-case hex. */
export const sha256 = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex')

/** Node's WebCrypto refuses more. */
const MOST_SUBTLE_BYTES = 2 ** 31 - 1

/** Handing smaller ones to another thread takes longer than their digest. */
const LEAST_ASIDE_BYTES = 2 ** 18

/** The same on a thread of Node's pool if there are many bytes, for callers that check many files and have a free core. */
export async function sha256Aside(bytes: Uint8Array): Promise<string> {
  if (bytes.length < LEAST_ASIDE_BYTES) return sha256(bytes)
  if (bytes.length > MOST_SUBTLE_BYTES) return sha256InTurns(bytes)
  const own = bytes as Uint8Array<ArrayBuffer> // no store reads into shared memory, and of another the digest is refused
  return Buffer.from(await subtle.digest('SHA-256', own)).toString('hex')
}

/** A hundredth of a second. */
const TURN_BYTES = 2 ** 24

/** The same on this thread, which does other work in between: a service answers while it checks gigabytes. */
export async function sha256InTurns(bytes: Uint8Array): Promise<string> {
  const digest = createHash('sha256')
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    digest.update(bytes.subarray(at, at + TURN_BYTES))
    await setImmediate()
  }
  return digest.digest('hex')
}
