import { hash } from 'node:crypto'

/** The SHA-256 of some bytes or of a text, lower-case hex. */
export const sha256 = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex')
