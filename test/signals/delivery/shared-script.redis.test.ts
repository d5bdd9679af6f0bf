// Calls of one turn of the event loop share a command, and nothing else.
import { once } from 'node:events'
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { createSharedScript } from '#signals/redis/script.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

const KEY = '{hw}:counted'

/** Increments a field, and fails as its second argument says. */
const count = createSharedScript(
  `local function run(field, failure)
    if failure == 'lua' then error('out of order') end
    if failure == 'redis' then redis.call('GET', KEYS[1]) end
    return {redis.call('HINCRBY', KEYS[1], field, 1)}
  end`,
  [KEY],
  2,
)

test('a call of a shared script that fails, whether in Redis or by itself, ends no other one', async () => {
  const asked = ['', 'redis', 'lua', ''].map(failure => count(redis, 'a', failure))
  expect(await Promise.allSettled(asked)).toMatchObject([
    { status: 'fulfilled', value: [1] },
    { status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } },
    { status: 'rejected', reason: { message: expect.stringContaining('out of order') } },
    { status: 'fulfilled', value: [2] },
  ])
})

test('each of many calls of a shared script gets its own reply, and they take few commands', async () => {
  await count(redis, 'warm', '')
  await redis.config('RESETSTAT')
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, i) => count(redis, `field ${i % 10}`, '')),
  )
  expect(replies).toEqual(Array.from({ length: 100 }, (_, i) => [Math.floor(i / 10) + 1]))
  expect(await redis.info('commandstats')).toContain('cmdstat_evalsha:calls=2,')
})

test('calls of a shared script fail with their connection, and those of the next turn are sent again', async () => {
  redis.disconnect()
  await once(redis, 'end')
  await expect(count(redis, 'a', '')).rejects.toThrow('Redis does not answer')
  await redis.connect()
  expect(await count(redis, 'a', '')).toEqual([1])
})
