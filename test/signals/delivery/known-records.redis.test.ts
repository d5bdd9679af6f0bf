// Workers keep the records of a client between deliveries: every change of one reaches the next delivery of a turn.
import type { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import { issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { entitleClient, suspendClient } from '#signals/clients/clients.ts'
import { owe } from '#signals/delivery/outbox.ts'
import { createSecretBox, parseKeyRing } from '#signals/delivery/secret-box.ts'
import { SOUND } from '#signals/delivery/webhook-condition.ts'
import {
  disableWebhook,
  enableWebhook,
  readWebhook,
  rekeyWebhooks,
  removeWebhook,
  saveSecrets,
  saveWebhook,
  type Webhook,
} from '#signals/delivery/webhooks.ts'
import { type Due, type Found, type Settlement, settle, take } from '#signals/delivery/work.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { addSubscriber, BOX, BY_OPERATOR } from '../../support/signals/delivery.ts'
import { NOW_MS, seededBytes } from '../../support/signals/signals.ts'

const ME = { client: 'acme', token: 'me', flightMs: 20_000 }

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

beforeEach(async () => {
  await addSubscriber(redis, 'acme', 'https://acme.example/old')
  const signals = Array.from({ length: 8 }, (_, i) => ({ seq: i + 1, prev: i }))
  await owe(redis, [{ client: 'acme', signals }], NOW_MS)
})

const webhook = async (): Promise<Webhook> => {
  const found = await readWebhook(redis, BOX, 'acme')
  if (found === null) throw new Error('acme has no webhook')
  return found
}

const due = (found: Found): Due => {
  if (found.kind !== 'send') throw new Error(`expected a signal, got ${found.kind}`)
  return found
}

const done = ({ state }: Due): Settlement => ({
  state: { ...state, status: 'delivered', attempts: 1, settled_at: NOW_MS },
  ...{ dueMs: null, attempt: null, webhook: null },
})

const next = async (before: Due, settlement = done(before)): Promise<Due> =>
  due((await settle(redis, ME, before, settlement, NOW_MS, null)).next)

test('the records of a client are the same objects as long as nothing changes', async () => {
  const first = due(await take(redis, ME, NOW_MS))
  const second = await next(first)
  expect(second.seq).toBe(2)
  expect(second.webhook).toBe(first.webhook)
  expect(second.record).toBe(first.record)
  expect(first.record).toMatchObject({ id: 'acme', status: 'active', aliases: ['alder'] })
})

const OTHER_URL = 'https://acme.example/new'

/** Every way to change a webhook or a client, and the field in which the next delivery shows it. */
const CHANGES: Readonly<Record<string, readonly [change: () => Promise<unknown>, field: string]>> = {
  'a webhook that is set': [
    async () => saveWebhook(redis, BOX, { ...(await webhook()), url: OTHER_URL }, BY_OPERATOR),
    'url',
  ],
  'secrets that are rotated': [async () => saveSecrets(redis, BOX, await webhook()), 'secrets'],
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
      const { id } = await issueKey(redis, 'acme', seededBytes('key'), NOW_MS)
      await saveWebhook(redis, BOX, await webhook(), { keyId: id, atMs: NOW_MS })
      await revokeKey(redis, id)
    },
    'suspended',
  ],
}

const shown = ({ webhook, record }: Due, field: string): unknown => ({ ...record, ...webhook })[field]

for (const [name, [change, field]] of Object.entries(CHANGES)) {
  test(`${name} reaches the next delivery of a turn`, async () => {
    const first = due(await take(redis, ME, NOW_MS))
    await change()
    const second = await next(first)
    expect(shown(second, field)).not.toEqual(shown(first, field))
    expect((await next(second)).webhook).toBe(second.webhook)
  })
}

test('a webhook that is enabled again, and one that fails, reach the next delivery', async () => {
  const first = due(await take(redis, ME, NOW_MS))
  await disableWebhook(redis, 'acme', 'by the operator')
  const disabled = await next(first)
  await enableWebhook(redis, 'acme')
  const enabled = await next(disabled)
  expect([disabled, enabled].map(found => found.webhook.enabled)).toEqual(['0', '1'])
  const moved = { condition: SOUND, lane: 'slow', disabledWhy: null, hurries: false } as const
  const slow = await next(enabled, { ...done(enabled), webhook: moved })
  expect(slow.webhook.lane).toBe('slow')
})
