// Which content coding a client gets: RFC 9110, section 12.5.3.
import { pipeline, Readable, type Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { constants, createBrotliCompress, createGzip, createZstdCompress, zstdCompressSync } from 'node:zlib'
import pLimit from 'p-limit'
import { BLOCK_BYTES } from '#core/dataset/render/text-writer.ts'
import { sha256 } from '#storage/digest.ts'

/** Bytes in memory that is not shared with another thread, as a Response takes them. */
export type Bytes = Uint8Array<ArrayBuffer>

export type Coding = 'zstd' | 'br' | 'gzip' | 'identity'

/** The first of `offered` among those that the client prefers, else `identity`: an answer that can be read beats a 406. */
export function negotiateCoding<Offered extends Coding>(
  header: string | undefined,
  offered: readonly Offered[],
): Offered | 'identity' {
  if (header === undefined || header === '') return 'identity'
  const weights = new Map(header.split(',').map(parseItem))
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get('*') ?? 0
  const least = weights.get('identity') ?? 0 // unlisted, identity is the last resort and not a preference
  const fitting = offered.filter(coding => weightOf(coding) > 0 && weightOf(coding) >= least)
  return fitting.toSorted((a, b) => weightOf(b) - weightOf(a))[0] ?? 'identity'
}

/** `br;q=0.8` as `['br', 0.8]`; an invalid weight counts as 0. */
function parseItem(item: string): [string, number] {
  const [name = '', ...parameters] = item.split(';').map(part => part.trim().toLowerCase())
  const weight = parameters.find(parameter => parameter.startsWith('q='))
  const value = weight === undefined ? 1 : Number(weight.slice(2))
  return [name, value >= 0 && value <= 1 ? value : 0]
}

// The codings of computed answers, each at its quickest level, for a body as a whole and for one in blocks.

/** In order of preference: zstd 1 is the quickest by far and as small as brotli 1. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const

/** Repetitions are a row or two apart, and a hash table of a thousand entries finds them faster than a larger one. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_hashLog]: 10 } }
const SHORT_ZSTD = { ...ZSTD, chunkSize: 64 << 10 } // the whole of nearly every answer

/** Up to this size Zstandard takes half a millisecond; the way to another thread and back takes three times as long. */
export const SHORT_BYTES = 256 << 10

/** A body in a coding, made on another thread if that takes long. Its memory is its own: caches count it. */
export async function compress(bytes: Bytes, coding: Coding): Promise<Bytes> {
  if (coding === 'identity') return bytes
  const isShort = coding === 'zstd' && bytes.length <= SHORT_BYTES
  const coded = isShort
    ? zstdCompressSync(bytes, SHORT_ZSTD)
    : await inTurn(() => codedBy(CODERS[coding](bytes.length), bytes))
  return Uint8Array.from(coded) // zlib gives a part of a larger piece of memory
}

/** Compressions at a time, one for each thread that Node has for them: more only hold memory, a megabyte each. */
export const MOST_COMPRESSIONS = 4

const inTurn = pLimit(MOST_COMPRESSIONS)

/** The same in blocks, each made when the client wants it and other requests were handled. Same blocks in, same bytes out. */
export async function* compressBlocks(blocks: Iterable<Bytes>, coding: Coding): AsyncGenerator<Bytes> {
  if (coding === 'identity') yield* inTurns(blocks)
  else {
    const coder = CODERS[coding]()
    pipeline(Readable.from(inTurns(blocks)), coder, () => {}) // an error of either comes out below
    yield* coder
  }
}

/** No piece is longer than a block: the socket buffers a whole piece. */
async function* inTurns(blocks: Iterable<Bytes>): AsyncGenerator<Bytes> {
  await setImmediate()
  for (const block of blocks) {
    for (let start = 0; start < block.length; start += BLOCK_BYTES)
      yield block.subarray(start, start + BLOCK_BYTES)
    await setImmediate()
  }
}

/** `size` is that of the body, 0 if it is not known. */
const CODERS = {
  zstd: () => createZstdCompress(ZSTD),
  br: (size = 0) => createBrotli(1, size),
  gzip: () => createGzip({ level: 1 }),
}

const createBrotli = (quality: number, size: number, mode = constants.BROTLI_MODE_GENERIC) =>
  createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
      [constants.BROTLI_PARAM_MODE]: mode,
    },
  })

const codedBy = async (coder: Transform, bytes: Bytes) => Buffer.concat(await coder.end(bytes).toArray())

/** Headers that belong to an answer and not to the request. */
export type AnswerHeaders = Readonly<Record<string, string>>

/** A body ready to be sent, its validator and its headers, which repeat the validator. */
export type ReadyAnswer = {
  readonly bytes: Bytes
  readonly etag: string
  readonly headers: AnswerHeaders
  /** Key of the file that holds the body, if a web server may have the folder of the store. */
  readonly file?: string
  /** Frees the body once it is sent, before the garbage collector finds it. Only an answer to one request has it. */
  readonly release?: () => void
}

export const toReadyAnswer = (
  bytes: Bytes,
  coding: Coding,
  etag: string,
  headers: AnswerHeaders,
): ReadyAnswer => ({
  bytes,
  etag,
  headers: { ...codedHeaders(coding, etag, headers), 'content-length': String(bytes.length) },
})

export const codedHeaders = (coding: Coding, etag: string, headers: AnswerHeaders): AnswerHeaders => ({
  ...headers,
  etag,
  ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
})

/** `Unencoded-Digest`: the digest (hex) of a body before its coding, as the manifest has it, in the form of RFC 9530. */
export const unencodedDigest = (sha256: string): string =>
  `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`

/** Above this Brotli 11 would take seconds, and the first client would wait for them. */
const BEST_BELOW_BYTES = 1 << 20

/** An answer that is the same for every client, in the coding that the header `Accept-Encoding` prefers. */
export type CodedBytes = (acceptEncoding: string | undefined) => Promise<ReadyAnswer>

/** A text, or bytes, compressed once for each coding that a client prefers, and as small as it can be. */
export function createCodedBytes(content: string | Bytes, mediaType: string): CodedBytes {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const answers = new Map<string, Promise<ReadyAnswer>>()
  const encode = async (coding: keyof typeof BEST | 'identity'): Promise<ReadyAnswer> => {
    const body = coding === 'identity' ? bytes : await codedBy(BEST[coding](bytes.length), bytes)
    return toReadyAnswer(body, coding, `"${sha256(body).slice(0, 32)}"`, { 'content-type': mediaType })
  }
  return acceptEncoding => {
    const coding = negotiateCoding(acceptEncoding, ['br', 'gzip'])
    const answer = answers.get(coding) ?? encode(coding)
    answers.set(coding, answer)
    return answer
  }
}

const BEST = {
  br: (size: number) => createBrotli(size < BEST_BELOW_BYTES ? 11 : 9, size, constants.BROTLI_MODE_TEXT),
  gzip: () => createGzip({ level: 9 }),
}
