// A client registers its own webhook and looks at it: what is accepted, what is refused, and what no answer contains.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { confirmKey, issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { suspendClient } from '#signals/clients/clients.ts'
import { MOST_REGISTRATIONS, registerWebhook, type WebhookChange } from '#signals/outbox/register-webhook.ts'
import { disableWebhook, enabledWebhooks, enableWebhook, readWebhook } from '#signals/outbox/webhooks.ts'
import { HEAD, webhookKey } from '#signals/redis/keys.ts'
import { createWebhookSecret, keyOfSecret } from '#signals/send/sign.ts'
import { BOX, byKey, delivered, failed } from '../../support/signals/delivery.ts'
import { addClient, NOW_MS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, registerParts, withKey } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { envelopeOf, refusalOf } from './keyed-answers.ts'

const URL = 'https://hooks.example.org/token-of-mine'

const random = seededBytes('webhook')
let token: string
let keyId: string
let changes: WebhookChange[]
let sentTo: string[]
let acknowledges: boolean
let app: ReturnType<typeof createTestSignals>['app']

useRedis()
beforeAll(() => {
  const registering = registerParts(
    redis,
    () => NOW_MS,
    async ({ url }) => {
      sentTo.push(url)
      return acknowledges ? delivered() : failed()
    },
  )
  const onChange = (change: WebhookChange): unknown => changes.push(change)
  ;({ app } = createTestSignals(redis, { registering: { ...registering, onChange } }))
})
beforeEach(async () => {
  ;({ token, keyId } = await addClient(redis, 'acme', ['alder'], random))
  changes = []
  sentTo = []
  acknowledges = true
})

const ANSWER = z.object({ secret: z.string().nullable(), secrets_dropped: z.boolean() })

const asJson = { 'content-type': 'application/json' }

const put = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = asJson,
): RequestInit => ({
  method: 'PUT',
  headers: { 'X-API-Key': token, ...headers },
  body,
})

const register = (url = URL, secret?: string): RequestInit => put(JSON.stringify({ url, secret }))

/** Registers the webhook with another key, which is that of the client from then on. */
async function registerWith(key: string): Promise<void> {
  token = key
  await app.request('/v1/webhook', register())
}

test('a registration that is acknowledged shows the secret once; afterwards host and state are seen, and never the rest', async () => {
  expect((await refusalOf(await app.request('/v1/webhook', withKey(token)))).code).toBe('not_found')
  const { data } = await envelopeOf(await app.request('/v1/webhook', register()))
  const state = {
    host: 'hooks.example.org',
    enabled: true,
    disabled_why: null,
    set_at: '2026-11-21T00:00:05.000Z',
    set_by: keyId,
    set_by_key: keyId,
    failing_since: null,
    secrets: [{ expires_at: null }],
  }
  const secret = (await readWebhook(redis, BOX, 'acme'))?.secrets[0]?.text
  expect(data).toEqual({ ...state, secret, secrets_dropped: false })
  expect(keyOfSecret(secret ?? '')).toHaveLength(32)
  expect(sentTo).toEqual([URL])
  const seen = await app.request('/v1/webhook', withKey(token))
  const text = await seen.clone().text()
  expect((await envelopeOf(seen)).data).toEqual(state)
  for (const hidden of [secret ?? '', 'token-of-mine']) expect(text).not.toContain(hidden)
  await disableWebhook(redis, 'acme', 'the operator said so')
  expect((await envelopeOf(await app.request('/v1/webhook', withKey(token)))).data).toMatchObject({
    enabled: false,
    disabled_why: 'the operator said so',
  })
})

test('a registration is open to an account that waits for its activation, and to each client for itself alone', async () => {
  const other = await addClient(redis, 'other', ['alder'], seededBytes('other'))
  await suspendClient(redis, 'acme')
  expect((await app.request('/v1/webhook', register())).status).toBe(200)
  expect((await app.request('/v1/webhook', withKey(other.token))).status).toBe(404)
})

