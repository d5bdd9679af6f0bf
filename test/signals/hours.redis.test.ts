// The deliveries of a day by the hour.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { readHours } from '#signals/views/hours.ts'
import { useTestRedis } from '../support/servers/use-redis.ts'
import { playScene } from '../support/signals/operator-scene.ts'
import { NOW_MS } from '../support/signals/signals.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

test('each delivery counts in the hour of its signal, by how it ended and how long it took', async () => {
  await playScene(redis)
  const { hours, isWhole } = await readHours(redis, NOW_MS, 'acme-capital')
  expect([hours.length, isWhole]).toEqual([24, true])
  const latency = { p50: 140, p99: 140, max: 140 }
  expect(hours.at(-1)).toEqual({
    ...{ startMs: Math.floor(NOW_MS / 3_600_000) * 3_600_000, delivered: 6, exhausted: 0, latency },
  })
  expect(hours.slice(0, -1).every(hour => hour.delivered === 0 && hour.latency === null)).toBe(true)
  const all = (await readHours(redis, NOW_MS)).hours.at(-1)
  expect([all?.exhausted, all?.delivered]).toEqual([1, 12])
  const dayLater = await readHours(redis, NOW_MS + 24 * 3_600_000)
  expect(dayLater.hours.every(({ delivered, exhausted }) => delivered + exhausted === 0)).toBe(true)
})
