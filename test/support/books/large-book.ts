// A book whose export is large, served without a store, and limits in which a test can reach them.
import { LARGE_LIMITS, type LargeLimits } from '#api/history/answers/computed-answers.ts'
import type { ServedVersion } from '#api/history/versions/served-version.ts'
import type { VersionSource } from '#api/history/versions/version-source.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { handSnapshot } from './hand-snapshot.ts'

/** Strategies of the book. */
const COUNT = 10

/** Returns that repeat themselves late, so that no compression makes them small. */
export const longReturns = (length: number): Float64Array =>
  Float64Array.from({ length }, (_, i) => (((i + 1) * 7_919) % 10_007) / 1e6 - 0.005)

/**
 * A book with these daily returns in every strategy, or others in the last one: a row of its export is 200 bytes of JSON.
 * Nothing else in it is of them.
 */
export function longBook(values: Float64Array, last = values): Snapshot {
  const book = handSnapshot(Array.from({ length: COUNT }, (_, i) => ({ id: `s${i}`, returns: [0.01] })))
  return {
    ...book,
    strategies: book.strategies.map((strategy, i) => ({
      ...strategy,
      daily: { ...strategy.daily, values: i === COUNT - 1 ? last : values },
    })),
  }
}

/** The same values, and how far they were read. */
export function watched(values: Float64Array) {
  let furthest = -1
  const proxy = new Proxy(values, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof key === 'string' && /^\d+$/.test(key)) furthest = Math.max(furthest, Number(key))
      return value
    },
  })
  return { values: proxy, furthest: () => furthest }
}

/** A version of this snapshot that has no files. */
export const toServed = (snapshot: Snapshot): ServedVersion => ({
  version: snapshot.dataset.version,
  snapshot,
  artifacts: new Map(),
  files: new Map(),
  checks: { manifest_loaded: true, count_matches: true, per_strategy_loaded: true, correlation_dims: true },
})

/** A source that serves it and nothing else. */
export const sourceOf = (served: ServedVersion): VersionSource => ({
  current: () => served,
  history: () => null,
  checks: () => served.checks,
  unfitVersion: () => null,
  refresh: async () => ({ kind: 'unchanged' }),
})

export const limitsWith = (changes: Partial<LargeLimits>): LargeLimits => ({ ...LARGE_LIMITS, ...changes })
