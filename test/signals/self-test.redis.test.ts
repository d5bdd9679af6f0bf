// The self-test of the webhook that a client has stored.
import { expect, test } from 'vitest'
import { saveWebhook } from '#signals/outbox/webhooks.ts'
import type { WebhookSecret } from '#signals/send/sign.ts'
import { BY_OPERATOR } from '../support/signals/delivery.ts'
import { secretKeyOf, testBox } from '../support/signals/operator.ts'
import { OTHER_SECRET, SECRET } from '../support/signals/receiver-kit.ts'
import { selfTest, startFlawedReceiver } from '../support/signals/self-test.ts'
import { NOW_MS } from '../support/signals/signals.ts'
import { redis, server, useRedis } from '../support/signals/test-redis.ts'

useRedis()
const SECRET_KEY = secretKeyOf()

/** A webhook whose first secret is valid for ever. */
function save(client: string, url: string, more: readonly WebhookSecret[] = []) {
  const secrets = [{ text: SECRET, expiresAtMs: null }, ...more]
  return saveWebhook(redis, testBox(), { destination: client, url, secrets }, BY_OPERATOR)
}

const env = () => ({ REDIS_URL: server.url, SECRET_KEY, ALLOW_PRIVATE_WEBHOOKS: 'yes' })

test('ops self-test sends to the webhook of a client what its valid secrets have signed', async () => {
  const url = await startFlawedReceiver([SECRET, OTHER_SECRET], null)
  await save('acme', url, [{ text: OTHER_SECRET, expiresAtMs: NOW_MS + 1 }])
  const { code, out, err } = await selfTest(['acme'], env())
  expect([code, err]).toEqual([0, ''])
  expect(out.match(/^passed /gm)).toHaveLength(15)
})

test('ops self-test names the option that a webhook on this machine needs', async () => {
  const url = await startFlawedReceiver([SECRET], null)
  await save('here', url)
  const named = { REDIS_URL: server.url, SECRET_KEY }
  const { out, err } = await selfTest(['here'], named)
  expect([out, err]).toEqual(['', expect.stringContaining('--allow-loopback lets it be of this machine')])
  expect((await selfTest(['here', '--allow-loopback'], named)).code).toBe(0)
})

test.each([
  [['nobody'], "the client 'nobody' has no webhook"],
  [['acme', '--secret', SECRET], 'the secrets of acme are those of its webhook'],
])('ops self-test of a client refuses %j', async (args, message) => {
  expect((await selfTest(args, env())).err).toContain(message)
})
