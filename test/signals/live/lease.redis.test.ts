// Who follows a market: one runner at a time, and the next one as soon as the first is gone.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { type Holder, LEASE_MS, RENEW_MS, takeLease } from '#signals/live/lease.ts'
import { liveLeaseKey } from '#signals/redis/keys.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

const holder = (pid: number): Holder => ({ pid, host: 'here', started: '2026-11-21T00:00:00Z' })
const nobodyIsGone = () => false
const KEY = liveLeaseKey('BTC/4h')

test('the lease of a market is held by one runner at a time, with its name and since when', async () => {
  const first = await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
  await expect(takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone)).rejects.toThrow(
    'another runner follows BTC/4h: process 1 on here, since 2026-11-21T00:00:00Z',
  )
  await expect(takeLease(redis, 'ETH/4h', holder(2), nobodyIsGone)).resolves.toBeDefined()
  await first.release()
  await expect(takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone)).resolves.toBeDefined()
})

test('the lease of a market expires, and is renewed by its holder alone', async () => {
  const lease = await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
  expect(await redis.pttl(KEY)).toBeLessThanOrEqual(LEASE_MS)
  await redis.pexpire(KEY, RENEW_MS)
  await lease.renew()
  expect(await redis.pttl(KEY)).toBeGreaterThan(RENEW_MS)
  await redis.del(KEY)
  await takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone)
  await expect(lease.renew()).rejects.toThrow('process 2 on here')
  await lease.release()
  expect(await redis.exists(KEY)).toBe(1)
})

test('the lease of a market of a process that has ended is taken over at once, by one of many', async () => {
  await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
  const isGone = ({ pid }: Holder) => pid === 1
  const takers = [2, 3, 4, 5].map(pid => takeLease(redis, 'BTC/4h', holder(pid), isGone))
  const outcomes = await Promise.allSettled(takers)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
