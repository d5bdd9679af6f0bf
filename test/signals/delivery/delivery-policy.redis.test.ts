// The policy of deliveries through the whole service: the real queue brings every retry and every probe. The tables of
// waits are short; what decides is which requests came, and what the ledger says of them.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { type Attempt, readAttempts, readDelivery } from '#signals/delivery/outbox.ts'
import type { Waits } from '#signals/delivery/policy.ts'
import { readWebhook } from '#signals/delivery/webhooks.ts'
import { RELAY_CURSOR } from '#signals/redis/keys.ts'
import { atEnd } from '../../support/ends.ts'
import { type SharedRedis, useTestRedis } from '../../support/servers/use-redis.ts'
import {
  addSubscriber,
  BOX,
  startTestDelivery,
  type TestDelivery,
  until,
} from '../../support/signals/delivery.ts'
import { type Receiver, startReceiver } from '../../support/signals/receiver.ts'
import { fire } from '../../support/signals/signals.ts'

const PROBES_MS = [20, 20]

/** Fewer attempts than open a breaker, and more. */
const FEW = { retryMs: Array(3).fill(10), probeMs: PROBES_MS }
const MANY = { retryMs: Array(9).fill(10), probeMs: PROBES_MS }

let server: SharedRedis
let redis: Redis
useTestRedis((connected, started) => {
  redis = connected
  server = started
})

/** What each client answers now. */
const statuses = new Map<string, number>()

let receiver: Receiver
let delivery: TestDelivery

/** Delivers to a client that is entitled to an alias of its own, and answers so. */
async function deliver(client: string, status: number, waits: Waits): Promise<void> {
  receiver = await startReceiver((asked, response) => {
    response.statusCode = statuses.get(asked.client) ?? 200
    response.end()
  })
  statuses.set(client, status)
  await addSubscriber(redis, client, receiver.urlOf(client), [client])
  delivery = await startTestDelivery(server.url, { waits })
  atEnd(delivery.stop)
}

const statusOf = async (seq: number, client: string) => (await readDelivery(redis, seq, client))?.status
const breakerOf = async (client: string) => (await readWebhook(redis, BOX, client))?.condition.breaker.kind
const numbersOf = (attempts: readonly Attempt[]) => attempts.map(({ n }) => n).filter(n => n !== null)
const eventsOf = (kind: string, client: string) =>
  delivery.events.filter(event => event.kind === kind && 'client' in event && event.client === client)

test('an open breaker is probed with the newest signal at no attempt’s cost, and closes with all of them in order', async () => {
  await deliver('alder', 503, MANY)
  const first = await fire(redis, 'a1', 'alder')
  await until(async () => (await breakerOf('alder')) === 'open')
  const second = await fire(redis, 'a2', 'alder')
  await until(() => receiver.of('alder').includes(second)) // a probe, which failed
  statuses.set('alder', 200)
  await until(async () => (await statusOf(first, 'alder')) === 'delivered')
  expect(receiver.of('alder').slice(0, 5)).toEqual(Array(5).fill(first))
  expect(receiver.of('alder').slice(-2)).toEqual([second, first])
  expect(numbersOf(await readAttempts(redis, first, 'alder'))).toEqual([1, 2, 3, 4, 5, 6])
  expect(numbersOf(await readAttempts(redis, second, 'alder'))).toEqual([1])
  expect(await breakerOf('alder')).toBe('closed')
})

test('a signal that fails through the whole table is exhausted and reported once, and the next one is sent all the same', async () => {
  await deliver('birch', 500, FEW)
  const first = await fire(redis, 'b1', 'birch')
  await until(async () => (await statusOf(first, 'birch')) === 'exhausted')
  statuses.set('birch', 200)
  const second = await fire(redis, 'b2', 'birch')
  await until(async () => (await statusOf(second, 'birch')) === 'delivered')
  expect(await statusOf(first, 'birch')).toBe('exhausted')
  expect(numbersOf(await readAttempts(redis, first, 'birch'))).toEqual([1, 2, 3, 4])
  expect(eventsOf('exhausted', 'birch')).toEqual([{ kind: 'exhausted', client: 'birch', seq: first }])
})

test('a receiver that answers 410 Gone twice is disabled: it is reported once, what waits is withdrawn, and nothing else is sent', async () => {
  await deliver('cedar', 410, FEW)
  const first = await fire(redis, 'c1', 'cedar')
  await until(async () => (await statusOf(first, 'cedar')) === 'withdrawn')
  expect((await readWebhook(redis, BOX, 'cedar'))?.enabled).toBe(false)
  const second = await fire(redis, 'c2', 'cedar')
  await until(async () => (await redis.get(RELAY_CURSOR)) === String(second))
  expect(await readDelivery(redis, second, 'cedar')).toBeNull()
  expect(receiver.of('cedar')).toEqual([first, first])
  expect(eventsOf('disabled', 'cedar')).toHaveLength(1)
})
