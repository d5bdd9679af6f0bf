// The outbox on a real Redis: what is owed is owed until it is settled, whichever process crashes in between. And what makes
// it quick: the records that workers keep, of which every change reaches the next delivery, and commands that calls share.
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { entitleClient, suspendClient } from '#signals/clients/clients.ts'
import { type Due, type Found, type Settlement, settle, take } from '#signals/delivery/scripts.ts'
import {
  type Attempt,
  moveSchedules,
  owe,
  readAttempts,
  readOutbox,
  readSchedule,
} from '#signals/outbox/outbox.ts'
import { rekeyWebhooks } from '#signals/outbox/rekey.ts'
import { createSecretBox, parseKeyRing } from '#signals/outbox/secret-box.ts'
import { OPERATOR } from '#signals/outbox/setter.ts'
import { SOUND } from '#signals/outbox/webhook-condition.ts'
import {
  disableWebhook,
  enableWebhook,
  readWebhook,
  removeWebhook,
  rotateSecrets,
  saveWebhook,
  setSettings,
} from '#signals/outbox/webhooks.ts'
import { FLIGHT_PREFIX, waitingKey } from '#signals/redis/keys.ts'
import { createSharedScript } from '#signals/redis/script.ts'
import { addSubscriber, BOX, BY_OPERATOR, byKey, owedCount } from '../../support/signals/delivery.ts'
import { seededBytes } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

const NOW = 1_000_000

useRedis()

const ME = { destination: 'acme', token: 'me', flightMs: 20_000 }
const OTHER = { ...ME, token: 'other' }

const debts = (seq: number, ...destinations: readonly string[]) =>
  destinations.map(destination => ({ destination, signals: [{ seq, prev: 0 }] }))

const attempt: Attempt = {
  at: NOW,
  n: 1,
  ok: true,
  status: 200,
  reason: null,
  first_byte_ms: 5,
  total_ms: 6,
  excerpt: '',
}

/** The clients of both lanes that are due at a time. */
async function dueAt(ms: number): Promise<readonly string[]> {
  const lanes = await Promise.all([readSchedule(redis, 'fast', 100), readSchedule(redis, 'slow', 100)])
  return lanes.flat().flatMap(({ destination, atMs }) => (atMs <= ms ? [destination] : []))
}

const done = ({ state }: Due): Settlement => ({
  state: { ...state, status: 'delivered', attempts: 1, settled_at: NOW },
  dueMs: null,
  attempt,
  webhook: null,
})

const retried = ({ state }: Due, dueMs: number): Settlement => ({
  state: { ...state, attempts: 1 },
  dueMs,
  attempt: { ...attempt, ok: false },
  webhook: null,
})

/** Owes these to a client, and takes it. */
async function taken(...seqs: readonly number[]): Promise<Due> {
  for (const seq of seqs) await owe(redis, debts(seq, 'acme'), NOW)
  return dueOf(await take(redis, ME, NOW))
}

function dueOf(found: Found): Due {
  if (found.kind !== 'send') throw new Error(`expected a signal, got ${found.kind}`)
  return found
}

const stateOf = async (seq: number, destination: string) => (await readOutbox(redis, seq)).get(destination)

test('a signal is owed once, however often the relay passes it', async () => {
  expect(await owe(redis, debts(1, 'acme', 'bolt'), NOW)).toEqual(['acme', 'bolt'])
  await owe(redis, [{ destination: 'acme', signals: [{ seq: 3, prev: 1 }] }], NOW)
  await owe(redis, debts(3, 'acme', 'bolt'), NOW + 5)
  expect(await owedCount(redis, 'acme')).toBe(2)
  expect(await stateOf(3, 'acme')).toMatchObject({ status: 'owed', prev: 1, owed_at: NOW })
  expect(await stateOf(1, 'acme')).toMatchObject({ prev: 0, attempts: 0, round: 1 })
  expect((await readOutbox(redis, 3)).size).toBe(2)
  expect(await stateOf(2, 'acme')).toBeUndefined()
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
  const both = ['acme', 'bolt'].map(destination => ({ destination, signals }))
  expect(await owe(redis, both, NOW + 5)).toEqual(['bolt'])
  expect(await owedCount(redis, 'acme')).toBe(3)
  expect(await stateOf(2, 'acme')).toMatchObject({ prev: 0, owed_at: NOW })
  expect(await stateOf(3, 'bolt')).toMatchObject({ prev: 2, owed_at: NOW + 5 })
})

