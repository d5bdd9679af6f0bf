import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { askRedis } from './connect.ts'

/** A script and its digest. */
export type Script = { readonly text: string; readonly sha1: string }

/** Creates a script: sent in full once, and by its digest from then on. */
export const createScript = (text: string): Script => ({
  text,
  sha1: createHash('sha1').update(text).digest('hex'),
})

/** Runs a script. Throws RedisDownError, or the script's own error. */
export const runScript = (
  redis: Redis,
  { text, sha1 }: Script,
  keys: readonly string[],
  ...args: readonly (string | number)[]
): Promise<unknown> =>
  askRedis(async () => {
    try {
      return await redis.evalsha(sha1, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return redis.eval(text, keys.length, ...keys, ...args)
    }
  })

/** Releases a lease, unless another process has it by now. */
export const releaseLease = async (redis: Redis, key: string, mine: string): Promise<void> =>
  void (await askRedis(() => redis.eval(RELEASE, 1, key, mine)))

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return false`
