import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { askRedis } from './connect.ts'

/** The digests of the scripts that were run. */
const digests = new Map<string, string>()

/** Runs a script: sent once, and by its digest from then on. Throws RedisDownError, or its own error. */
export const runScript = (
  redis: Redis,
  script: string,
  keys: readonly string[],
  ...args: readonly (string | number)[]
): Promise<unknown> =>
  askRedis(async () => {
    const digest = digests.get(script) ?? createHash('sha1').update(script).digest('hex')
    digests.set(script, digest)
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return redis.eval(script, keys.length, ...keys, ...args)
    }
  })

/** Releases a lease, unless another process has it by now. */
export const releaseLease = async (redis: Redis, key: string, mine: string): Promise<void> =>
  void (await runScript(redis, RELEASE, [key], mine))

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return false`
