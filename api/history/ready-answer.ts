import type { Coding, DELTA_CODING } from '../negotiate-coding.ts'

/** A body ready to be sent, and the headers that belong to it and not to the request. */
export type ReadyAnswer = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
  /** Frees the body once it is sent. Only an answer has it that is sent once and kept by nobody. */
  readonly release?: () => void
}

/** Puts together a body in a coding, its validator and the headers of the answer itself. */
export const toReadyAnswer = (
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding | typeof DELTA_CODING,
  etag: string,
  headers: Readonly<Record<string, string>>,
): ReadyAnswer => ({
  bytes,
  etag,
  headers: {
    ...headers,
    etag,
    'content-length': String(bytes.length),
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
  },
})

/** `Unencoded-Digest`: the digest (hex) of a body before its coding, as the manifest has it, in the form of RFC 9530. */
export const unencodedDigest = (sha256: string): string =>
  `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
