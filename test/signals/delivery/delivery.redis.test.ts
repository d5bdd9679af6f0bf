// Delivering as a whole: a real Redis, real receivers on loopback. What decides is what arrived, and what the ledger says of it.
import type { ServerResponse } from 'node:http'
import type { Redis } from 'ioredis'
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { type DeliveryOptions, STOP_GRACE_MS } from '#signals/delivery/delivery-service.ts'
import { readOutbox } from '#signals/outbox/outbox.ts'
import { createSteadyClock } from '#signals/redis/clock.ts'
import { CLOCK, FLIGHT_PREFIX, RELAY_LEASE, waitingKey } from '#signals/redis/keys.ts'
import { atEnd } from '../../support/ends.ts'
import { ownRedis, type SharedRedis, sharedRedis } from '../../support/servers/use-redis.ts'
import {
  addSubscriber,
  REAL_CLOCK,
  readDelivery,
  startTestDelivery,
  startTimer,
  type TestDelivery,
  until,
} from '../../support/signals/delivery.ts'
import { acknowledge, type Receiver, startReceiver } from '../../support/signals/receiver.ts'
import { fire } from '../../support/signals/signals.ts'

/** A client that another process left due is found soon; a request may take as long as it likes. */
const PATIENT = { flightMs: 600_000, pollEveryMs: 50 }

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
  const stop = (): Promise<void> => (stopping ??= delivery.stop())
  atEnd(stop)
  return { ...delivery, stop }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

const clientsOf = (count: number): string[] => upTo(count).map(i => `client-${i}`)

const subscribe = async (receiver: Receiver, clients: readonly string[]): Promise<void> => {
  for (const client of clients) await addSubscriber(redis, client, receiver.urlOf(client))
}

const fireMany = async (count: number): Promise<void> => {
  for (const i of upTo(count)) await fire(redis, `s-${i}`, 'alder')
}

const isDelivered = async (client: string, seq: number): Promise<boolean> =>
  (await readDelivery(redis, seq, client))?.status === 'delivered'

const allDelivered = async (clients: readonly string[], seqs: number): Promise<boolean> => {
  const outboxes = await Promise.all(upTo(seqs).map(seq => readOutbox(redis, seq)))
  return outboxes.every(outbox => clients.every(client => outbox.get(client)?.status === 'delivered'))
}

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
  for (const { headers, body } of receiver.received.filter(({ client }) => client === 'acme')) {
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    expect(() => new Webhook(secret).verify(body, plain)).not.toThrow()
  }
  expect(errors).toEqual([])
})

test('delivery looks for notices and for stuck workers every five seconds, and at its clock every second', async () => {
  const waits: number[] = []
  // They are not started: on a busy machine one would be over, and be set again, before it is looked at.
  const noted: typeof startTimer = (ms, run) => {
    if (ms < 1_000) return startTimer(ms, run)
    waits.push(ms)
    return () => {}
  }
  await deliver({ clock: { ...REAL_CLOCK, startTimer: noted } })
  expect(waits).toEqual([5_000, 5_000, 1_000])
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
  const delivery = await deliver({ clock: { ...REAL_CLOCK, startTimer: heldBack } })
  await fireMany(10)
  await until(() => held.length === 1 && receiver.received.length > 30)
  const stopped = delivery.stop()
  await until(async () => (await redis.keys(`${FLIGHT_PREFIX}*`)).length === 1) // all have ended but the one that hangs
  for (const run of graces) run()
  await stopped
  expect(await redis.exists(RELAY_LEASE)).toBe(0)
  expect(await redis.keys(`${FLIGHT_PREFIX}*`)).toEqual([])
  expect(await readDelivery(redis, 1, 'hangs')).toMatchObject({ status: 'owed', attempts: 0 })

  await deliver()
  for (const response of held) response.end()
  await until(() => allDelivered(clients.slice(0, 30), 10))
  for (const client of clients.slice(0, 30)) expect(receiver.of(client)).toEqual(upTo(10))
})

test('deliveries go by a time that Redis confirms: a retry does not wait for a day, and no signature is of tomorrow', async () => {
  let [offMs, fastMs] = [86_400_000, 0]
  const receiver = await startReceiver((_, response) => {
    fastMs = 86_400_000 // the retry is scheduled a day too late
    response.writeHead(receiver.received.length === 1 ? 500 : 200).end()
  })
  await subscribe(receiver, ['acme'])
  const clock = { ...REAL_CLOCK, now: () => Date.now() + offMs, startTimer }
  const steady = createSteadyClock({ now: clock.now, elapsed: () => performance.now() + fastMs })
  const { events } = await deliver({ clock, steady })
  const hasJumped = (by: number) => events.some(event => event.kind === 'clock' && event.jumpMs / by > 1)
  await fireMany(1)
  await until(async () => (await redis.zadd(waitingKey('acme'), 'XX', 'CH', steady.now() + 2_000, '1')) > 0)
  offMs = 0
  await until(() => receiver.received.length === 2 && hasJumped(-80_000_000))
  offMs = 86_400_000
  await until(() => hasJumped(80_000_000))
  await fire(redis, 's-2', 'alder')
  await until(() => receiver.received.length === 3)
  // The retry may be due by the fast clock before it is looked at.
  for (const request of [receiver.received[0], receiver.received[2]])
    expect(Math.abs(Number(request?.headers['webhook-timestamp']) * 1_000 - Date.now())).toBeLessThan(60_000)
})

test('a retry does not wait for a day if the clock was a day ahead before a restart', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end())
  await subscribe(receiver, ['acme'])
  const before = await deliver()
  await fireMany(1)
  await until(async () => (await redis.zcard(waitingKey('acme'))) === 1)
  await before.stop()
  await redis.zincrby(waitingKey('acme'), 86_400_000, '1')
  await redis.set(CLOCK, Date.now() + 86_400_000)
  const { events } = await deliver()
  await until(() => receiver.received.length > 1 && events.some(({ kind }) => kind === 'clock'))
})

test('a clock that goes too fast is not followed in steps below the tolerance either', async () => {
  let offMs = 0
  const quickly = (ms: number, run: () => void) => {
    if (ms === 1_000) offMs += 1_900
    return startTimer(ms === 1_000 ? 10 : ms, run)
  }
  const receiver = await startReceiver((_, response) => void response.writeHead(200).end())
  await subscribe(receiver, ['acme'])
  await deliver({ clock: { ...REAL_CLOCK, now: () => Date.now() + offMs, startTimer: quickly } })
  await until(() => offMs > 150_000)
  await fireMany(1)
  await until(() => receiver.received.length === 1)
  const signedAtMs = Number(receiver.received[0]?.headers['webhook-timestamp']) * 1_000
  expect(Math.abs(signedAtMs - Date.now())).toBeLessThan(60_000)
})

test('a request that nobody answers, and a Redis that is away, delay no stop; the signal is owed as before', async () => {
  const own = await use(await ownRedis())
  const receiver = await startReceiver(() => {})
  await subscribe(receiver, ['acme'])
  let isStopping = false // then it waits no longer for requests in flight, nor for Redis
  const atOnce = (ms: number, run: () => void) => startTimer(isStopping && ms >= STOP_GRACE_MS ? 0 : ms, run)
  const delivery = await deliver({ clock: { ...REAL_CLOCK, startTimer: atOnce } })
  await fireMany(1)
  await until(() => receiver.received.length === 1)
  await own.kill()
  isStopping = true
  await delivery.stop()
  await own.restart()
  redis = await own.connect()
  expect((await readOutbox(redis, 1)).get('acme')).toMatchObject({ status: 'owed', attempts: 0 })
})
