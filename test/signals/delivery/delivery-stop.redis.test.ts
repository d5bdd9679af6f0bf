// A stop while Redis is away: it ends, whatever is under way, and what was not acknowledged is owed as before.
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readOutbox } from '#signals/delivery/outbox.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import {
  addSubscriber,
  type Receiver,
  startReceiver,
  startTestDelivery,
  until,
} from '../../support/signals/delivery.ts'
import { fire } from '../../support/signals/signals.ts'

let server: TestRedis
let redis: Redis
let receiver: Receiver

beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
  receiver = await startReceiver(() => {})
})
afterAll(async () => {
  await receiver.close()
  await server.stop()
})

test('a request that nobody answers, and a Redis that is away, hold up no stop; the signal is owed as before', async () => {
  await addSubscriber(redis, 'acme', receiver.urlOf('acme'))
  // A result would be waited for longer than a test may last.
  const delivery = await startTestDelivery(server.url, {
    pace: { flightMs: 600_000, pollEveryMs: 600_000 },
  })
  const seq = await fire(redis, 'a', 'alder')
  await until(() => receiver.of('acme').length === 1)
  await server.kill()
  await delivery.stop()
  await server.restart()
  const isUp = () =>
    redis.ping().then(
      reply => reply === 'PONG',
      () => false,
    )
  await until(isUp)
  expect((await readOutbox(redis, seq)).get('acme')).toMatchObject({ status: 'owed', attempts: 0 })
})
