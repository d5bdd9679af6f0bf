// What is wrong with the service as a whole, held against what it should be.
import type { Alert } from './alert.ts'
import { LogGoneError } from './log/guard.ts'
import { WritesRefusedError } from './redis/connect.ts'
import type { Overview } from './views/overview.ts'

/** A Redis with less room than this is full soon. */
const FULL_AT = 0.85

/** Of the disk under the append-only file, lowest first: a rewrite needs room for a second copy, and then it is too late. */
const DISK_FULL_AT: readonly number[] = [0.7, 0.85]

/** Signals that wait for a relay which runs: a block and more. */
const MOST_LAG = 1_000

/** A replica may also take writes, where it is set to, and lose them when it follows its primary again. */
const READ_ONLY: Alert = {
  kind: 'redis_read_only',
  subject: 'writes',
  message: 'Redis is a replica, where nothing is fired: name its primary in REDIS_URL, or promote it',
}

/** The last number that the relay has passed, where others wait behind it; else null. */
export const standstillOf = ({ seq, relayLag }: Overview): number | null =>
  relayLag > 0 ? seq - relayLag : null

/** What is wrong with the service as it stands, and as the relay stood at the look before, where signals waited for it. */
export function problemsOf(overview: Overview | null, stoodAt: number | null = null): readonly Alert[] {
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
  if (redis.isReplica) found.push(READ_ONLY)
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
  else if (stoodAt !== null && stoodAt === standstillOf(overview))
    found.push({
      kind: 'relay_stuck',
      subject: 'relay',
      message: `the relay does not get past signal ${stoodAt}, and ${relayLag} wait: the log of the process tells why`,
    })
  return found
}

/** What is wrong with a service that cannot be looked at. */
export function problemsOfFailure(error: unknown): readonly Alert[] {
  if (error instanceof LogGoneError) return [{ kind: 'redis_wiped', subject: 'log', message: error.message }]
  if (error instanceof WritesRefusedError) return [toRefusalAlert(error)]
  return problemsOf(null)
}

const toRefusalAlert = ({ refusal, message }: WritesRefusedError): Alert => ({
  kind: refusal === 'OOM' || refusal === 'MISCONF' ? 'redis_full' : 'redis_read_only',
  subject: 'writes',
  message: `${message}; nothing is fired meanwhile`,
})

/** Each stage is an alert of its own. */
export function problemsOfDisk(used: number | null): readonly Alert[] {
  const stage = DISK_FULL_AT.findLast(share => used !== null && used >= share)
  if (stage === undefined) return []
  const percent = `${Math.round(stage * 100)} %`
  const message = `the disk of Redis is ${percent} full: make room before it is, nothing is fired from then on`
  return [{ kind: 'redis_full', subject: `disk at ${percent}`, message }]
}
