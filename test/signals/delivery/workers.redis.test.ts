// The workers of one process: how many clients they have at a time, and what they take over from workers that died.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { dueCounts, owedCount } from '#signals/delivery/outbox.ts'
import type { Outcome } from '#signals/delivery/outcome.ts'
import { SLOT_GIVEN_BACK_AFTER_MS } from '#signals/delivery/policy.ts'
import { take } from '#signals/delivery/work.ts'
import { startWorkers } from '#signals/delivery/workers.ts'
import { flightKey } from '#signals/redis/keys.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import {
  addSubscriber,
  delivered,
  madeWorld,
  relayAll,
  startTimer,
  until,
} from '../../support/signals/delivery.ts'
import { fire } from '../../support/signals/signals.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

const POLL_EVERY_MS = 5

const subscribe = (client: string) => addSubscriber(redis, client, `https://hooks.example.org/${client}`)

test('a client whose workers died twice is delivered to by a third when their leases have ended', async () => {
  const { parts, clock, seqs, errors } = madeWorld(redis, () => delivered())
  await subscribe('ash')
  await fire(redis, 'a1', 'alder')
  await relayAll(redis, parts.now)
  for (const token of ['killed-1', 'killed-2']) {
    expect(await take(redis, { client: 'ash', token, flightMs: 400 }, clock.ms)).toMatchObject({ seq: 1 })
    await redis.del(flightKey('ash')) // as its expiry does
    clock.ms += 400
  }
  const workers = startWorkers(parts, startTimer, error => errors.push(error), POLL_EVERY_MS)
  await until(() => seqs().length > 0 || errors.length > 0)
  await workers.close()
  expect([seqs(), errors]).toEqual([[1], []])
})

test('a client that another worker has is left to it, and is not due until its lease ends', async () => {
  const { parts, clock, seqs, errors } = madeWorld(redis, () => delivered())
  await subscribe('ash')
  await fire(redis, 'a1', 'alder')
  await relayAll(redis, parts.now)
  await take(redis, { client: 'ash', token: 'other', flightMs: 60_000 }, clock.ms)
  const workers = startWorkers(parts, startTimer, error => errors.push(error), POLL_EVERY_MS)
  workers.begin('fast', ['ash'])
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
