/** How a cache was asked since the process began. */
export type CacheUse = {
  hits: number
  misses: number
  /** Answered by a computation that was under way for somebody else. */
  shared: number
}

export const noCacheUse = (): CacheUse => ({ hits: 0, misses: 0, shared: 0 })
