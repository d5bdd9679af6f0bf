// Delivering as a whole: a real Redis, real receivers on loopback. What decides is what arrived, and what the ledger says of it. The
// real queue brings every retry and every probe, by short tables of waits.
import type { ServerResponse } from 'node:http'
import type { Redis } from 'ioredis'
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { suspendClient } from '#signals/clients/clients.ts'
import { type DeliveryOptions, STOP_GRACE_MS } from '#signals/delivery/delivery-service.ts'
import { type Attempt, owedCount, readAttempts, readDelivery, readOutbox } from '#signals/delivery/outbox.ts'
import { ATTEMPT_TIMEOUT_MS, type Waits } from '#signals/delivery/policy.ts'
import { disableWebhook, readWebhook } from '#signals/delivery/webhooks.ts'
import { flightKey, RELAY_CURSOR, RELAY_LEASE } from '#signals/redis/keys.ts'
import { atEnd } from '../../support/ends.ts'
import { ownRedis, type SharedRedis, sharedRedis } from '../../support/servers/use-redis.ts'
import {
  addSubscriber,
  BOX,
  startTestDelivery,
  startTimer,
  type TestDelivery,
  until,
} from '../../support/signals/delivery.ts'
import { acknowledge, type Receiver, startReceiver } from '../../support/signals/receiver.ts'
import { fire } from '../../support/signals/signals.ts'

/** A client that another process left due is found soon; a request may take as long as it likes. */
const PATIENT = { flightMs: 600_000, pollEveryMs: 50 }

/** A worker that died is found soon too. */
const QUICK = { ...PATIENT, flightMs: 1_000 }

let server: SharedRedis
let redis: Redis

async function use<Server extends SharedRedis>(started: Server): Promise<Server> {
  server = started
  redis = await server.connect()
  return started
}

beforeEach(async () => {
  await use(await sharedRedis())
  await redis.flushall()
})

async function deliver(more: Partial<DeliveryOptions> = {}): Promise<TestDelivery> {
  const delivery = await startTestDelivery(server.url, { pace: PATIENT, ...more })
  let stopping: Promise<void> | null = null
  const stop = (): Promise<void> => {
    stopping ??= delivery.stop()
    return stopping
  }
  atEnd(stop)
  return { ...delivery, stop }
}

