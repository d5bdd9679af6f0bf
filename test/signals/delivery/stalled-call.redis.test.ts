// A call of the queue whose workers die one after another: BullMQ would fail it for good, and the ledger must decide.
import { Worker } from 'bullmq'
import { expect, test } from 'vitest'
import { createDeliveryQueue } from '#signals/delivery/delivery-queue.ts'
import { startWorkers } from '#signals/delivery/workers.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { QUEUE_PREFIX } from '#signals/redis/keys.ts'
import { startTestRedis } from '../../support/servers/redis.ts'
import { addSubscriber, delivered, madeWorld, relayAll, until } from '../../support/signals/delivery.ts'
import { fire } from '../../support/signals/signals.ts'

test('a call whose workers died twice is begun a third time, without the reconciler', async () => {
  const server = await startTestRedis()
  const redis = await server.connect()
  const blocking = connectRedis(server.url, () => {}, { maxRetriesPerRequest: null })
  await blocking.connect()
  const { parts, clock, seqs, errors } = madeWorld(redis, () => delivered())
  await addSubscriber(redis, 'ash', 'https://hooks.example.org/ash')
  await fire(redis, 'a1', 'alder')
  const queue = createDeliveryQueue(redis)
  const calls = await relayAll(redis, () => clock.ms)
  await queue.wake(
    'fast',
    calls.map(call => ({ ...call, generation: '1' })),
  )

  // Begins calls and never ends them, as a process that is killed; its look for stalled ones is that of another process.
  const times = { lockDuration: 50, stalledInterval: 20, maxStalledCount: 1_000 }
  const worker = new Worker('fast', null, {
    connection: blocking,
    prefix: QUEUE_PREFIX,
    autorun: false,
    ...times,
  })
  expect(await worker.getNextJob('killed 1', { block: false })).toMatchObject({ stalledCounter: 0 })
  await worker.startStalledCheckTimer()
  await until(async () => (await queue.counts()).fast === 1)
  expect(await worker.getNextJob('killed 2', { block: false })).toMatchObject({ stalledCounter: 1 })
  await worker.close(true)

  const workers = startWorkers({ ...parts, flightMs: 400 }, queue, blocking, error => errors.push(error))
  await until(() => seqs().length > 0 || errors.length > 0)
  expect([seqs(), errors]).toEqual([[1], []])
  await workers.close()
  await queue.close()
  blocking.disconnect()
  await server.stop()
})
