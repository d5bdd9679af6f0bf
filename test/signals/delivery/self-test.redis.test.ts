// The self-test of the webhook that a client has stored.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { createSecretBox, parseKeyRing } from '#signals/delivery/secret-box.ts'
import { saveWebhook } from '#signals/delivery/webhooks.ts'
import { type SharedRedis, useTestRedis } from '../../support/servers/use-redis.ts'
import { BY_OPERATOR } from '../../support/signals/delivery.ts'
import { OTHER_SECRET, SECRET } from '../../support/signals/receiver-kit.ts'
import { selfTest, startFlawedReceiver } from '../../support/signals/self-test.ts'
import { NOW_MS, seededBytes } from '../../support/signals/signals.ts'

const SECRET_KEY = `k1:${Buffer.alloc(32, 1).toString('base64')}`
const BOX = createSecretBox(parseKeyRing(SECRET_KEY), seededBytes('box'))

let server: SharedRedis
let redis: Redis
useTestRedis((connected, started) => {
  redis = connected
  server = started
})
const env = () => ({ REDIS_URL: server.url, SECRET_KEY, ALLOW_PRIVATE_WEBHOOKS: 'yes' })

test('ops self-test sends to the webhook of a client what its valid secrets have signed', async () => {
  const url = await startFlawedReceiver([SECRET, OTHER_SECRET], null)
  const secrets = [
    { text: SECRET, expiresAtMs: null },
    { text: OTHER_SECRET, expiresAtMs: NOW_MS + 1 },
  ]
  await saveWebhook(redis, BOX, { client: 'acme', url, secrets }, BY_OPERATOR)
  const { out, err, error } = await selfTest(['acme'], env())
  expect([err, error]).toEqual(['', null])
  expect(out.match(/^passed /gm)).toHaveLength(15)
})

test('ops self-test names the option that a webhook on this machine needs', async () => {
  const url = await startFlawedReceiver([SECRET], null)
  await saveWebhook(
    redis,
    BOX,
    { client: 'here', url, secrets: [{ text: SECRET, expiresAtMs: null }] },
    BY_OPERATOR,
  )
  const named = { REDIS_URL: server.url, SECRET_KEY }
  const { out, error } = await selfTest(['here'], named)
  expect([out, error]).toEqual(['', expect.stringContaining('--allow-loopback lets it be of this machine')])
  expect((await selfTest(['here', '--allow-loopback'], named)).error).toBeNull()
})

test.each([
  [['nobody'], "the client 'nobody' has no webhook"],
  [['acme', '--secret', SECRET], 'the secrets of acme are those of its webhook'],
])('ops self-test of a client refuses %j', async (args, message) => {
  expect((await selfTest(args, env())).error).toContain(message)
})
