import type { Coding, DELTA_CODING } from '../http/negotiate-coding.ts'
import type { BodyReader } from './shared-body.ts'

/** A body ready to be sent, and the headers that belong to it and not to the request. */
export type ReadyAnswer = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly headers: AnswerHeaders
}

export type AnswerHeaders = Readonly<Record<string, string>>

/** An answer whose body is made while it is sent: its length and its digest are known to nobody beforehand. */
export type StreamedAnswer = {
  readonly etag: string
  /** The headers that belong to it. Throws what the answer would be refused with. */
  readonly headers: () => AnswerHeaders
  /** Begins to make it, or joins who reads the same. Throws `overloaded` where there is no place. */
  readonly open: () => BodyReader
}

/** Puts together a body in a coding, its validator and the headers of the answer itself. */
export const toReadyAnswer = (
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding | typeof DELTA_CODING,
  etag: string,
  headers: AnswerHeaders,
): ReadyAnswer => ({
  bytes,
  etag,
  headers: { ...headers, etag, 'content-length': String(bytes.length), ...codingHeader(coding) },
})

/** The headers of an answer in a coding whose length is not known. */
export const streamedHeaders = (coding: Coding, etag: string, headers: AnswerHeaders): AnswerHeaders => ({
  ...headers,
  etag,
  ...codingHeader(coding),
})

const codingHeader = (coding: Coding | typeof DELTA_CODING): AnswerHeaders =>
  coding === 'identity' ? {} : { 'content-encoding': coding }

/** `Unencoded-Digest`: the digest (hex) of a body before its coding, as the manifest has it, in the form of RFC 9530. */
export const unencodedDigest = (sha256: string): string =>
  `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
