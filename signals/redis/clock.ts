// The clock of this machine, beside that of Redis.
import type { Redis } from 'ioredis'
import { askRedis } from './connect.ts'
import { CLOCK } from './keys.ts'
import { runScript } from './script.ts'

/** With a larger difference, closed bars and late entries cannot be determined. */
export const CLOCK_TOLERANCE_MS = 2_000

/** The clock of this machine differs from that of Redis or of the feed. */
export class ClockError extends Error {
  constructor(what: string) {
    super(`${what}: nothing is fired by a clock that may be wrong; set the clocks by NTP and start again`)
    this.name = 'ClockError'
  }
}

/** Throws a ClockError if this clock differs from that of Redis by more than the tolerance. */
export async function assertClock(redis: Redis, now: () => number): Promise<void> {
  const offMs = await readClockDifference(redis, now)
  if (offMs <= CLOCK_TOLERANCE_MS) return
  throw new ClockError(`this clock and that of Redis differ by ${Math.round(offMs)} ms`)
}

/** By how many milliseconds this clock differs from that of Redis, not counting the round trip. */
export async function readClockDifference(redis: Redis, now: () => number): Promise<number> {
  const before = now()
  const there = await readRedisTime(redis)
  const after = now()
  return Math.max(before - there, there - after)
}

/** Epoch milliseconds. */
export async function readRedisTime(redis: Redis): Promise<number> {
  const [seconds, micros] = await askRedis(() => redis.time())
  return Number(seconds) * 1_000 + Number(micros) / 1_000
}

/** By how many milliseconds the clock of Redis went on since this was called last, by any process; less than 0 if it was set back. */
export const readRedisStep = async (redis: Redis): Promise<number> =>
  Number(await runScript(redis, STEP_SCRIPT, [CLOCK]))

const STEP_SCRIPT = `
local seconds, micros = unpack(redis.call('TIME'))
local now = string.format('%.0f', seconds * 1000 + micros / 1000)
return now - (redis.call('GETSET', KEYS[1], now) or now)
`

export type SteadyClock = ReturnType<typeof createSteadyClock>

/**
 * A clock that does not jump with that of the machine: it goes on evenly from when it was created, until it is set to
 * follow. Both readings are in milliseconds, and `elapsed` never jumps.
 */
export function createSteadyClock({ now, elapsed }: Readonly<Record<'now' | 'elapsed', () => number>>) {
  let startMs = now() - elapsed()
  return {
    /** Epoch milliseconds. */
    now: (): number => Math.round(startMs + elapsed()),
    /** By how much the clock of the machine has jumped since it was followed. */
    jumpMs: (): number => now() - elapsed() - startMs,
    /** Sets this clock, by default by that of the machine. */
    follow(ms = now()): void {
      startMs = ms - elapsed()
    },
  }
}
