import { createHash } from 'node:crypto'

/** The SHA-256 of some bytes, lower-case hex. */
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
