// How often an address may ask for the preview: at the edges, from several services, and while Redis is away.
import { expect, test } from 'vitest'
import { createAddressCounts } from '#signals/address-counts.ts'
import {
  createPreviewLimits,
  LIMITS_TIMEOUT_MS,
  type LimitName,
  PREVIEW_LIMITS,
  type PreviewLimits,
  WINDOW_SECONDS,
} from '#signals/program/preview-limits.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { PREVIEW_LIMIT_PREFIX } from '#signals/redis/keys.ts'
import { atEnd } from '../../support/ends.ts'
import { redis, server, useOwnRedis } from '../../support/signals/own-redis.ts'

useOwnRedis()

const ADDRESS = '203.0.113.7'
const KEY = `${PREVIEW_LIMIT_PREFIX}preview:${ADDRESS}`

const neverAsked = (error: unknown): never => {
  throw error
}

/** So patient that a busy machine is not taken for a Redis that hangs. */
const PATIENT_MS = 10_000

/** Limits of a process, on a connection like that of the service. */
async function openLimits(onError: (error: unknown) => void = neverAsked, commandTimeout = PATIENT_MS) {
  const connection = connectRedis(server.url, () => {}, { commandTimeout })
  await connection.connect().catch(() => {})
  const clock = { ms: 0 }
  atEnd(() => connection.disconnect())
  return { take: createPreviewLimits(connection, () => clock.ms, onError), clock }
}

async function withinOf(take: PreviewLimits, name: LimitName, times: number, address = ADDRESS) {
  const taken = await Promise.all(Array.from({ length: times }, () => take(name, address)))
  return taken.filter(({ isWithin }) => isWithin).length
}

test.each(Object.entries(PREVIEW_LIMITS))(
  'the last request of %s within its limit of %i passes, and the next does not',
  async name => {
    const limit = name as LimitName // a key of the limits
    const { take } = await openLimits()
    const most = PREVIEW_LIMITS[limit]
    expect(await take(limit, ADDRESS)).toEqual({
      name: limit,
      isWithin: true,
      remaining: most - 1,
      resetSeconds: WINDOW_SECONDS,
    })
    expect(await withinOf(take, limit, most - 2)).toBe(most - 2)
    expect(await take(limit, ADDRESS)).toMatchObject({ isWithin: true, remaining: 0 })
    expect(await take(limit, ADDRESS)).toMatchObject({ isWithin: false, remaining: 0 })
  },
)

test('requests of one address use up neither the limit of another address nor the other limit', async () => {
  const { take } = await openLimits()
  await withinOf(take, 'preview', 61)
  expect(await take('preview', '203.0.113.8')).toMatchObject({ isWithin: true, remaining: 59 })
  expect(await take('simulate', ADDRESS)).toMatchObject({ isWithin: true, remaining: 9 })
})

test('the window of a limit ends a minute after its first request, however many came after it', async () => {
  const { take } = await openLimits()
  expect(await withinOf(take, 'preview', 70)).toBe(60)
  await redis.pexpire(KEY, 20_500)
  const late = await take('preview', ADDRESS)
  expect(late.isWithin).toBe(false)
  expect(late.resetSeconds).toBeLessThanOrEqual(21)
  await redis.del(KEY) // as its end does
  expect(await take('preview', ADDRESS)).toMatchObject({ isWithin: true, remaining: 59 })
  expect(await redis.pttl(KEY)).toBeGreaterThan(0)
})

test('two services that ask at once on connections of their own let 60 requests pass together', async () => {
  const services = await Promise.all([openLimits(), openLimits()])
  const within = await Promise.all(services.map(({ take }) => withinOf(take, 'preview', 45)))
  expect(within[0]! + within[1]!).toBe(60)
  expect(await redis.get(KEY)).toBe('90')
})

test('the limits begin again on a Redis that was emptied, and do not fail', async () => {
  const { take } = await openLimits()
  await withinOf(take, 'preview', 61)
  await redis.flushall()
  await redis.script('FLUSH')
  expect(await take('preview', ADDRESS)).toMatchObject({ isWithin: true, remaining: 59 })
})

test('a process counts the requests itself while Redis is away, a minute at a time by its own clock', async () => {
  const errors: unknown[] = []
  await server.kill()
  const { take, clock } = await openLimits(error => errors.push(error))
  expect(await withinOf(take, 'simulate', 11)).toBe(10)
  clock.ms = 59_999
  expect(await take('simulate', ADDRESS)).toMatchObject({ isWithin: false, resetSeconds: 1 })
  expect(await take('simulate', '203.0.113.8')).toMatchObject({ isWithin: true, resetSeconds: 60 })
  clock.ms = 60_000
  expect(await take('simulate', ADDRESS)).toMatchObject({ isWithin: true, remaining: 9, resetSeconds: 60 })
  expect(errors).toHaveLength(14)
  await server.restart()
  await redis.connect().catch(() => {}) // it may be on its way by itself
  await expect.poll(() => redis.status).toBe('ready')
  const again = await openLimits()
  expect(await again.take('simulate', ADDRESS)).toMatchObject({ isWithin: true, remaining: 9 })
})

test('the counts of a process are bounded: the address that was quiet for the longest is forgotten, and a window lasts exactly as long as it is', () => {
  const add = createAddressCounts(60_000, () => 0)
  expect([add('first'), add('first')]).toMatchObject([{ consumedPoints: 1 }, { consumedPoints: 2 }])
  for (let i = 0; i < 10_000; i++) add(`other ${i}`)
  expect(add('first').consumedPoints).toBe(1)
  const began = 30_006.222
  expect(began + 60_000 - began).toBeGreaterThan(60_000) // binary fractions
  expect(createAddressCounts(60_000, () => began)('first')).toEqual({
    consumedPoints: 1,
    msBeforeNext: 60_000,
  })
})

// Last: it leaves a Redis behind that answers nobody.
test('a Redis that hangs holds up no request: the process counts itself', async () => {
  const errors: unknown[] = []
  const { take } = await openLimits(error => errors.push(error), LIMITS_TIMEOUT_MS)
  await redis.client('PAUSE', 600_000, 'ALL')
  expect(await withinOf(take, 'simulate', 11)).toBe(10)
  expect(errors).toHaveLength(11)
  await server.kill()
})