test('a signal is due again when the lease of a worker that died ends', async () => {
  await owe(redis, debts(1, 'acme'), NOW)
  expect(await dueAt(NOW - 1)).toEqual([])
  expect(await dueAt(NOW)).toEqual(['acme'])
  await taken()
  expect(await dueAt(NOW + ME.flightMs - 1)).toEqual([])
  expect(await dueAt(NOW + ME.flightMs)).toEqual(['acme'])
})

test('a client that is owed nothing is no longer in the schedule', async () => {
  const due = await taken(1)
  expect((await settle(redis, ME, due, done(due), NOW, NOW)).next).toEqual({ kind: 'done' })
  expect(await dueAt(NOW * 2)).toEqual([])
})

test('a client of a worker that was silent for too long goes to another, and the first worker finds that it is lost', async () => {
  const due = await taken(1)
  await redis.pexpire(`${FLIGHT_PREFIX}acme`, 3_600_000) // the clock was set back, or else it would be over
  expect(await take(redis, OTHER, NOW)).toMatchObject({ kind: 'send', seq: 1 })
  const late = await settle(redis, ME, due, done(due), NOW, null)
  expect(late).toEqual({ isCurrent: true, next: { kind: 'busy' } })
  expect(await redis.get(`${FLIGHT_PREFIX}acme`)).toBe('other')
  expect(await stateOf(1, 'acme')).toMatchObject({ status: 'delivered' })
})

test('a new signal is due at once, whatever time its client waits for', async () => {
  const due = await taken(1, 2)
  await settle(redis, ME, due, done(due), NOW, NOW + 15_000)
  expect(await owe(redis, debts(3, 'acme'), NOW + 5)).toEqual(['acme'])
  expect(await dueAt(NOW + 5)).toEqual(['acme'])
})

test.each([false, true])(
  'what waits for a retry or a probe is due earlier by as much as the clock was set back (paused meanwhile: %s)',
  async isPaused => {
    const first = await firstOfEight()
    const opened = { ...SOUND, breaker: { kind: 'open', probes: 0, probeAtMs: 90_000_000 } } as const
    const unsaid = { disabledWhy: null, hurries: false, notice: null }
    const moved = { condition: opened, lane: 'slow', ...unsaid } as const
    await settle(redis, ME, first, { ...retried(first, 80_000_000), webhook: moved }, NOW, null)
    if (isPaused) {
      await setSettings(redis, BOX, 'acme', { isPaused })
      expect(await take(redis, OTHER, NOW)).toEqual({ kind: 'done' })
    }
    await moveSchedules(redis, NOW - 80_000_000)
    if (isPaused) await setSettings(redis, BOX, 'acme', { isPaused: false })
    const probeAtMs = NOW + 10_000_000
    expect(await take(redis, OTHER, NOW)).toEqual({ kind: 'later', atMs: probeAtMs })
    expect((await webhook()).condition).toEqual({ ...SOUND, breaker: { ...opened.breaker, probeAtMs } })
    expect(await redis.zscore(waitingKey('acme'), '1')).toBe(String(NOW))
    expect(await dueAt(probeAtMs)).toEqual(['acme'])
  },
)

test('the result of an attempt can be written again after a lost reply, and is recorded once', async () => {
  const due = await taken(1, 2)
  await settle(redis, ME, due, done(due), NOW, null)
  const again = await settle(redis, ME, due, done(due), NOW, null)
  expect(again).toMatchObject({ isCurrent: true, next: { seq: 2 } })
  expect(await readAttempts(redis, 1, 'acme')).toHaveLength(1)
})

/** The first of eight signals that a subscriber is owed, taken. */
async function firstOfEight(): Promise<Due> {
  await addSubscriber(redis, 'acme', 'https://acme.example/old')
  const signals = Array.from({ length: 8 }, (_, i) => ({ seq: i + 1, prev: i }))
  await owe(redis, [{ destination: 'acme', signals }], NOW)
  return taken()
}

const webhook = async () => (await readWebhook(redis, BOX, 'acme'))! // it was made with the client

const next = async (before: Due, settlement = done(before)): Promise<Due> =>
  dueOf((await settle(redis, ME, before, settlement, NOW, null)).next)

