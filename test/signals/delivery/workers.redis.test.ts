// The workers of one process: how many clients they have at a time, what they take over from workers that died, and what they
// do if they lose a client, because Redis or the process stood still and another worker may have it. Time is the test's.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import type { SendOrder } from '#signals/delivery/delivery-parts.ts'
import { dueCounts, owedCount, readAttempts, readDelivery } from '#signals/delivery/outbox.ts'
import type { Outcome } from '#signals/delivery/outcome.ts'
import { ATTEMPT_TIMEOUT_MS, SLOT_GIVEN_BACK_AFTER_MS } from '#signals/delivery/policy.ts'
import { FLIGHT_MS, take } from '#signals/delivery/work.ts'
import { drainClient, LAST_START_SHARE } from '#signals/delivery/worker.ts'
import { startWorkers } from '#signals/delivery/workers.ts'
import { flightKey } from '#signals/redis/keys.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import {
  addSubscriber,
  delivered,
  failed,
  madeWorld,
  relayAll,
  startTimer,
  until,
} from '../../support/signals/delivery.ts'
import { beforeScripts, fire, NOW_MS } from '../../support/signals/signals.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

const POLL_EVERY_MS = 5

const subscribe = (client: string) => addSubscriber(redis, client, `https://hooks.example.org/${client}`)

test('a client whose workers died twice is delivered to by a third when their leases have ended', async () => {
  const { parts, clock, seqs, errors } = await owed(1, () => delivered())
  for (const token of ['killed-1', 'killed-2']) {
    expect(await take(redis, { client: 'acme', token, flightMs: 400 }, clock.ms)).toMatchObject({ seq: 1 })
    await expire()
    clock.ms += 400
  }
  const workers = startWorkers(parts, startTimer, error => errors.push(error), POLL_EVERY_MS)
  await until(() => seqs().length > 0 || errors.length > 0)
  await workers.close()
  expect([seqs(), errors]).toEqual([[1], []])
})

test('a client that another worker has is left to it, and is not due until its lease ends', async () => {
  const { parts, clock, seqs, errors } = await owed(1, () => delivered())
  await take(redis, { client: 'acme', token: 'other', flightMs: 60_000 }, clock.ms)
  const workers = startWorkers(parts, startTimer, error => errors.push(error), POLL_EVERY_MS)
  workers.begin('fast', ['acme'])
  await workers.close()
  expect([seqs(), errors]).toEqual([[], []])
  expect(await dueCounts(redis, clock.ms + 30_000)).toEqual({ fast: 0, slow: 0 })
})

test('receivers that hang, more of them than there is room for, do not delay the others', async () => {
  const clients = Array.from({ length: 320 }, (_, i) => `client-${i}`)
  for (const client of clients) await subscribe(client)
  const isHanging = (url: string): boolean => Number(url.split('-').at(-1)) < 300
  const hanging: ((outcome: Outcome) => void)[] = []
  const { parts, clock, sent, errors } = madeWorld(redis, ({ url }) =>
    isHanging(url) ? new Promise(resolve => hanging.push(resolve)) : delivered(),
  )
  await fire(redis, 'a1', 'alder')
  await relayAll(redis, parts.now)
  const workers = startWorkers(parts, startTimer, error => errors.push(error), POLL_EVERY_MS)
  workers.begin('fast', clients)
  await until(() => hanging.length === 256)
  clock.ms += SLOT_GIVEN_BACK_AFTER_MS
  await until(() => sent.length === 320)
  for (const answer of hanging) answer(delivered())
  await workers.close()
  expect(await Promise.all(clients.map(client => owedCount(redis, client)))).toEqual(Array(320).fill(0))
  expect(errors).toEqual([])
})

test('workers deliver to at most 256 clients at a time, and to the others as soon as there is room', async () => {
  const clients = Array.from({ length: 300 }, (_, i) => `client-${i}`)
  for (const client of clients) await subscribe(client)
  const answers: ((outcome: Outcome) => void)[] = []
  const { parts, sent, errors } = madeWorld(redis, () => new Promise(resolve => answers.push(resolve)))
  await fire(redis, 'a1', 'alder')
  await relayAll(redis, parts.now)
  const workers = startWorkers(parts, startTimer, error => errors.push(error), POLL_EVERY_MS)
  await until(() => sent.length === 256)
  expect(await dueCounts(redis, parts.now())).toEqual({ fast: 44, slow: 0 })
  for (const answer of answers.splice(0)) answer(delivered())
  await until(() => sent.length === 300)
  for (const answer of answers) answer(delivered())
  await workers.close()
  expect(await Promise.all(clients.map(client => owedCount(redis, client)))).toEqual(Array(300).fill(0))
  expect(errors).toEqual([])
})

/** So many signals are owed to a client; the worker under test reaches Redis after `before`. */
async function owed(
  count: number,
  answer: (order: SendOrder) => Outcome | Promise<Outcome>,
  before: () => Promise<void> = async () => {},
) {
  const world = madeWorld(redis, answer)
  await subscribe('acme')
  for (let i = 0; i < count; i++) await fire(redis, `s${i}`, 'alder')
  await relayAll(redis, world.parts.now)
  const sleep = async (ms: number): Promise<void> => {
    world.clock.ms += ms
  }
  return { ...world, worker: { ...world.parts, redis: beforeScripts(redis, before), sleep } }
}

/** Ends the lease of a client as its expiry does. */
const expire = () => redis.del(flightKey('acme'))

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
