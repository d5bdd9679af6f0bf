import type { Redis } from 'ioredis'
import { askRedis } from '../redis/connect.ts'
import { EPOCH, HEAD, LOG, RELAY_LEASE } from '../redis/keys.ts'
import { readStoredHead } from './guard.ts'
import type { LogHead } from './read-log.ts'

/**
 * Goes on with a log whose past is lost: the next signal gets a number above `above` and above whatever is there, under a
 * new epoch, which tells the clients to pull again. Throws where a service is at work: it would hold to the old epoch.
 */
export async function beginAnew(redis: Redis, above: number, newEpoch: () => string): Promise<LogHead> {
  if ((await askRedis(() => redis.exists(RELAY_LEASE))) === 1)
    throw new Error('a service is at work on this Redis: stop it first, and wait some seconds')
  const epoch = newEpoch()
  const { seq: head } = await readStoredHead(redis)
  const [newest] = await askRedis(() => redis.xrevrange(LOG, '+', '-', 'COUNT', 1))
  const seq = Math.max(above, head, newest === undefined ? 0 : Number.parseInt(newest[0], 10))
  await askRedis(() => redis.multi().hset(HEAD, 'seq', seq).set(EPOCH, epoch).exec())
  return { seq, epoch }
}
