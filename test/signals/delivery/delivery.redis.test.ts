// Delivering as a whole: a real Redis, real receivers on loopback. What decides is what arrived.
import type { ServerResponse } from 'node:http'
import type { Redis } from 'ioredis'
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { suspendClient } from '#signals/clients/clients.ts'
import { type DeliveryOptions, STOP_GRACE_MS } from '#signals/delivery/delivery-service.ts'
import { owedCount, readDelivery, readOutbox } from '#signals/delivery/outbox.ts'
import { ATTEMPT_TIMEOUT_MS } from '#signals/delivery/policy.ts'
import { disableWebhook } from '#signals/delivery/webhooks.ts'
import { flightKey, RELAY_LEASE } from '#signals/redis/keys.ts'
import { atEnd } from '../../support/ends.ts'
import { ownRedis, type SharedRedis, sharedRedis } from '../../support/servers/use-redis.ts'
import {
  addSubscriber,
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
