import type { Redis } from 'ioredis'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { type Count, createAddressCounts } from '../address-counts.ts'
import { PREVIEW_LIMIT_PREFIX } from '../redis/keys.ts'

export const WINDOW_SECONDS = 60

/** Requests of an address per window. */
export const PREVIEW_LIMITS = { preview: 60, simulate: 10 } as const

export type LimitName = keyof typeof PREVIEW_LIMITS

export type Allowance = {
  readonly name: LimitName
  readonly isWithin: boolean
  readonly remaining: number
  /** Until the window ends. */
  readonly resetSeconds: number
}

/** Counts a request of an address. Never rejects: without Redis this process counts. */
export type PreviewLimits = (name: LimitName, address: string) => Promise<Allowance>

/** The command timeout for the connection of the limits: a preview does not wait longer for Redis. */
export const LIMITS_TIMEOUT_MS = 150

/**
 * One limit for all processes of a Redis, and one per process while Redis is away. `onError` is called each time it
 * cannot count.
 */
export function createPreviewLimits(
  redis: Redis,
  elapsed: () => number,
  onError: (error: unknown) => void,
): PreviewLimits {
  const createCounter = (name: LimitName): ((address: string) => Promise<Count>) => {
    const limiter = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `${PREVIEW_LIMIT_PREFIX}${name}`,
      points: PREVIEW_LIMITS[name],
      duration: WINDOW_SECONDS,
    })
    const countHere = createAddressCounts(WINDOW_SECONDS * 1000, elapsed)
    return async address => {
      try {
        return await limiter.consume(address)
      } catch (error) {
        if (error instanceof RateLimiterRes) return error // thrown above the limit
        onError(error)
        return countHere(address)
      }
    }
  }
  const counters = { preview: createCounter('preview'), simulate: createCounter('simulate') }
  return async (name, address) => {
    const { consumedPoints, msBeforeNext } = await counters[name](address)
    const most = PREVIEW_LIMITS[name]
    return {
      name,
      isWithin: consumedPoints <= most,
      remaining: Math.max(most - consumedPoints, 0),
      resetSeconds: Math.max(Math.ceil(msBeforeNext / 1000), 1),
    }
  }
}