const OTHER_URL = 'https://acme.example/new'

/** Every way to change a webhook or a client, and the field in which the next delivery shows it. */
const CHANGES: Readonly<Record<string, readonly [change: () => Promise<unknown>, field: string]>> = {
  'a webhook that is set': [
    async () => saveWebhook(redis, BOX, { ...(await webhook()), url: OTHER_URL }, BY_OPERATOR),
    'url',
  ],
  'secrets that are rotated': [
    () => rotateSecrets(redis, BOX, 'acme', OPERATOR, secrets => secrets),
    'secrets',
  ],
  'a webhook that is disabled': [() => disableWebhook(redis, 'acme', 'by the operator'), 'enabled'],
  'a webhook that is removed': [() => removeWebhook(redis, 'acme'), 'url'],
  'another key of the ring': [
    () => {
      const ring = [8, 7].map((byte, i) => `k${2 - i}:${Buffer.alloc(32, byte).toString('base64')}`)
      return rekeyWebhooks(redis, createSecretBox(parseKeyRing(ring.join(',')), seededBytes('other box')))
    },
    'url',
  ],
  'a client that is suspended': [() => suspendClient(redis, 'acme'), 'status'],
  'entitlements that are taken away': [() => entitleClient(redis, 'acme', { aliases: [] }, ''), 'aliases'],
  'a revoked key that set the webhook': [
    async () => {
      const { id } = await issueKey(redis, 'acme', seededBytes('key'), NOW)
      await saveWebhook(redis, BOX, await webhook(), byKey(id))
      await revokeKey(redis, id)
    },
    'suspended',
  ],
}

const shown = ({ webhook, record }: Due, field: string): unknown => ({ ...record, ...webhook })[field]

for (const [name, [change, field]] of Object.entries(CHANGES)) {
  test(`${name} reaches the next delivery of a turn`, async () => {
    const first = await firstOfEight()
    await change()
    const second = await next(first)
    expect(shown(second, field)).not.toEqual(shown(first, field))
    expect((await next(second)).webhook).toBe(second.webhook)
  })
}

test('a webhook that is enabled again, and one that fails, reach the next delivery', async () => {
  const first = await firstOfEight()
  await disableWebhook(redis, 'acme', 'by the operator')
  const disabled = await next(first)
  await enableWebhook(redis, 'acme')
  const enabled = await next(disabled)
  expect([disabled, enabled].map(found => found.webhook.enabled)).toEqual(['0', '1'])
  const moved = { condition: SOUND, lane: 'slow', disabledWhy: null, hurries: false, notice: null } as const
  const slow = await next(enabled, { ...done(enabled), webhook: moved })
  expect(slow.webhook.lane).toBe('slow')
})

const KEY = '{hw}:counted'

/** Increments a field, and fails as its second argument says. */
const count = createSharedScript(
  `local function run(field, failure)
    if failure == 'lua' then error('out of order') end
    if failure == 'redis' then redis.call('GET', KEYS[1]) end
    return {redis.call('HINCRBY', KEYS[1], field, 1)}
  end`,
  [KEY],
  2,
)

test('a call of a shared script that fails, whether in Redis or by itself, ends no other one', async () => {
  const asked = ['', 'redis', 'lua', ''].map(failure => count(redis, 'a', failure))
  expect(await Promise.allSettled(asked)).toMatchObject([
    { status: 'fulfilled', value: [1] },
    { status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } },
    { status: 'rejected', reason: { message: expect.stringContaining('out of order') } },
    { status: 'fulfilled', value: [2] },
  ])
})

test('each of many calls of a shared script gets its own reply, and they take few commands', async () => {
  await count(redis, 'warm', '')
  await redis.config('RESETSTAT')
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, i) => count(redis, `field ${i % 10}`, '')),
  )
  expect(replies).toEqual(Array.from({ length: 100 }, (_, i) => [Math.floor(i / 10) + 1]))
  expect(await redis.info('commandstats')).toContain('cmdstat_evalsha:calls=2,')
})

test('calls of a shared script fail with their connection, and those of the next turn are sent again', async () => {
  redis.disconnect()
  await once(redis, 'end')
  await expect(count(redis, 'a', '')).rejects.toThrow('Redis does not answer')
  await redis.connect()
  expect(await count(redis, 'a', '')).toEqual([1])
})
