// What is wrong with the service as a whole, held against what it should be.
import type { Alert } from './alert.ts'
import { LogGoneError } from './log/guard.ts'
import { RedisFullError } from './redis/connect.ts'
import type { Overview } from './views/overview.ts'

/** A Redis with less room than this is full soon. */
const FULL_AT = 0.85

/** Of the disk under the append-only file, lowest first: a rewrite needs room for a second copy, and then it is too late. */
const DISK_FULL_AT: readonly number[] = [0.7, 0.85]

/** Signals that wait for a relay which runs: a block and more. */
const MOST_LAG = 1_000

/** What is wrong with the service as it stands. */
export function problemsOf(overview: Overview | null): readonly Alert[] {
  if (overview === null)
    return [
      {
        kind: 'redis_down',
        subject: 'redis',
        message: 'Redis does not answer: nothing is fired or delivered until it does',
      },
    ]
  const { redis, isRelayed, relayLag } = overview
  const found: Alert[] = []
  if (redis.problems.length > 0)
    found.push({
      kind: 'redis_unsafe',
      subject: 'redis',
      message: `Redis could lose signals: ${redis.problems.join('; ')}`,
    })
  if (!redis.isWriting)
    found.push({
      kind: 'redis_full',
      subject: 'disk',
      message: 'Redis cannot write its append-only file: make room on its disk',
    })
  if (redis.limitBytes > 0 && redis.usedBytes > FULL_AT * redis.limitBytes)
    found.push({
      kind: 'redis_full',
      subject: 'memory',
      message: 'Redis has used 85 % of its memory: give it more',
    })
  if (relayLag > 0 && (!isRelayed || relayLag > MOST_LAG))
    found.push({
      kind: 'relay_stuck',
      subject: 'relay',
      message: `${relayLag} signals wait for the relay: is a delivery process running?`,
    })
  return found
}

/** What is wrong with a service that cannot be looked at. */
export function problemsOfFailure(error: unknown): readonly Alert[] {
  if (error instanceof LogGoneError) return [{ kind: 'redis_wiped', subject: 'log', message: error.message }]
  if (error instanceof RedisFullError)
    return [
      { kind: 'redis_full', subject: 'writes', message: `${error.message}; nothing is fired meanwhile` },
    ]
  return problemsOf(null)
}

/** Each stage is an alert of its own. */
export function problemsOfDisk(used: number | null): readonly Alert[] {
  const stage = DISK_FULL_AT.findLast(share => used !== null && used >= share)
  if (stage === undefined) return []
  const percent = `${Math.round(stage * 100)} %`
  const message = `the disk of Redis is ${percent} full: make room before it is, nothing is fired from then on`
  return [{ kind: 'redis_full', subject: `disk at ${percent}`, message }]
}
