import type { Redis } from 'ioredis'
import { askRedis } from './connect.ts'

/** Gives a lease back, so that nobody waits for its end, unless somebody else has it by now. */
export const releaseLease = async (redis: Redis, key: string, mine: string): Promise<void> =>
  void (await askRedis(() => redis.eval(RELEASE, 1, key, mine)))

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return false`