const secret = 'whsec_of-mine'
test.each([
  ['of another media type', 415, put('x'.repeat(5_000), { 'content-type': 'text/plain' })],
  ['that is too large', 413, put(`{"url":"${'x'.repeat(5_000)}"`)],
  ['that is not UTF-8', 400, put(new Uint8Array([0x7b, 0xff, 0x7d]))],
  ['without an address', 422, put('{}')],
  ['with an empty address', 422, put('{"url":""}')],
  ['that is a list', 422, put('[]')],
  ['with an address of another type', 422, put('{"url":["token-of-mine"]}')],
  ['with a secret of another type', 422, put(`{"url":"${URL}","secret":["${secret}"]}`)],
  ['with a weak secret', 422, put(JSON.stringify({ url: URL, secret }))],
])('a registration with a body %s is refused with %i, and nothing is sent', async (_, status, request) => {
  const headers = { ...request.headers, 'X-API-Key': token } // that of this test
  const response = await app.request('/v1/webhook', { ...request, headers })
  const text = await response.clone().text()
  expect([response.status, text]).toEqual([status, expect.any(String)])
  await refusalOf(response)
  for (const hidden of [secret, 'token-of-mine']) expect(text).not.toContain(hidden)
  expect([sentTo, await redis.hget(HEAD, 'seq')]).toEqual([[], null])
})

test('a registration beyond those of an hour is refused before its body is read; what was refused for its body has not counted', async () => {
  for (let i = 0; i < 2 * MOST_REGISTRATIONS; i++) {
    expect((await app.request('/v1/webhook', put('{'))).status).toBe(400)
  }
  acknowledges = false
  for (let i = 0; i < MOST_REGISTRATIONS; i++) {
    expect((await app.request('/v1/webhook', register())).status).toBe(422)
  }
  for (const request of [register(), put('{'), put('x', { 'content-type': 'text/plain' })]) {
    const response = await app.request('/v1/webhook', request)
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(3_000)
    expect((await refusalOf(response)).code).toBe('rate_limited')
  }
  expect(sentTo).toHaveLength(MOST_REGISTRATIONS)
})

test('registrations at the same moment send no more tests than one hour may have', async () => {
  const all = Array.from({ length: 3 * MOST_REGISTRATIONS }, () => app.request('/v1/webhook', register()))
  const statuses = (await Promise.all(all)).map(({ status }) => status)
  expect(statuses.filter(status => status !== 429)).toHaveLength(MOST_REGISTRATIONS)
  expect(sentTo).toHaveLength(MOST_REGISTRATIONS)
})

const second = () => issueKey(redis, 'acme', random, NOW_MS)
const stateFor = async (key: string) =>
  (await envelopeOf(await app.request('/v1/webhook', withKey(key)))).data

test('a webhook whose key is revoked is suspended with the reason, until a live key of the client sets it', async () => {
  await app.request('/v1/webhook', register())
  const fresh = await second()
  await revokeKey(redis, keyId)
  const why = `the key ${keyId} that set it was revoked: confirm the address by PUT /v1/webhook with a live key`
  const suspended = { enabled: false, disabled_why: why, set_by_key: keyId }
  expect(await stateFor(fresh.token)).toMatchObject(suspended)
  expect(await enabledWebhooks(redis)).toEqual([])
  await expect(enableWebhook(redis, 'acme')).rejects.toMatchObject({ code: 'conflict' })
  expect(await stateFor(fresh.token)).toMatchObject(suspended)
  await registerWith(fresh.token)
  const confirmed = { enabled: true, disabled_why: null, set_by_key: fresh.id }
  expect(await stateFor(fresh.token)).toMatchObject(confirmed)
  expect(await enabledWebhooks(redis)).toEqual(['acme'])
  expect(changes).toEqual(
    [keyId, fresh.id].map(id => ({ destination: 'acme', change: 'set', by: { kind: 'key', id } })),
  )
})

test('a webhook is suspended by the confirmation of another key, too, except if the new key set it before', async () => {
  const confirm = async (key: string) =>
    (await envelopeOf(await app.request('/v1/keys/confirm', withKey(key, 'POST')))).data
  await app.request('/v1/webhook', register())
  const fresh = await second()
  expect(await confirm(fresh.token)).toMatchObject({ webhook_suspended: true })
  expect(await stateFor(fresh.token)).toMatchObject({ enabled: false, set_by_key: keyId })
  expect(changes.at(-1)).toEqual({ destination: 'acme', change: 'suspended', by: { kind: 'key', id: keyId } })
  await registerWith(fresh.token)
  const third = await second()
  await registerWith(third.token)
  expect(await confirm(third.token)).toMatchObject({ webhook_suspended: false })
  expect(await stateFor(third.token)).toMatchObject({ enabled: true, set_by_key: third.id })
})

