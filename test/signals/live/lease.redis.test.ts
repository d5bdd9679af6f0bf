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

/** Plays a scene, again if it was so slow that Redis may have ended a lease meanwhile. It gives what happened and checks nothing. */
async function withinLease<Seen>(scene: () => Promise<Seen>): Promise<Seen> {
  for (;;) {
    const beganMs = performance.now()
    const seen = await scene()
    if (performance.now() - beganMs < RENEW_MS) return seen
    await redis.flushall()
  }
}

test('the lease of a market is held by one runner at a time, with its name and since when', async () => {
  const outcomes = await withinLease(async () => {
    const first = await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
    const others = await Promise.allSettled([
      takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone),
      takeLease(redis, 'ETH/4h', holder(2), nobodyIsGone),
    ])
    await first.release()
    return [...others, ...(await Promise.allSettled([takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone)]))]
  })
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(String(outcomes.flatMap(outcome => ('reason' in outcome ? outcome.reason : [])))).toContain(
    'another runner follows BTC/4h: process 1 on here, since 2026-11-21T00:00:00Z',
  )
})

test('the lease of a market expires, and is renewed by its holder alone', async () => {
  const { taken, renewed, late, left } = await withinLease(async () => {
    const lease = await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
    const taken = await redis.pttl(KEY)
    await redis.pexpire(KEY, RENEW_MS)
    const [late] = await Promise.allSettled([lease.renew()])
    const renewed = await redis.pttl(KEY)
    await redis.del(KEY)
    await takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone)
    const [refused] = await Promise.allSettled([lease.renew()])
    await lease.release()
    return { taken, renewed, late: [late, refused], left: await redis.exists(KEY) }
  })
  for (const ms of [taken, renewed]) {
    expect(ms).toBeLessThanOrEqual(LEASE_MS)
    expect(ms).toBeGreaterThan(RENEW_MS)
  }
  expect(late).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { message: expect.stringContaining('process 2 on here') } },
  ])
  expect(left).toBe(1)
})

test('the lease of a market of a process that has ended is taken over at once, by one of many', async () => {
  const isGone = ({ pid }: Holder) => pid === 1
  const outcomes = await withinLease(async () => {
    await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
    return Promise.allSettled([2, 3, 4, 5].map(pid => takeLease(redis, 'BTC/4h', holder(pid), isGone)))
  })
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
