import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { isBinary } from '#core/contract/artifacts.ts'
import type { Params } from '#core/contract/parameters.ts'
import { canonicalPath } from '#core/contract/routes.ts'
import { RENDER_REVISION } from '#core/render/revision.ts'
import { renderAnswer } from '#core/resources/render-answer.ts'
import type { ResourceId } from '#core/resources/resources.ts'
import type { Snapshot } from '#core/snapshot/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import { type Coding, negotiateCoding } from '../negotiate-coding.ts'
import { type CacheUse, noCacheUse } from './cache-use.ts'
import { createGate } from './gate.ts'
import { type ReadyAnswer, toReadyAnswer, unencodedDigest } from './ready-answer.ts'
import type { ServedVersion } from './served-version.ts'
import { createTurns } from './turns.ts'

/** Memory for computed answers: `risk_pct` makes their number endless, so this holds what is asked for again. */
const CACHE_BYTES = 64 << 20

/** Below this a body fits one packet and compressing it saves nothing. */
const SMALLEST_COMPRESSED_BYTES = 1024

/** Cells of an export from which on it is large: 2 MB of text, and 50 ms in which the thread answers nobody else. */
const LARGE_CELLS = 100_000

/** Large answers that wait or are made: each takes its megabytes several times over, and the time of the others. */
const MOST_LARGE = 2

/**
 * From here on an uncompressed text is kept only once it is asked for again: it is made anew in less time than the garbage
 * collector takes for one that has grown old in the cache, as nearly all of them would.
 */
const BULKY_BYTES = 32 << 10

/** Addresses of such texts that are remembered. */
const MOST_REMEMBERED = 4096

/** Compressions at a time, one for each thread that Node has for them: more only hold memory, a megabyte each. */
const MOST_COMPRESSIONS = 4

/** In order of preference: zstd 1 is the quickest by far and as small as brotli 1. */
const CODINGS = ['zstd', 'br', 'gzip'] as const

/**
 * The answers at points that cannot be files: evaluated on demand by the functions that made the files. A digest of an
 * answer costs as much as the answer, so those alone have one that are kept for ever or stand for a file.
 */
export type ComputedAnswers = {
  /** Rejects with `overloaded` where it would be one large answer too many at the same time. */
  compute(
    served: ServedVersion,
    id: ResourceId,
    params: Params,
    acceptEncoding: string | null | undefined,
    hasDigest?: boolean,
  ): Promise<ReadyAnswer>
  readonly use: () => CacheUse
  /** The answer of a canonical path and query, where it was computed and kept; else null. */
  peek(served: ServedVersion, path: string, acceptEncoding: string | null | undefined): ReadyAnswer | null
}

/** An answer that is being made, and whether more than one wait for it. */
type Running = { isShared: boolean; answer: Promise<ReadyAnswer> }

export function createComputedAnswers(): ComputedAnswers {
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: answer => answer.bytes.length,
  })
  const remembered = new LRUCache<string, true>({ max: MOST_REMEMBERED })
  const use = noCacheUse()
  const inFlight = new Map<string, Running>()
  const throughGate = createGate(
    MOST_LARGE,
    `${MOST_LARGE} large answers are being made already; ask again in a moment`,
  )
  return {
    use: () => use,
    compute(served, id, params, acceptEncoding, hasDigest = false) {
      const coding = isBinary(params.format) ? 'identity' : negotiateCoding(acceptEncoding, CODINGS)
      const key = keyOf(served, coding, canonicalPath(id, params), hasDigest)
      const cached = cache.get(key)
      if (cached !== undefined) {
        use.hits++
        return Promise.resolve(cached)
      }
      const running = inFlight.get(key)
      if (running !== undefined) {
        use.shared++
        running.isShared = true
        return running.answer // equal requests at the same time are one computation
      }
      use.misses++
      const render = () => renderReady(served, id, params, coding, hasDigest)
      const isLarge = id === 'export' && cellsOf(served.snapshot, params) >= LARGE_CELLS
      const mine: Running = { isShared: false, answer: isLarge ? throughGate(render) : render() }
      const keep = (ready: ReadyAnswer): ReadyAnswer => {
        inFlight.delete(key) // from here on nobody can come to share it
        if (isDear(id, params, ready) || remembered.has(key)) cache.set(key, ready)
        else {
          remembered.set(key, true)
          if (!mine.isShared) return { ...ready, release: () => void ready.bytes.buffer.transfer(0) }
        }
        return ready
      }
      mine.answer = mine.answer.then(keep, error => {
        inFlight.delete(key)
        throw error
      })
      inFlight.set(key, mine)
      return mine.answer
    },
    // A binary format is kept under `identity` alone, and is found by who accepts no coding.
    peek(served, path, acceptEncoding) {
      const cached = cache.get(keyOf(served, negotiateCoding(acceptEncoding, CODINGS), path))
      if (cached !== undefined) use.hits++
      return cached ?? null
    },
  }
}

/** Whether an answer is small, or costs more to make again than a column of numbers. */
const isDear = (id: ResourceId, { format }: Params, { bytes, headers }: ReadyAnswer): boolean =>
  bytes.length < BULKY_BYTES ||
  headers['content-encoding'] !== undefined ||
  isBinary(format) ||
  id === 'export'

const keyOf = ({ version }: ServedVersion, coding: Coding, path: string, hasDigest = false): string =>
  `${version} ${coding} ${path}${hasDigest ? ' digest' : ''}`

const cellsOf = ({ strategies }: Snapshot, { period }: Params): number =>
  strategies.reduce((sum, strategy) => sum + strategy[period].values.length, 0)

async function renderReady(
  served: ServedVersion,
  id: ResourceId,
  params: Params,
  coding: Coding,
  hasDigest: boolean,
): Promise<ReadyAnswer> {
  const { bytes, headers } = renderAnswer(id, served.snapshot, params)
  const digest = hasDigest ? { 'unencoded-digest': unencodedDigest(sha256(bytes)) } : {}
  const used = bytes.length < SMALLEST_COMPRESSED_BYTES ? 'identity' : coding
  const body = used === 'identity' ? bytes : await takeTurn(() => COMPRESS[used](bytes))
  if (used !== 'identity') bytes.buffer.transfer(0) // its memory is free now, and not when the garbage collector finds it
  return toReadyAnswer(body, used, etagOf(served, id, params, used), { ...headers, ...digest })
}

const takeTurn = createTurns(MOST_COMPRESSIONS)

/** From what determines the bytes, not from the bytes: a validator without a pass over them. */
function etagOf({ version }: ServedVersion, id: ResourceId, params: Params, coding: Coding): string {
  const identity = `${version} ${RENDER_REVISION} ${coding} ${canonicalPath(id, params)}`
  return `"${sha256(new TextEncoder().encode(identity)).slice(0, 32)}"`
}

const quickBrotli = promisify(brotliCompress)
const quickGzip = promisify(gzip)
const quickZstd = promisify(zstdCompress)

/** What repeats lies a row or two back, and a table of a thousand places finds it sooner than a larger one. */
const ZSTD = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_hashLog]: 10 }

const COMPRESS: {
  readonly [C in Exclude<Coding, 'identity'>]: (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>
} = {
  zstd: bytes => quickZstd(bytes, { params: ZSTD }),
  br: bytes =>
    quickBrotli(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: bytes => quickGzip(bytes, { level: 1 }),
}
