// The outbox on a real Redis: what is owed is owed until it is settled, whichever process crashes in between.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import {
  type Attempt,
  owe,
  oweAgain,
  owedCount,
  readAttempts,
  readDelivery,
  readOutbox,
  readSchedule,
} from '#signals/delivery/outbox.ts'
import { type Due, type Settlement, settle, take } from '#signals/delivery/work.ts'
import { flightKey } from '#signals/redis/keys.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'

const NOW = 1_000_000

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

const ME = { client: 'acme', token: 'me', flightMs: 20_000 }
const OTHER = { ...ME, token: 'other' }

const debts = (seq: number, ...clients: readonly string[]) =>
  clients.map(client => ({ client, signals: [{ seq, prev: 0 }] }))

const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  at: NOW,
  n: 1,
  ok: true,
  status: 200,
  reason: null,
  first_byte_ms: 5,
  total_ms: 6,
  excerpt: '',
  ...more,
})

/** The clients of both lanes that are due at a time. */
async function dueAt(ms: number): Promise<readonly string[]> {
  const lanes = await Promise.all([readSchedule(redis, 'fast', 100), readSchedule(redis, 'slow', 100)])
  return lanes.flat().flatMap(({ client, atMs }) => (atMs <= ms ? [client] : []))
}

const done = ({ state }: Due): Settlement => ({
  state: { ...state, status: 'delivered', attempts: 1, settled_at: NOW },
  dueMs: null,
  attempt: attempt(),
  webhook: null,
})

const retried = ({ state }: Due, dueMs: number): Settlement => ({
  state: { ...state, attempts: 1 },
  dueMs,
  attempt: attempt({ ok: false }),
  webhook: null,
})

/** Takes a client that must be owed something. */
async function taken(): Promise<Due> {
  const found = await take(redis, ME, NOW)
  if (found.kind !== 'send') throw new Error(`expected a signal, got ${found.kind}`)
  return found
}

test('a signal is owed once, however often the relay passes it', async () => {
  expect(await owe(redis, debts(1, 'acme', 'bolt'), NOW)).toEqual(['acme', 'bolt'])
  await owe(redis, [{ client: 'acme', signals: [{ seq: 3, prev: 1 }] }], NOW)
  await owe(redis, debts(3, 'acme', 'bolt'), NOW + 5)
  expect(await owedCount(redis, 'acme')).toBe(2)
  expect(await readDelivery(redis, 3, 'acme')).toMatchObject({ status: 'owed', prev: 1, owed_at: NOW })
  expect(await readDelivery(redis, 1, 'acme')).toMatchObject({ prev: 0, attempts: 0, round: 1 })
  expect((await readOutbox(redis, 3)).size).toBe(2)
  expect(await readDelivery(redis, 2, 'acme')).toBeNull()
})

test('a signal is due at once if no worker has the client, and stays due if the relay dies before a worker begins', async () => {
  expect(await owe(redis, debts(1, 'acme'), NOW)).toEqual(['acme'])
  expect(await owe(redis, debts(2, 'acme'), NOW + 5)).toEqual([])
  expect(await owe(redis, debts(2, 'acme'), NOW + 5)).toEqual([])
  expect(await dueAt(NOW)).toEqual(['acme'])
  await taken()
  expect(await owe(redis, debts(3, 'acme'), NOW + 5)).toEqual([])
  expect(await dueAt(NOW + 5)).toEqual([])
})

test('a signal is owed together with others, and only if it is new among them', async () => {
  await owe(redis, debts(2, 'acme'), NOW)
  const signals = [1, 2, 3].map(seq => ({ seq, prev: seq - 1 }))
  const both = ['acme', 'bolt'].map(client => ({ client, signals }))
  expect(await owe(redis, both, NOW + 5)).toEqual(['bolt'])
  expect(await owedCount(redis, 'acme')).toBe(3)
  expect(await readDelivery(redis, 2, 'acme')).toMatchObject({ prev: 0, owed_at: NOW })
  expect(await readDelivery(redis, 3, 'bolt')).toMatchObject({ prev: 2, owed_at: NOW + 5 })
})

test('a signal is not owed again after it was delivered', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  const due = await taken()
  await settle(redis, ME, due, done(due), NOW, null)
  expect(await owe(redis, debts(1, 'acme'), NOW)).toEqual([])
  expect(await owedCount(redis, 'acme')).toBe(0)
  expect(await readAttempts(redis, 1, 'acme')).toEqual([attempt()])
})