const clientsOf = (count: number, name = 'client'): string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`)

const subscribe = async (receiver: Receiver, clients: readonly string[]): Promise<void> => {
  for (const client of clients) await addSubscriber(redis, client, receiver.urlOf(client))
}

const fireMany = async (count: number, name = 's'): Promise<void> => {
  for (let i = 0; i < count; i++) await fire(redis, `${name}-${i}`, 'alder')
}

const isDelivered = async (client: string, seq: number): Promise<boolean> =>
  (await readDelivery(redis, seq, client))?.status === 'delivered'

const allDelivered = async (clients: readonly string[], seqs: number): Promise<boolean> => {
  for (let seq = 1; seq <= seqs; seq++) {
    const outbox = await readOutbox(redis, seq)
    if (clients.some(client => outbox.get(client)?.status !== 'delivered')) return false
  }
  return true
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

test('delivery brings every signal to every subscriber once, in order, signed, each with the number of the one before it', async () => {
  const receiver = await startReceiver()
  const secret = await addSubscriber(redis, 'acme', receiver.urlOf('acme'))
  const clients = ['acme', ...clientsOf(9)]
  await subscribe(receiver, clients.slice(1))
  const { errors } = await deliver()
  await fireMany(20)
  await until(() => allDelivered(clients, 20))
  for (const client of clients) expect(receiver.of(client)).toEqual(upTo(20))
  for (const { seq, prevSeq } of receiver.received) expect(prevSeq).toBe(seq - 1)
  for (const { headers, body, client } of receiver.received) {
    if (client !== 'acme') continue
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    expect(() => new Webhook(secret).verify(body, plain)).not.toThrow()
  }
  expect(errors).toEqual([])
})

test('delivery is not delayed by the fifth of 200 receivers that hangs', async () => {
  const hanging: ServerResponse[] = []
  const receiver = await startReceiver((request, response) => {
    if (request.client.startsWith('dead')) hanging.push(response)
    else response.end()
  })
  const [healthy, dead] = [clientsOf(160, 'well'), clientsOf(40, 'dead')]
  await subscribe(receiver, [...dead, ...healthy])
  // Attempts have no deadline here: those that hang do so for ever.
  const endless = (ms: number, run: () => void) =>
    ms === ATTEMPT_TIMEOUT_MS ? () => {} : startTimer(ms, run)
  await deliver({ clock: { now: () => Date.now(), startTimer: endless } })
  await fireMany(3)
  await until(() => allDelivered(healthy, 3))
  await until(() => hanging.length === dead.length)
  for (const client of dead) expect(receiver.of(client)).toEqual([1])
  for (const response of hanging) response.destroy()
})

test('delivery goes on without a loss when Redis is killed and comes back', async () => {
  const own = await use(await ownRedis())
  const receiver = await startReceiver()
  const clients = clientsOf(5)
  await subscribe(receiver, clients)
  const { errors } = await deliver({ pace: QUICK })
  await fireMany(3)
  await until(() => allDelivered(clients, 3))
  await own.kill()
  await until(() => errors.length > 0)
  await own.restart()
  redis = await server.connect()
  await fireMany(3, 'after')
  await until(() => allDelivered(clients, 6))
  for (const client of clients) expect([...new Set(receiver.of(client))]).toEqual(upTo(6))
})

test('delivery sends nothing twice if Redis is killed while requests are in flight', async () => {
  const own = await use(await ownRedis())
  let answer = (): void => {}
  const receiver = await startReceiver((_, response) => {
    answer = () => void response.end()
  })
  await subscribe(receiver, ['acme'])
  await deliver()
  await fireMany(1)
  await until(() => receiver.received.length === 1)
  await own.kill()
  answer()
  await own.restart()
  redis = await server.connect()
  await until(() => isDelivered('acme', 1))
  expect(receiver.of('acme')).toEqual([1])
})

test('delivery gives nothing to a client that is suspended, or whose webhook is disabled, while its signals wait', async () => {
  const held: ServerResponse[] = []
  const receiver = await startReceiver((_, response) => void held.push(response))
  const clients = ['gone', 'off']
  await subscribe(receiver, clients)
  await deliver()
  await fireMany(3)
  await until(async () => held.length === 2 && (await owedCount(redis, 'gone')) === 3)
  await until(async () => (await owedCount(redis, 'off')) === 3) // one is under way, two wait
  await suspendClient(redis, 'gone')
  await disableWebhook(redis, 'off', 'a test')
  for (const response of held) response.end()
  await until(async () => (await owedCount(redis, 'gone')) + (await owedCount(redis, 'off')) === 0)
  for (const client of clients) {
    expect(receiver.of(client)).toEqual([1])
    expect(await readDelivery(redis, 3, client)).toMatchObject({ status: 'withdrawn' })
  }
})

test('a stop under load ends what is in flight, gives back what was taken, and leaves the rest owed', async () => {
  const held: ServerResponse[] = []
  const receiver = await startReceiver((request, response) => {
    if (request.client === 'hangs') held.push(response)
    else acknowledge(request, response)
  })
  const clients = [...clientsOf(30), 'hangs']
  await subscribe(receiver, clients)
  const graces: (() => void)[] = []
  const heldBack = (ms: number, run: () => void) => {
    // The grace of a stop ends when the test says so; everything else ticks.
    if (ms !== STOP_GRACE_MS) return startTimer(ms, run)
    graces.push(run)
    return () => {}
  }
  const delivery = await deliver({ clock: { now: () => Date.now(), startTimer: heldBack } })
  await fireMany(10)
  await until(() => held.length === 1 && receiver.received.length > 30)
  const stopped = delivery.stop()
  await until(async () => (await redis.keys(flightKey('*'))).length === 1) // all have ended but the one that hangs
  for (const run of graces) run()
  await stopped
  expect(await redis.exists(RELAY_LEASE)).toBe(0)
  expect(await redis.keys(flightKey('*'))).toEqual([])
  expect(await readDelivery(redis, 1, 'hangs')).toMatchObject({ status: 'owed', attempts: 0 })

  await deliver()
  for (const response of held) response.end()
  await until(() => allDelivered(clients.slice(0, 30), 10))
  for (const client of clients.slice(0, 30)) expect(receiver.of(client)).toEqual(upTo(10))
})

test('a request that nobody answers, and a Redis that is away, delay no stop; the signal is owed as before', async () => {
  const own = await use(await ownRedis())
  const receiver = await startReceiver(() => {})
  await subscribe(receiver, ['acme'])
  let isStopping = false // then it waits no longer for requests in flight, nor for Redis
  const atOnce = (ms: number, run: () => void) => startTimer(isStopping && ms >= STOP_GRACE_MS ? 0 : ms, run)
  const delivery = await deliver({ clock: { now: () => Date.now(), startTimer: atOnce } })
  await fireMany(1)
  await until(() => receiver.received.length === 1)
  await own.kill()
  isStopping = true
  await delivery.stop()
  await own.restart()
  redis = await own.connect()
  expect((await readOutbox(redis, 1)).get('acme')).toMatchObject({ status: 'owed', attempts: 0 })
})

test('the start of a delivery that cannot reach Redis rejects', async () => {
  await expect(startTestDelivery('redis://127.0.0.1:1')).rejects.toThrow()
})

const PROBES_MS = [20, 20]

/** Fewer attempts than open a breaker, and more. */
const FEW = { retryMs: Array(3).fill(10), probeMs: PROBES_MS }
const MANY = { retryMs: Array(9).fill(10), probeMs: PROBES_MS }

/** Delivers to a client that is entitled to an alias of its own, and answers so until something else is said. */
async function deliverTo(client: string, status: number, waits: Waits) {
  let answered = status
  const receiver = await startReceiver((_, response) => {
    response.statusCode = answered
    response.end()
  })
  await addSubscriber(redis, client, receiver.urlOf(client), [client])
  const { events } = await deliver({ waits })
  const answerWith = (other: number): void => {
    answered = other
  }
  const eventsOf = (kind: string) =>
    events.filter(event => event.kind === kind && 'client' in event && event.client === client)
  return { receiver, answerWith, eventsOf }
}

const statusOf = async (seq: number, client: string) => (await readDelivery(redis, seq, client))?.status
const breakerOf = async (client: string) => (await readWebhook(redis, BOX, client))?.condition.breaker.kind
const numbersOf = (attempts: readonly Attempt[]) => attempts.map(({ n }) => n).filter(n => n !== null)

test('an open breaker is probed with the newest signal at no attempt’s cost, and closes with all of them in order', async () => {
  const { receiver, answerWith } = await deliverTo('alder', 503, MANY)
  const first = await fire(redis, 'a1', 'alder')
  await until(async () => (await breakerOf('alder')) === 'open')
  const second = await fire(redis, 'a2', 'alder')
  await until(() => receiver.of('alder').includes(second)) // a probe, which failed
  answerWith(200)
  await until(async () => (await statusOf(first, 'alder')) === 'delivered')
  expect(receiver.of('alder').slice(0, 5)).toEqual(Array(5).fill(first))
  expect(receiver.of('alder').slice(-2)).toEqual([second, first])
  expect(numbersOf(await readAttempts(redis, first, 'alder'))).toEqual([1, 2, 3, 4, 5, 6])
  expect(numbersOf(await readAttempts(redis, second, 'alder'))).toEqual([1])
  expect(await breakerOf('alder')).toBe('closed')
})

test('a signal that fails through the whole table is exhausted and reported once, and the next one is sent all the same', async () => {
  const { answerWith, eventsOf } = await deliverTo('birch', 500, FEW)
  const first = await fire(redis, 'b1', 'birch')
  await until(async () => (await statusOf(first, 'birch')) === 'exhausted')
  answerWith(200)
  const second = await fire(redis, 'b2', 'birch')
  await until(async () => (await statusOf(second, 'birch')) === 'delivered')
  expect(await statusOf(first, 'birch')).toBe('exhausted')
  expect(numbersOf(await readAttempts(redis, first, 'birch'))).toEqual([1, 2, 3, 4])
  expect(eventsOf('exhausted')).toEqual([{ kind: 'exhausted', client: 'birch', seq: first }])
})

test('a receiver that answers 410 Gone twice is disabled: it is reported once, what waits is withdrawn, and nothing else is sent', async () => {
  const { receiver, eventsOf } = await deliverTo('cedar', 410, FEW)
  const first = await fire(redis, 'c1', 'cedar')
  await until(async () => (await statusOf(first, 'cedar')) === 'withdrawn')
  expect((await readWebhook(redis, BOX, 'cedar'))?.enabled).toBe(false)
  const second = await fire(redis, 'c2', 'cedar')
  await until(async () => (await redis.get(RELAY_CURSOR)) === String(second))
  expect(await readDelivery(redis, second, 'cedar')).toBeNull()
  expect(receiver.of('cedar')).toEqual([first, first])
  expect(eventsOf('disabled')).toHaveLength(1)
})
