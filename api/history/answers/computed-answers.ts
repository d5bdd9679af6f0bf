import { ApiError } from '#core/contract/errors.ts'
import { isBinary, type Params } from '#core/contract/parameters.ts'
import { exportCells } from '#core/dataset/resources/export.ts'
import { RENDER_REVISION, renderAnswer, renderBlocks } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { canonicalPath } from '#core/dataset/resources/routes.ts'
import { sha256 } from '#storage/digest.ts'
import {
  type AnswerHeaders,
  type Bytes,
  CODINGS,
  type Coding,
  codedHeaders,
  compress,
  compressBlocks,
  negotiateCoding,
  type ReadyAnswer,
  toReadyAnswer,
  unencodedDigest,
} from '../../service/content-coding.ts'
import type { ServedVersion } from '../versions/served-version.ts'
import { type CacheUse, createAnswerCache } from './published-answers.ts'

/** Memory for computed answers: `risk_pct` makes their number endless, so only recent ones are kept. */
export const CACHE_BYTES = 32 << 20

/** Below this a body fits one packet and compressing it saves nothing. */
const SMALLEST_COMPRESSED_BYTES = 1024

const BULKY_BYTES = 32 << 10

/** What large answers may take of a process; docs/limits.md lists it for callers. */
export type LargeLimits = { readonly [Name in keyof typeof LARGE_LIMITS]: number }

export const LARGE_LIMITS = {
  /** Cells from which on an answer is large: 2 MB of text, and 50 ms in which the thread could answer no other request. */
  largeCells: 100_000,

  /** Large answers that are made and sent at a time, all but one for one client: each holds memory until it is read. */
  mostLarge: 3,

  /** A larger one is not kept once it is sent. */
  keptBytes: 1 << 20,

  /** A client has this long to read a large answer: one that reads just fast enough would hold a place for ever. */
  readingMs: 600_000,
} as const

/** An answer whose body is made while it is sent: its length and its digest are not known beforehand. */
export type StreamedAnswer = {
  readonly etag: string
  /** A client that has not read it after this time is cut off. */
  readonly readingMs: number
  /** Evaluates it for a client. Throws `overloaded` if it or all have too many under way; the first block throws it too. */
  readonly begin: (client: string) => {
    readonly headers: AnswerHeaders
    readonly blocks: AsyncGenerator<Uint8Array, void>
  }
}

/**
 * The answers at points that cannot be files: evaluated on demand by the functions that made the files. A digest costs as much
 * as the answer, so only those have one that are kept for ever, and no large one: it is sent before its digest is known.
 */
export type ComputedAnswers = ReturnType<typeof createComputedAnswers>

type Asked = {
  readonly served: ServedVersion
  readonly id: ResourceId
  readonly params: Params
  readonly path: string
  readonly coding: Coding
  readonly hasDigest: boolean
}

export function createComputedAnswers(limits: LargeLimits = LARGE_LIMITS, cacheBytes: number = CACHE_BYTES) {
  const { use, keep, find } = createAnswerCache(cacheBytes)
  const inFlight = new Map<string, { readonly answer: Promise<ReadyAnswer>; isShared: boolean }>()
  const renderOnce = (asked: Asked, key: string): Promise<ReadyAnswer> => {
    const running = inFlight.get(key)
    if (running !== undefined) {
      use.shared++
      running.isShared = true
      return running.answer // equal requests at the same time are one computation
    }
    use.misses++
    const render = async (): Promise<ReadyAnswer> => {
      const ready = await renderReady(asked).finally(() => inFlight.delete(key)) // from then on no request can share it
      if (isWorthKeeping(asked, ready)) keep(key, ready)
      else if (!started.isShared) return { ...ready, release: () => void ready.bytes.buffer.transfer(0) }
      return ready
    }
    const started = { answer: render(), isShared: false }
    inFlight.set(key, started)
    return started.answer
  }
  const stream = createStreaming(limits, use, keep)
  return {
    use: () => use,
    /** A large answer is made while it is sent. `path` is the canonical path, if the caller has it already. */
    async compute(
      served: ServedVersion,
      id: ResourceId,
      params: Params,
      acceptEncoding: string | undefined,
      hasDigest = false,
      path = canonicalPath(id, params),
    ): Promise<ReadyAnswer | StreamedAnswer> {
      const coding = isBinary(params.format) ? 'identity' : negotiateCoding(acceptEncoding, CODINGS)
      const isLarge = cellsOf(served, id, params) >= limits.largeCells
      const key = `${served.version} ${coding} ${path}${hasDigest && !isLarge ? ' digest' : ''}`
      const known = find(key)
      if (known !== undefined) return known
      const asked = { served, id, params, path, coding, hasDigest }
      return isLarge ? stream(asked, key) : renderOnce(asked, key)
    },
  }
}