test('each endpoint that a revoked key set is suspended, and none that another key or the operator set', async () => {
  const fresh = await second()
  const setters = { acme: keyId, 'acme/a': fresh.id, 'acme/b': keyId, 'acme/c': null }
  for (const [destination, setter] of Object.entries(setters))
    await registerWebhook(
      registerParts(redis, () => NOW_MS),
      destination,
      { url: URL, secret: null },
      ...(setter === null ? [] : [byKey(setter)]),
    )
  expect((await revokeKey(redis, keyId))?.suspended).toEqual(['acme', 'acme/b'])
  expect((await enabledWebhooks(redis)).toSorted()).toEqual(['acme/a', 'acme/c'])
  const { disabledWhy } = (await readWebhook(redis, BOX, 'acme/b'))!
  expect(disabledWhy).toContain('confirm the address by PUT /v1/endpoints/b with a live key')
  await expect(enableWebhook(redis, 'acme/b')).rejects.toThrow(
    'highwater ops webhook set acme --endpoint b URL',
  )
  expect((await confirmKey(redis, fresh.id, NOW_MS)).suspended).toEqual([])
})

test('a webhook that an earlier release stored without its setter and settings has the defaults, is suspended with any key, and the answer says why', async () => {
  await app.request('/v1/webhook', register())
  await redis.hdel(webhookKey('acme'), 'set_by', 'set_at', 'headers', 'last_success')
  const settings = { headers: {}, filter: null, expireAfterS: null, isPaused: false, lastSuccessMs: null }
  expect(await readWebhook(redis, BOX, 'acme')).toMatchObject(settings)
  const fresh = await second()
  expect(await revokeKey(redis, keyId)).toEqual({ client: 'acme', suspended: ['acme'] })
  const why = `the key ${keyId}, which may have set it, was revoked: confirm the address by PUT /v1/webhook with a live key`
  const state = { enabled: false, disabled_why: why, set_at: null, set_by_key: null }
  expect(await stateFor(fresh.token)).toMatchObject(state)
  expect(await enabledWebhooks(redis)).toEqual([])
  await expect(enableWebhook(redis, 'acme')).rejects.toMatchObject({ code: 'conflict' })
  await registerWith(fresh.token)
  expect(await stateFor(token)).toMatchObject({ enabled: true, set_by_key: fresh.id })
})

test('a webhook loses the secrets that a revoked key chose: the confirmation makes a new one, or takes that of the request', async () => {
  const answerTo = async (request: RequestInit) =>
    ANSWER.parse((await envelopeOf(await app.request('/v1/webhook', request))).data)
  const [stolen, own] = [createWebhookSecret(random), createWebhookSecret(random)]
  const chosen = await answerTo(put(JSON.stringify({ url: URL, secret: stolen })))
  expect(chosen).toMatchObject({ secret: null, secrets_dropped: false })
  const fresh = await second()
  await revokeKey(redis, keyId)
  token = fresh.token
  const confirmed = await answerTo(register())
  expect(confirmed).toMatchObject({ secret: expect.stringMatching(/^whsec_/), secrets_dropped: true })
  const kept = async () => (await readWebhook(redis, BOX, 'acme'))?.secrets.map(({ text }) => text)
  expect(await kept()).toEqual([confirmed.secret])
  expect(await answerTo(register())).toMatchObject({ secret: null, secrets_dropped: false })

  const third = await second()
  await revokeKey(redis, fresh.id)
  token = third.token
  const replaced = await answerTo(put(JSON.stringify({ url: URL, secret: own })))
  expect(replaced).toMatchObject({ secret: null, secrets_dropped: true })
  expect(await kept()).toEqual([own])
})

test('a webhook whose key is revoked while it is being registered is not saved: the answer is 401', async () => {
  const registering = registerParts(
    redis,
    () => NOW_MS,
    async () => {
      await revokeKey(redis, keyId)
      return delivered()
    },
  )
  const response = await createTestSignals(redis, { registering }).app.request('/v1/webhook', register())
  expect(response.status).toBe(401)
  expect(await refusalOf(response)).toMatchObject({ code: 'unauthorized' })
  expect(await readWebhook(redis, BOX, 'acme')).toBeNull()
})
