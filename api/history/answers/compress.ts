// The codings of computed answers, each at its quickest level, for a body as a whole and for one in blocks.
import { pipeline, Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib'
import { BLOCK_BYTES } from '#core/dataset/render/text-writer.ts'
import type { Coding } from '../../http/negotiate-coding.ts'

/** In order of preference: zstd 1 is the quickest by far and as small as brotli 1. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const

/** What repeats lies a row or two back, and a table of a thousand places finds it sooner than a larger one. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_hashLog]: 10 } }
const SHORT_ZSTD = { ...ZSTD, chunkSize: 64 << 10 } // the whole of nearly every answer
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 1 }
const GZIP = { level: 1 }

/**
 * Up to this size Zstandard is done at once: it takes half a millisecond, and going to another thread and back takes
 * three times as much of both.
 */
export const SHORT_BYTES = 256 << 10

/** A body in a coding, made on another thread where that takes long. Its memory is its own: caches count it. */
export async function compress(
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding,
): Promise<Uint8Array<ArrayBuffer>> {
  if (coding === 'identity') return bytes
  const isShort = coding === 'zstd' && bytes.length <= SHORT_BYTES
  const coded = isShort ? zstdCompressSync(bytes, SHORT_ZSTD) : await takeTurn(() => COMPRESS[coding](bytes))
  return Uint8Array.from(coded) // zlib gives a part of a larger piece of memory
}

/** Compressions at a time, one for each thread that Node has for them: more only hold memory, a megabyte each. */
export const MOST_COMPRESSIONS = 4

let free = MOST_COMPRESSIONS
const waiting: (() => void)[] = []

/** Runs `work` when fewer than `MOST_COMPRESSIONS` run, in the order of the calls. */
async function takeTurn<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free--
  else await new Promise<void>(resolve => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) free++
    else next() // passes its place on
  }
}

/**
 * The same for a body in blocks. A block is asked for when the one before is compressed and somebody wants the next, and
 * before each a turn of the event loop goes to everyone else. Same blocks in, same bytes out.
 */
export async function* compressBlocks(
  blocks: Iterable<Uint8Array<ArrayBuffer>>,
  coding: Coding,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (coding === 'identity') yield* inTurns(blocks)
  else {
    const coder = CODERS[coding]()
    pipeline(Readable.from(inTurns(blocks)), coder, () => {}) // an error of either comes out below
    yield* coder
  }
}

/** No piece is longer than a block: a socket would hold a longer one for its reader. */
async function* inTurns(blocks: Iterable<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  await setImmediate()
  for (const block of blocks) {
    for (let start = 0; start < block.length; start += BLOCK_BYTES) {
      yield block.subarray(start, start + BLOCK_BYTES)
    }
    await setImmediate()
  }
}

type Compressed = Exclude<Coding, 'identity'>

const CODERS: {
  readonly [C in Compressed]: () => NodeJS.ReadWriteStream & AsyncIterable<Buffer<ArrayBuffer>>
} = {
  zstd: () => createZstdCompress(ZSTD),
  br: () => createBrotliCompress({ params: BROTLI }),
  gzip: () => createGzip(GZIP),
}

const quickBrotli = promisify(brotliCompress)
const quickGzip = promisify(gzip)
const quickZstd = promisify(zstdCompress)

const COMPRESS: { readonly [C in Compressed]: (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>> } = {
  zstd: bytes => quickZstd(bytes, ZSTD),
  br: bytes =>
    quickBrotli(bytes, { params: { ...BROTLI, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  gzip: bytes => quickGzip(bytes, GZIP),
}