/** Everything but a long uncompressed series: it is made in less time than the garbage collector takes for a kept one. */
const isWorthKeeping = ({ id, params }: Asked, { bytes, headers }: ReadyAnswer): boolean =>
  bytes.length < BULKY_BYTES ||
  headers['content-encoding'] !== undefined ||
  isBinary(params.format) ||
  !(id === 'curve' || id === 'returns' || id === 'rolling')

/** Answers that are made while they are sent, `mostLarge` at a time; `keep` is given those that are small enough. */
function createStreaming(
  { mostLarge, keptBytes, readingMs }: LargeLimits,
  use: CacheUse,
  keep: (key: string, answer: ReadyAnswer) => void,
): (asked: Asked, key: string) => StreamedAnswer {
  const readers: string[] = [] // the client of each place that is taken
  const assertPlace = (client: string): void => {
    const own = readers.filter(reader => reader === client).length
    if (readers.length < mostLarge && own < Math.max(1, mostLarge - 1)) return
    const most = `${readers.length} large answers are being made and sent already, ${own} of them to this client`
    throw new ApiError('overloaded', `${most}; ask again in a moment`)
  }
  async function* inPlace(client: string, blocks: AsyncIterable<Bytes>, onWhole: (bytes: Bytes) => void) {
    assertPlace(client)
    readers.push(client)
    use.misses++
    try {
      let kept: Uint8Array[] = []
      let length = 0
      for await (const block of blocks) {
        length += block.length
        if (length <= keptBytes) kept.push(block)
        else kept = []
        yield block
      }
      if (length <= keptBytes) onWhole(Buffer.concat(kept))
    } finally {
      readers.splice(readers.indexOf(client), 1)
    }
  }
  return (asked, key) => {
    const { served, id, params, coding } = asked
    const etag = etagOf(asked, coding)
    return {
      etag,
      readingMs,
      begin(client) {
        assertPlace(client) // before the work of evaluating it
        const { blocks, headers } = renderBlocks(id, served.snapshot, params)
        const onWhole = (bytes: Bytes) => keep(key, toReadyAnswer(bytes, coding, etag, headers))
        return {
          headers: codedHeaders(coding, etag, headers),
          blocks: inPlace(client, compressBlocks(blocks, coding), onWhole),
        }
      },
    }
  }
}

/** Cells of the answers that grow with the book; all others are small. */
function cellsOf(served: ServedVersion, id: ResourceId, params: Params): number {
  if (id === 'correlation') return (params.ids ?? served.snapshot.strategies).length ** 2
  return id === 'export' ? exportCells(served.snapshot, params) : 0
}

async function renderReady(asked: Asked): Promise<ReadyAnswer> {
  const { served, id, params, coding, hasDigest } = asked
  const { bytes, headers } = renderAnswer(id, served.snapshot, params)
  const used = bytes.length < SMALLEST_COMPRESSED_BYTES ? 'identity' : coding
  const digest = hasDigest ? { 'unencoded-digest': unencodedDigest(sha256(bytes)) } : {}
  const body = await compress(bytes, used)
  if (used !== 'identity') bytes.buffer.transfer(0) // frees its memory now, before the garbage collector finds it
  return toReadyAnswer(body, used, etagOf(asked, used), { ...headers, ...digest })
}

/** Derived from what determines the bytes, so that they need not be read for it. */
function etagOf({ served, path }: Asked, coding: Coding): string {
  const identity = `${served.version} ${RENDER_REVISION} ${coding} ${path}`
  return `"${sha256(identity).slice(0, 32)}"`
}
