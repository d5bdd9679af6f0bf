import type { Redis } from 'ioredis'
import { ApiError } from '#core/contract/errors.ts'
import { LogGoneError, readGuardedHead } from '#signals/log/guard.ts'
import { RedisDownError } from '#signals/redis/connect.ts'

/** What a balancer is told: whether Redis answers, and whether it holds the log that this process has seen. */
export type Readiness = { readonly redis: boolean; readonly log: boolean }

/** Asks Redis and writes nothing, so that a full one is ready to be read. Throws `not_ready` with the checks in it. */
export async function assertReady(redis: Redis, isDraining: boolean): Promise<Readiness> {
  const checks = await readReadiness(redis)
  const reason = isDraining ? 'the process is shutting down' : reasonOf(checks)
  if (reason === null) return checks
  throw new ApiError('not_ready', reason, { details: { checks } })
}

/** Nothing is known of a log that cannot be reached: then it is not held to be there. */
async function readReadiness(redis: Redis): Promise<Readiness> {
  try {
    await readGuardedHead(redis)
    return { redis: true, log: true }
  } catch (error) {
    if (error instanceof LogGoneError) return { redis: true, log: false }
    if (error instanceof RedisDownError) return { redis: false, log: false }
    throw error
  }
}

function reasonOf({ redis, log }: Readiness): string | null {
  if (!redis) return 'the log of signals cannot be reached'
  return log ? null : 'the log of signals must be repaired first'
}
