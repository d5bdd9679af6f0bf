import { createHash, hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** The SHA-256 of some bytes or of a text, lower-case hex. */
export const sha256 = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex')

/** What is read before other work of this thread has its turn: a hundredth of a second in memory, a few from a disk. */
export const TURN_BYTES = 2 ** 24

/** The same, with other work of this thread in between: a service answers while it checks gigabytes. */
export async function sha256InTurns(bytes: Uint8Array): Promise<string> {
  const digest = createHash('sha256')
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    digest.update(bytes.subarray(at, at + TURN_BYTES))
    await setImmediate()
  }
  return digest.digest('hex')
}
