/** How a cache of answers was used since the process began, and what it holds. */
export type CacheUse = {
  hits: number
  misses: number
  /** Answered by a computation that was under way for an equal request. */
  shared: number
  /** Bytes of the bodies in it. */
  readonly bytes: number
}

/** Counters of a cache whose size is read when it is asked for. */
export const countUse = (cache: { readonly calculatedSize: number }): CacheUse => ({
  hits: 0,
  misses: 0,
  shared: 0,
  get bytes() {
    return cache.calculatedSize
  },
})
