// A history of twelve thousand signals: read as fast as it is taken, and never held as a whole.
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { atEndOfFile } from '../../support/ends.ts'
import { sharedRedis } from '../../support/servers/use-redis.ts'
import { addClient, commitMany, seededBytes, signalContent } from '../../support/signals/signals.ts'
import { createTestSignals, withKey } from '../../support/signals/signals-app.ts'
import { rowsOf } from './keyed-answers.ts'

const LENGTH = 12_000

let redis: Redis
let app: ReturnType<typeof createTestSignals>['app']
let token: string

beforeAll(async () => {
  redis = await (await sharedRedis()).connect()
  await redis.flushall()
  atEndOfFile(() => redis.flushall())
  app = createTestSignals(redis).app
  token = (await addClient(redis, 'acme', ['alder'], seededBytes('long'))).token
  const contents = Array.from({ length: LENGTH }, (_, i) => signalContent(`s${i}`, { signal_price: 1 + i }))
  await commitMany(
    redis,
    contents.map(content => ({ content, onlyFor: null })),
  )
})

const get = async (path: string): Promise<Response> => app.request(path, withKey(token))

/** Blocks that were read since the counters were reset. */
const blocksRead = async (): Promise<number> =>
  Number(/cmdstat_xrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)

test('a long history is streamed whole in small pieces', async () => {
  const response = await get('/v1/signals/history')
  let length = 0
  let longest = 0
  let tail = ''
  for await (const piece of response.body ?? []) {
    length += piece.length
    longest = Math.max(longest, piece.length)
    tail = (tail + Buffer.from(piece.subarray(-300)).toString()).slice(-300)
  }
  expect(length).toBeGreaterThan(2.4e6)
  expect(longest).toBeLessThan(4e5)
  expect(tail).toContain(`"count":${LENGTH},"last_seq":${LENGTH}}`)
})

test('a long history is read no faster than its reader takes it, and no further', async () => {
  await redis.config('RESETSTAT')
  const response = await get('/v1/signals/history?format=csv')
  const reader = response.body!.getReader()
  const before = await blocksRead()
  expect(before).toBeLessThan(10) // what is made before the first byte is sent
  for (let i = 1; i <= 5; i++) {
    await reader.read()
    expect(await blocksRead()).toBeLessThanOrEqual(before + i)
  }
  await reader.cancel()
  const after = await blocksRead()
  await get('/v1/whoami')
  expect(await blocksRead()).toBe(after)
})

test('a long history asked for by HEAD is read no further than its beginning', async () => {
  await redis.config('RESETSTAT')
  const response = await app.request('/v1/signals/history', withKey(token, 'HEAD'))
  expect([response.status, await response.text()]).toEqual([200, ''])
  expect(await blocksRead()).toBeLessThan(10)
})

test('a client that is up to date costs no block of a long history', async () => {
  await redis.config('RESETSTAT')
  expect(await rowsOf(await get(`/v1/signals/history?since=${LENGTH}`))).toEqual([])
  expect(await blocksRead()).toBe(0)
})
