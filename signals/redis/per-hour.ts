// What a client may do so many times in an hour, which begins with the first.
import type { Redis } from 'ioredis'
import { ApiError } from '#core/contract/errors.ts'
import { askAll, askRedis } from './connect.ts'

export type HourLimit = {
  readonly most: number
  /** The beginning of the refusal: `a webhook can be registered`. */
  readonly what: string
  readonly keyOf: (client: string) => string
}

const HOUR_S = 3_600

/** Counts one more of a client. Throws `rate_limited` if it is one too many. */
export async function countInHour(redis: Redis, limit: HourLimit, client: string): Promise<void> {
  const key = limit.keyOf(client)
  const [, tried] = await askAll(redis.multi().set(key, 0, 'EX', HOUR_S, 'NX').incr(key))
  await assertWithin(redis, limit, client, Number(tried))
}

/** Throws `rate_limited` if a client has used up its hour; counts nothing. */
export async function assertLeft(redis: Redis, limit: HourLimit, client: string): Promise<void> {
  const tried = Number((await askRedis(() => redis.get(limit.keyOf(client)))) ?? 0)
  await assertWithin(redis, limit, client, tried + 1)
}

async function assertWithin(redis: Redis, { most, what, keyOf }: HourLimit, client: string, tried: number) {
  if (tried <= most) return
  const waitS = Math.max(1, await askRedis(() => redis.ttl(keyOf(client))))
  const minutes = Math.ceil(waitS / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  throw new ApiError('rate_limited', `${what} ${most} times an hour: try again in ${wait}`, {
    headers: { 'retry-after': String(waitS) },
  })
}
