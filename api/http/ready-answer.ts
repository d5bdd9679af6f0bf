import type { Coding } from './negotiate-coding.ts'

/** Headers that belong to an answer and not to the request. */
export type AnswerHeaders = Readonly<Record<string, string>>

/** A body ready to be sent, its validator and its headers, which repeat the validator. */
export type ReadyAnswer = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly headers: AnswerHeaders
}

/** Puts together a body in a coding, its validator and the headers of the answer itself. */
export const toReadyAnswer = (
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding,
  etag: string,
  headers: AnswerHeaders,
): ReadyAnswer => ({
  bytes,
  etag,
  headers: { ...codedHeaders(coding, etag, headers), 'content-length': String(bytes.length) },
})

/** The headers of an answer in a coding, whatever its length is. */
export const codedHeaders = (coding: Coding, etag: string, headers: AnswerHeaders): AnswerHeaders => ({
  ...headers,
  etag,
  ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
})

/** `Unencoded-Digest`: the digest (hex) of a body before its coding, as the manifest has it, in the form of RFC 9530. */
export const unencodedDigest = (sha256: string): string =>
  `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
