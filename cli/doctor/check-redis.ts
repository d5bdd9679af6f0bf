// The Redis of the signals, and that of a fleet.
import type { Redis } from 'ioredis'
import { durabilityProblems } from '#signals/redis/boot-checks.ts'
import { CLOCK_TOLERANCE_MS, readClockDifference } from '#signals/redis/clock.ts'
import { askRedis, connectRedis } from '#signals/redis/connect.ts'
import { openRedis, ownRedisRuns, reachRedis } from '../signals/redis-url.ts'
import { type Check, ok, problem, skipped, warning } from './check.ts'

export const signalsRedis: Check = {
  check: 'redis',
  look: async ({ environment, runtime: { now } }) => {
    const { redisUrl, allowsUnsafeRedis, dataFolder } = environment
    if (redisUrl === null && !(await ownRedisRuns(dataFolder)))
      return skipped('REDIS_URL is not set: `serve signals` starts a Redis of its own')
    return withRedis(openRedis(environment, dataFolder), async redis => {
      const unsafe = await durabilityProblems(redis)
      if (unsafe.length > 0 && !allowsUnsafeRedis) {
        return problem(
          `it could lose an acknowledged signal: ${unsafe.join('; ')}`,
          'set these in its configuration, or ALLOW_UNSAFE_REDIS=yes if its provider guarantees durability',
        )
      }
      const skewMs = await readClockDifference(redis, now)
      if (skewMs > CLOCK_TOLERANCE_MS) {
        return warning(
          `its clock and that of this machine differ by ${(skewMs / 1_000).toFixed(1)} s`,
          'let a time service set both clocks',
        )
      }
      return ok(
        `version ${await versionOf(redis)}, ${unsafe.length === 0 ? 'keeps what it acknowledges' : 'allowed by ALLOW_UNSAFE_REDIS'}`,
      )
    })
  },
}

export const fleetRedis: Check = {
  check: 'fleet redis',
  look: async ({ environment: { fleetUrl } }) => {
    if (fleetUrl === null) return skipped('FLEET_URL is not set: builds run on one machine')
    return withRedis(openFleet(fleetUrl), async redis => ok(`version ${await versionOf(redis)}`))
  },
}

async function openFleet(url: string): Promise<Redis> {
  const redis = connectRedis(url, () => {}, { retryStrategy: () => null }) // commands report their own errors
  await reachRedis(redis, 'FLEET_URL')
  return redis
}

async function withRedis<Result>(
  opening: Promise<Redis>,
  look: (redis: Redis) => Promise<Result>,
): Promise<Result> {
  const redis = await opening
  return askRedis(() => look(redis)).finally(() => redis.disconnect())
}

const versionOf = async (redis: Redis): Promise<string> =>
  /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown'