test('a signal is due again when the lease of a worker that died ends', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  expect(await dueAt(NOW - 1)).toEqual([])
  expect(await dueAt(NOW)).toEqual(['acme'])
  await taken()
  expect(await dueAt(NOW + ME.flightMs - 1)).toEqual([])
  expect(await dueAt(NOW + ME.flightMs)).toEqual(['acme'])
})

test('a client is leased to one worker at a time, and gets its signals by number and not as text', async () => {
  for (const seq of [9, 10, 11]) await owe(redis, debts(seq, 'acme'), NOW)
  const due = await taken()
  expect(due.seq).toBe(9)
  expect(await take(redis, OTHER, NOW)).toEqual({ kind: 'busy' })
  expect(await settle(redis, ME, due, done(due), NOW, null)).toMatchObject({
    isCurrent: true,
    next: { seq: 10 },
  })
})

test('a client is free again in the same step in which nothing more is found due', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  const due = await taken()
  const { next } = await settle(redis, ME, due, retried(due, NOW + 500), NOW, null)
  expect(next).toEqual({ kind: 'free', atMs: NOW + 500 })
  expect(await take(redis, OTHER, NOW)).toEqual({ kind: 'free', atMs: NOW + 500 })
  expect(await dueAt(NOW + 499)).toEqual([])
  expect(await dueAt(NOW + 500)).toEqual(['acme'])
})

test('a client that is owed nothing is no longer in the schedule', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  const due = await taken()
  expect((await settle(redis, ME, due, done(due), NOW, NOW)).next).toEqual({ kind: 'free', atMs: null })
  expect(await dueAt(NOW * 2)).toEqual([])
})

test('a client of a worker that was silent for too long goes to another, and the first worker is told that it is lost', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  const due = await taken()
  await redis.del(flightKey('acme')) // as its expiry does
  expect(await take(redis, OTHER, NOW)).toMatchObject({ kind: 'send', seq: 1 })
  const late = await settle(redis, ME, due, done(due), NOW, null)
  expect(late).toEqual({ isCurrent: true, next: { kind: 'lost' } })
  expect(await redis.get(flightKey('acme'))).toBe('other')
  expect(await readDelivery(redis, 1, 'acme')).toMatchObject({ status: 'delivered' })
})

test('a client that is let go is due again at the time that was set', async () => {
  for (const seq of [1, 2]) await owe(redis, debts(seq, 'acme'), NOW)
  const due = await taken()
  const { next } = await settle(redis, ME, due, done(due), NOW, NOW + 15_000)
  expect(next).toEqual({ kind: 'left' })
  expect(await dueAt(NOW + 14_999)).toEqual([])
  expect(await dueAt(NOW + 15_000)).toEqual(['acme'])
  expect(await take(redis, OTHER, NOW)).toMatchObject({ kind: 'send', seq: 2 })
})

test('the result of an attempt can be written again after a lost reply, and is recorded once', async () => {
  for (const seq of [1, 2]) await owe(redis, debts(seq, 'acme'), NOW)
  const due = await taken()
  await settle(redis, ME, due, done(due), NOW, null)
  const again = await settle(redis, ME, due, done(due), NOW, null)
  expect(again).toMatchObject({ isCurrent: true, next: { seq: 2 } })
  expect(await readAttempts(redis, 1, 'acme')).toHaveLength(1)
})

test('the result of an attempt does not settle a signal that was resent meanwhile: it stays owed', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  const due = await taken()
  await oweAgain(redis, 'acme', [{ seq: 1, prev: 0 }], NOW + 10)
  const { isCurrent, next } = await settle(redis, ME, due, done(due), NOW + 20, null)
  expect(isCurrent).toBe(false)
  expect(next).toMatchObject({ kind: 'send', seq: 1, state: { round: 2, attempts: 0 } })
  expect(await readAttempts(redis, 1, 'acme')).toHaveLength(1)
})

test('a resend owes a delivered signal once more, from its first attempt on', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  const due = await taken()
  await settle(redis, ME, due, done(due), NOW, null)
  await oweAgain(redis, 'acme', [{ seq: 1, prev: 0 }], NOW + 10)
  expect(await readDelivery(redis, 1, 'acme')).toMatchObject({ status: 'owed', attempts: 0, round: 2 })
  expect(await owedCount(redis, 'acme')).toBe(1)
})

test('a resend of a signal that waits for a retry makes it due now, and owes it once', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  const due = await taken()
  await settle(redis, ME, due, retried(due, NOW + 500), NOW, null)
  await oweAgain(redis, 'acme', [{ seq: 1, prev: 0 }], NOW)
  expect(await owedCount(redis, 'acme')).toBe(1)
  expect(await taken()).toMatchObject({ seq: 1, state: { attempts: 0, round: 2 } })
})
