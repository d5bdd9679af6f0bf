import type { Redis } from 'ioredis'
import { askRedis } from '../redis/connect.ts'

/** Whose clock is further off cannot tell which bars are over, nor which entries are late. */
export const CLOCK_TOLERANCE_MS = 2_000

/** The clock of this machine and that of Redis, or of the feed, do not agree. */
export class ClockError extends Error {
  constructor(what: string) {
    super(`${what}: nothing is fired by a clock that may be wrong; set the clocks by NTP and start again`)
    this.name = 'ClockError'
  }
}

/**
 * Throws a ClockError where this machine's clock differs from that of Redis by more than the tolerance. The way to Redis
 * and back is taken off, so that a slow network is no wrong clock.
 */
export async function assertClock(redis: Redis, now: () => number): Promise<void> {
  const before = now()
  const [seconds, micros] = await askRedis(() => redis.time())
  const after = now()
  const there = Number(seconds) * 1_000 + Number(micros) / 1_000
  const off = Math.max(before - there, there - after)
  if (off <= CLOCK_TOLERANCE_MS) return
  throw new ClockError(`this clock and that of Redis differ by ${Math.round(off)} ms`)
}
