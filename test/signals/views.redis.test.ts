// What a client waits for its signals, and the deliveries of a day by the hour, read from what the workers have written.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DeliveryState, owe } from '#signals/outbox/outbox.ts'
import { resend } from '#signals/outbox/resend.ts'
import { readWebhook } from '#signals/outbox/webhooks.ts'
import { outboxKey, webhookKey } from '#signals/redis/keys.ts'
import { readAllClients } from '#signals/views/overview.ts'
import { MOST_MEASURED, readHours, readLatency, spreadOf } from '#signals/views/recent.ts'
import { forAll } from '#test/support/for-all.ts'
import { addSubscriber, BOX, delivered, failed, owingWorld } from '../support/signals/delivery.ts'
import { operatorClient, operatorParts } from '../support/signals/operator.ts'
import { playScene } from '../support/signals/operator-scene.ts'
import { commitMany, fire, NOW_MS, signalContent } from '../support/signals/signals.ts'
import { registerParts } from '../support/signals/signals-app.ts'
import { redis, useRedis } from '../support/signals/test-redis.ts'

useRedis()

const NOTHING = { deliveries: 0, first_attempt_ms: null, acknowledged_ms: null }

/** Three signals, relayed at once; a worker begins after 20 ms, and the receiver takes 30 ms and refuses the second one once. */
async function playThree() {
  await addSubscriber(redis, 'acme', 'https://hooks.example.org/in')
  const world = owingWorld(redis, ({ signal, attempt }) => {
    world.clock.ms += 30
    return signal.seq === 2 && attempt === 1 ? failed() : delivered()
  })
  await world.more('alder', 'alder', 'alder')
  world.clock.ms += 20
  await world.drain()
  world.clock.ms = NOW_MS + 2_000
  await world.drain()
  return world
}

test('the latency of a client counts from the log to the first attempt and to the acknowledgement, retries included, and is shown to the operator', async () => {
  await playThree()
  const first_attempt_ms = { p50: 50, p99: 80, max: 80 }
  const latency = { deliveries: 3, first_attempt_ms, acknowledged_ms: { p50: 110, p99: 2_030, max: 2_030 } }
  expect(await readLatency(redis, 'acme')).toEqual(latency)
  const ask = operatorClient(
    operatorParts(redis, { registering: { ...registerParts(redis, () => NOW_MS), box: BOX } }),
  )
  expect((await ask('GET', '/ops/clients/acme')).json).toMatchObject({ data: { latency } })
})

test('what a removal leaves of a webhook that was changed meanwhile gets no signal, and hides no other client', async () => {
  for (const client of ['acme', 'birch', 'cedar'])
    await addSubscriber(redis, client, 'https://hooks.example.org/in')
  await redis.hdel(webhookKey('acme'), 'url', 'secrets', 'lane', 'condition')
  await redis.hdel(webhookKey('birch'), 'enabled', 'disabled_why', 'lane', 'condition')
  const [clients, webhooks] = await readAllClients(redis)
  expect(clients.map(({ id }) => id)).toEqual(['acme', 'birch', 'cedar'])
  expect([...webhooks.keys()]).toEqual(['acme', 'cedar'])
  expect(await readWebhook(redis, BOX, 'acme')).toBeNull()
  expect(await readWebhook(redis, BOX, 'birch')).toMatchObject({ enabled: false })
})

test('the latency of a client is empty before anything was delivered, and leaves out what is owed', async () => {
  expect(await readLatency(redis, 'acme')).toEqual(NOTHING)
  const seq = await fire(redis, 'a', 'alder')
  await owe(redis, [{ destination: 'acme', signals: [{ seq, prev: 0 }] }], NOW_MS)
  expect(await readLatency(redis, 'acme')).toEqual(NOTHING)
})

test('the latency of a client leaves out what was resent: the second round waited for the operator', async () => {
  const { parts, clock, drain } = await playThree()
  clock.ms += 86_400_000
  await resend(parts, ['acme'], { from: 2 })
  await drain()
  const [first_attempt_ms, acknowledged_ms] = [20, 50].map(ms => ({ p50: ms, p99: ms, max: ms }))
  expect(await readLatency(redis, 'acme')).toEqual({ deliveries: 1, first_attempt_ms, acknowledged_ms })
})

test('the latency of a client is that of its newest deliveries, found between those of other clients', async () => {
  const count = 2_100 // of three numbers two are its own: the newest thousand begin at 601
  await commitMany(
    redis,
    Array.from({ length: count }, (_, i) => ({ content: signalContent(`s${i}`), onlyFor: null })),
  )
  const pipeline = redis.pipeline()
  for (let seq = 1; seq <= count; seq++) {
    if (seq % 3 === 0) continue
    pipeline.hset(outboxKey(seq), 'acme', JSON.stringify(stateOf(seq < 601 ? 9_000 : seq)))
  }
  await pipeline.exec()
  const [first_attempt_ms, acknowledged_ms] = [
    { p50: 0, p99: 0, max: 0 },
    { p50: 1_349, p99: 2_084, max: 2_099 },
  ]
  const expected = { deliveries: MOST_MEASURED, first_attempt_ms, acknowledged_ms }
  expect(await readLatency(redis, 'acme')).toEqual(expected)
})

const stateOf = (waitMs: number): DeliveryState => ({
  ...{ status: 'delivered', prev: 0, attempts: 1, round: 1 },
  ...{ owed_at: NOW_MS, first_attempt_at: NOW_MS, settled_at: NOW_MS + waitMs },
})

test('a percentile of the latency is one of the values, and not below its share of them', () => {
  forAll(fc.array(fc.nat(100_000), { minLength: 1, maxLength: 300 }), values => {
    const spread = spreadOf(values)!
    const notAbove = (limit: number) => values.filter(value => value <= limit).length / values.length
    const below = (limit: number) => values.filter(value => value < limit).length / values.length
    for (const [value, share] of [
      [spread.p50, 0.5],
      [spread.p99, 0.99],
      [spread.max, 1],
    ] as const) {
      expect(values).toContain(value)
      expect(notAbove(value)).toBeGreaterThanOrEqual(share)
      expect(below(value)).toBeLessThan(share)
    }
  })
  expect(spreadOf([])).toBeNull()
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
