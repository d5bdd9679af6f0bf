// Delivering as a whole: a real Redis, real receivers on loopback. What decides is what arrived.
import type { ServerResponse } from 'node:http'
import type { Redis } from 'ioredis'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suspendClient } from '#signals/clients/clients.ts'
import { type DeliveryOptions, STOP_GRACE_MS } from '#signals/delivery/delivery-service.ts'
import { owedCount, readDelivery, readOutbox } from '#signals/delivery/outbox.ts'
import { ATTEMPT_TIMEOUT_MS } from '#signals/delivery/policy.ts'
import { disableWebhook } from '#signals/delivery/webhooks.ts'
import { flightKey, RELAY_LEASE } from '#signals/redis/keys.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import {
  acknowledge,
  addSubscriber,
  type Receiver,
  type ReceiverAnswer,
  startReceiver,
  startTestDelivery,
  startTimer,
  type TestDelivery,
  until,
} from '../../support/signals/delivery.ts'
import { fire } from '../../support/signals/signals.ts'

/** A client that another process left due is found soon, and so is a worker that died. */
const QUICK = { flightMs: 1_000, pollEveryMs: 50 }

/** A request may take as long as it likes. */
const PATIENT = { ...QUICK, flightMs: 600_000 }

let server: TestRedis
let redis: Redis
let stops: (() => Promise<unknown>)[]

beforeEach(async () => {
  server = await startTestRedis()
  redis = await server.connect()
  stops = []
})
afterEach(async () => {
  for (const stop of stops.reverse()) await stop()
  await server.stop()
})

async function receive(answer?: ReceiverAnswer): Promise<Receiver> {
  const receiver = await startReceiver(answer)
  stops.push(receiver.close)
  return receiver
}

async function deliver(more: Partial<DeliveryOptions> = {}): Promise<TestDelivery> {
  const delivery = await startTestDelivery(server.url, { pace: QUICK, ...more })
  let stopping: Promise<void> | null = null
  const stop = (): Promise<void> => {
    stopping ??= delivery.stop()
    return stopping
  }
  stops.push(stop)
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
    const ledger = await readOutbox(redis, seq)
    if (clients.some(client => ledger.get(client)?.status !== 'delivered')) return false
  }
  return true
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

test('delivery brings every signal to every subscriber once, in order, signed, each with the number of the one before it', async () => {
  const receiver = await receive()
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
  const receiver = await receive((request, response) => {
    if (request.client.startsWith('dead')) hanging.push(response)
    else response.end()
  })
  const [healthy, dead] = [clientsOf(160, 'well'), clientsOf(40, 'dead')]
  await subscribe(receiver, [...dead, ...healthy])
  // Attempts have no deadline here: those that hang do so for ever.
  const endless = (ms: number, run: () => void) =>
    ms === ATTEMPT_TIMEOUT_MS ? () => {} : startTimer(ms, run)
  await deliver({ pace: PATIENT, clock: { now: () => Date.now(), startTimer: endless } })
  await fireMany(3)
  await until(() => allDelivered(healthy, 3))
  await until(() => hanging.length === dead.length)
  for (const client of dead) expect(receiver.of(client)).toEqual([1])
  for (const response of hanging) response.destroy()
})

test('delivery goes on without a loss when Redis is killed and comes back', async () => {
  const receiver = await receive()
  const clients = clientsOf(5)
  await subscribe(receiver, clients)
  const { errors } = await deliver()
  await fireMany(3)
  await until(() => allDelivered(clients, 3))
  await server.kill()
  await until(() => errors.length > 0)
  await server.restart()
  redis = await server.connect()
  await fireMany(3, 'after')
  await until(() => allDelivered(clients, 6))
  for (const client of clients) expect([...new Set(receiver.of(client))]).toEqual(upTo(6))
})

test('delivery sends nothing twice if Redis is killed while requests are in flight', async () => {
  let answer = (): void => {}
  const receiver = await receive((_, response) => {
    answer = () => void response.end()
  })
  await subscribe(receiver, ['acme'])
  await deliver({ pace: PATIENT })
  await fireMany(1)
  await until(() => receiver.received.length === 1)
  await server.kill()
  answer()
  await server.restart()
  redis = await server.connect()
  await until(() => isDelivered('acme', 1))
  expect(receiver.of('acme')).toEqual([1])
})

test('delivery gives nothing to a client that is suspended, or whose webhook is disabled, while its signals wait', async () => {
  const held: ServerResponse[] = []
  const receiver = await receive((_, response) => void held.push(response))
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
  const receiver = await receive((request, response) => {
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
  const delivery = await deliver({ pace: PATIENT, clock: { now: () => Date.now(), startTimer: heldBack } })
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

test('the start of a delivery that cannot reach Redis rejects', async () => {
  await expect(startTestDelivery('redis://127.0.0.1:1')).rejects.toThrow()
})
