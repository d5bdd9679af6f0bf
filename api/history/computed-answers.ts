import { LRUCache } from 'lru-cache'
import { isBinary } from '#core/contract/artifacts.ts'
import type { Params } from '#core/contract/parameters.ts'
import { canonicalPath } from '#core/contract/routes.ts'
import { RENDER_REVISION } from '#core/dataset/render/revision.ts'
import { renderAnswer, renderBlocks } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resources.ts'
import { sha256 } from '#storage/digest.ts'
import { type Coding, negotiateCoding } from '../http/negotiate-coding.ts'
import { type CacheUse, countUse } from './cache-use.ts'
import { CODINGS, compress } from './compress.ts'
import { createLargeAnswers } from './large-answers.ts'
import { LARGE_LIMITS, type LargeLimits } from './large-limits.ts'
import { type ReadyAnswer, type StreamedAnswer, toReadyAnswer, unencodedDigest } from './ready-answer.ts'
import type { ServedVersion } from './served-version.ts'

/** Memory for computed answers: `risk_pct` makes their number endless, so this holds what is asked for again. */
const CACHE_BYTES = 32 << 20

/** Below this a body fits one packet and compressing it saves nothing. */
const SMALLEST_COMPRESSED_BYTES = 1024

/**
 * The answers at points that cannot be files: evaluated on demand by the functions that made the files. A digest of an
 * answer costs as much as the answer, so those alone have one that are kept for ever or stand for a file, and none that
 * is large: it is sent before it is known.
 */
export type ComputedAnswers = {
  /** A large answer is not made yet: it is, while it is sent. */
  compute(
    served: ServedVersion,
    id: ResourceId,
    params: Params,
    acceptEncoding: string | null | undefined,
    hasDigest?: boolean,
  ): Promise<ReadyAnswer | StreamedAnswer>
  readonly use: () => CacheUse
}

type Asked = {
  readonly served: ServedVersion
  readonly id: ResourceId
  readonly params: Params
  readonly coding: Coding
  readonly hasDigest: boolean
}

export function createComputedAnswers(
  limits: LargeLimits = LARGE_LIMITS,
  cacheBytes: number = CACHE_BYTES,
): ComputedAnswers {
  const cache = new LRUCache<string, ReadyAnswer>({
    maxSize: cacheBytes,
    sizeCalculation: answer => answer.bytes.length,
  })
  const use = countUse(cache)
  const keepSmall = (key: string, answer: ReadyAnswer): void => {
    if (answer.bytes.length <= limits.keptBytes) cache.set(key, answer)
  }
  const inFlight = new Map<string, Promise<ReadyAnswer>>()
  const large = createLargeAnswers(use, keepSmall, limits)
  const renderOnce = (asked: Asked, key: string): Promise<ReadyAnswer> => {
    const running = inFlight.get(key)
    if (running !== undefined) {
      use.shared++
      return running // equal requests at the same time are one computation
    }
    use.misses++
    const made = renderReady(asked)
      .then(ready => {
        cache.set(key, ready)
        return ready
      })
      .finally(() => inFlight.delete(key))
    inFlight.set(key, made)
    return made
  }
  return {
    use: () => use,
    async compute(served, id, params, acceptEncoding, hasDigest = false) {
      const coding = isBinary(params.format) ? 'identity' : negotiateCoding(acceptEncoding, CODINGS)
      const isLarge = cellsOf(served, id, params) >= limits.largeCells
      const key = keyOf(served, coding, canonicalPath(id, params), hasDigest && !isLarge)
      const cached = cache.get(key)
      if (cached !== undefined) {
        use.hits++
        return cached
      }
      if (!isLarge) return renderOnce({ served, id, params, coding, hasDigest }, key)
      const etag = etagOf(served, id, params, coding)
      return large({ key, etag, coding, render: () => renderBlocks(id, served.snapshot, params) })
    },
  }
}

const keyOf = ({ version }: ServedVersion, coding: Coding, path: string, hasDigest = false): string =>
  `${version} ${coding} ${path}${hasDigest ? ' digest' : ''}`

/** Of the answers that grow with the book; all others are small. */
function cellsOf(served: ServedVersion, id: ResourceId, { period, ids }: Params): number {
  if (id === 'correlation') return (ids ?? served.snapshot.strategies).length ** 2
  if (id !== 'export') return 0
  return served.snapshot.strategies.reduce((sum, strategy) => sum + strategy[period].values.length, 0)
}

async function renderReady({ served, id, params, coding, hasDigest }: Asked): Promise<ReadyAnswer> {
  const { bytes, headers } = renderAnswer(id, served.snapshot, params)
  const used = bytes.length < SMALLEST_COMPRESSED_BYTES ? 'identity' : coding
  const digest = hasDigest ? { 'unencoded-digest': unencodedDigest(sha256(bytes)) } : {}
  const body = await compress(bytes, used)
  if (used !== 'identity') bytes.buffer.transfer(0) // its memory is free now, and not when the garbage collector finds it
  return toReadyAnswer(body, used, etagOf(served, id, params, used), { ...headers, ...digest })
}

/** From what determines the bytes, not from the bytes: a validator without a pass over them. */
function etagOf({ version }: ServedVersion, id: ResourceId, params: Params, coding: Coding): string {
  const identity = `${version} ${RENDER_REVISION} ${coding} ${canonicalPath(id, params)}`
  return `"${sha256(new TextEncoder().encode(identity)).slice(0, 32)}"`
}
