// A worker that loses its client: Redis or the process stood still, and another worker may have the client by now. No
// delivery is begun that would not end in time, and what comes late is written. Time is the test's.
import type { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import type { SendOrder } from '#signals/delivery/delivery-parts.ts'
import { owedCount, readAttempts, readDelivery } from '#signals/delivery/outbox.ts'
import type { Outcome } from '#signals/delivery/outcome.ts'
import { ATTEMPT_TIMEOUT_MS } from '#signals/delivery/policy.ts'
import { FLIGHT_MS, take } from '#signals/delivery/work.ts'
import { drainClient, LAST_START_SHARE } from '#signals/delivery/worker.ts'
import { flightKey } from '#signals/redis/keys.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { addSubscriber, delivered, failed, madeWorld, relayAll } from '../../support/signals/delivery.ts'
import { beforeScripts, fire, NOW_MS } from '../../support/signals/signals.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})
beforeEach(() => addSubscriber(redis, 'acme', 'http://127.0.0.1:9999/acme'))

/** So many signals are owed; the worker under test reaches Redis after `before`. */
async function owed(
  count: number,
  answer: (order: SendOrder) => Outcome | Promise<Outcome>,
  before: () => Promise<void> = async () => {},
) {
  const world = madeWorld(redis, answer)
  for (let i = 0; i < count; i++) await fire(redis, `s${i}`, 'alder')
  await relayAll(redis, world.parts.now)
  const sleep = async (ms: number): Promise<void> => {
    world.clock.ms += ms
  }
  return { ...world, worker: { ...world.parts, redis: beforeScripts(redis, before), sleep } }
}

const expire = () => redis.del(flightKey('acme')) // as its expiry does

test('a request is never begun so late that its deadline lies after the lease of its client', () => {
  expect(FLIGHT_MS * LAST_START_SHARE + ATTEMPT_TIMEOUT_MS).toBeLessThan(FLIGHT_MS)
})

test('a request is not begun with the rest of a lease after Redis was away while the one before it was written', async () => {
  const backMs = NOW_MS + FLIGHT_MS - 1_000
  let isAway = false
  const { worker, parts, clock, seqs } = await owed(
    3,
    () => {
      isAway = seqs().length === 1
      return delivered()
    },
    async () => {
      if (isAway && clock.ms < backMs) throw new Error('away')
    },
  )
  expect(await drainClient(worker, 'acme', 'fast')).toMatchObject({ kind: 'later' })
  expect(seqs()).toEqual([1])
  expect((await readDelivery(redis, 1, 'acme'))?.status).toBe('delivered')
  await drainClient(parts, 'acme', 'fast') // another worker, at once: the client was given back
  expect(seqs()).toEqual([1, 2, 3])
})

test('a request is not begun by a process that stood still, and the client is given back with everything owed', async () => {
  const { worker, parts, clock, seqs } = await owed(
    2,
    () => delivered(),
    async () => {
      clock.ms += FLIGHT_MS * LAST_START_SHARE
    },
  )
  expect(await drainClient(worker, 'acme', 'fast')).toMatchObject({ kind: 'later', lane: 'fast' })
  expect(seqs()).toEqual([])
  expect(await redis.exists(flightKey('acme'))).toBe(0)
  await drainClient(parts, 'acme', 'fast')
  expect(seqs()).toEqual([1, 2])
})

test('a signal that two workers sent is delivered if one request was acknowledged, whichever result is written first', async () => {
  for (const outcomes of [
    [failed(), delivered()],
    [delivered(), failed()],
  ] as const) {
    await redis.flushall()
    await addSubscriber(redis, 'acme', 'http://127.0.0.1:9999/acme')
    const { parts, seqs } = await owed(1, async () => {
      if (seqs().length > 1) return outcomes[0]
      await expire() // the first worker stands still in its request
      await drainClient(parts, 'acme', 'slow')
      return outcomes[1]
    })
    await drainClient(parts, 'acme', 'slow')
    expect(seqs()).toEqual([1, 1])
    expect((await readDelivery(redis, 1, 'acme'))?.status).toBe('delivered')
    expect(await owedCount(redis, 'acme')).toBe(0)
    expect((await readAttempts(redis, 1, 'acme')).map(({ ok }) => ok).sort()).toEqual([false, true])
  }
})

test('a client whose lease was granted in a lost reply is taken again by the same worker, and by no other', async () => {
  await owed(1, () => delivered())
  const mine = { client: 'acme', token: 'me', flightMs: FLIGHT_MS }
  await take(redis, mine, NOW_MS) // the reply is lost
  expect(await take(redis, mine, NOW_MS)).toMatchObject({ kind: 'send', seq: 1 })
  expect(await take(redis, { ...mine, token: 'other' }, NOW_MS)).toEqual({ kind: 'busy' })
})
