import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { sha256 } from '#storage/digest.ts'
import { negotiateCoding } from './negotiate-coding.ts'
import { type ReadyAnswer, toReadyAnswer } from './ready-answer.ts'

const CODINGS = ['br', 'gzip'] as const

type Coding = (typeof CODINGS)[number] | 'identity'

/** Above this Brotli 11 would take seconds, and whoever asks first would wait for them. */
const BEST_BELOW_BYTES = 1 << 20
const BROTLI = { best: 11, quick: 9 } as const

/** An answer that is the same for everybody, in the coding that the header `Accept-Encoding` prefers. */
export type CodedBytes = (acceptEncoding: string | undefined) => Promise<ReadyAnswer>

/** Bytes that are compressed once for each coding that is asked for. */
export function createCodedBytes(bytes: Uint8Array<ArrayBuffer>, mediaType: string): CodedBytes {
  const answers = new Map<Coding, Promise<ReadyAnswer>>()
  return acceptEncoding => {
    const coding = negotiateCoding(acceptEncoding, CODINGS)
    const answer = answers.get(coding) ?? encode(bytes, coding, mediaType)
    answers.set(coding, answer)
    return answer
  }
}

async function encode(
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding,
  mediaType: string,
): Promise<ReadyAnswer> {
  const body = await COMPRESS[coding](bytes)
  return toReadyAnswer(body, coding, `"${sha256(body).slice(0, 32)}"`, { 'content-type': mediaType })
}

const COMPRESS: {
  readonly [C in Coding]: (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>
} = {
  br: bytes => brotli(bytes, { params: brotliParameters(bytes.length) }),
  gzip: bytes => strongGzip(bytes, { level: 9 }),
  identity: async bytes => bytes,
}

const brotli = promisify(brotliCompress)
const strongGzip = promisify(gzip)

const brotliParameters = (length: number) => ({
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: BROTLI[length < BEST_BELOW_BYTES ? 'best' : 'quick'],
  [constants.BROTLI_PARAM_SIZE_HINT]: length,
})
