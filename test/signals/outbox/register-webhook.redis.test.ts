// How a webhook comes to be, on a real Redis and with real receivers: nothing is sent to an address that did not
// acknowledge a signed test, and nobody learns from a refusal what is there.
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { ApiError } from '#core/contract/errors.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { impliedLeverage, signal } from '#core/contract/signal.ts'
import { issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { readAfter, readSignal } from '#signals/log/read-log.ts'
import { readAttempts, readOutbox } from '#signals/outbox/outbox.ts'
import { type RegisterParts, registerWebhook, rotateWebhookSecret } from '#signals/outbox/register-webhook.ts'
import { debtorsOf } from '#signals/outbox/relay.ts'
import { accountFor } from '#signals/outbox/resend.ts'
import { OPERATOR } from '#signals/outbox/setter.ts'
import { fireTest } from '#signals/outbox/test-fire.ts'
import {
  enabledWebhooks,
  endpointsOf,
  readWebhook,
  removeWebhook,
  type SetAt,
  saveWebhook,
  setSettings,
} from '#signals/outbox/webhooks.ts'
import { HEAD, hourKeyOf } from '#signals/redis/keys.ts'
import { createHostResolver } from '#signals/send/resolve-host.ts'
import { createSendSignal } from '#signals/send/send.ts'
import { createWebhookSecret } from '#signals/send/sign.ts'
import { BOX, byKey, relayAll, startTimer } from '../../support/signals/delivery.ts'
import {
  acknowledge,
  type Received,
  type Receiver,
  type ReceiverAnswer,
  startReceiver,
} from '../../support/signals/receiver.ts'
import { createTestSender } from '../../support/signals/sender.ts'
import {
  addClient,
  beforeScripts,
  fire,
  NOW_MS,
  seededBytes,
  withLostReplies,
} from '../../support/signals/signals.ts'
import { registerParts } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

useRedis()
let receiver: Receiver
let answer: ReceiverAnswer
let keyId: string
let parts: RegisterParts

beforeEach(async () => {
  receiver = await startReceiver((request, response) => answer(request, response))
  keyId = (await addClient(redis, 'acme', ['alder'], seededBytes('keys'))).keyId
  answer = acknowledge
  const now = () => NOW_MS
  const sender = createTestSender({ resolveHost: createHostResolver(), now, startTimer })
  const send = createSendSignal(sender, () => Date.now()) // verifiers look at their own clock
  parts = registerParts(redis, now, send)
})

const request = (secret: string | null = null, url = receiver.urlOf('acme')) => ({ url, secret })

const register = async (secret: string | null = null, url?: string) =>
  (await registerWebhook(parts, 'acme', request(secret, url))).made

/** Why an address is refused. */
const refuse = (url = receiver.urlOf('acme')) => refusalOf(register(null, url))

const readAcme = () => readWebhook(redis, BOX, 'acme')

const refusalOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error = await promise.catch((thrown: unknown) => thrown)
  if (error instanceof ApiError) return error
  throw new Error(`expected a refusal, got ${String(error)}`)
}

function isSigned(secret: string, body: string, headers: Received['headers']): boolean {
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  try {
    new Webhook(secret).verify(body, plain)
    return true
  } catch {
    return false
  }
}

/** Whether the request that came last is signed with a secret. */
function isLastSigned(secret: string | null): boolean {
  const last = receiver.received.at(-1)
  return last !== undefined && isSigned(secret ?? '', last.body, last.headers)
}

test('a registration is enabled by a signed test that is acknowledged, an entry of an alias that no strategy can have, and shows its secret once', async () => {
  await fire(redis, 'a', 'alder')
  const secret = await register()
  const sent = receiver.received.at(-1)
  const { alias, ...test } = signal.parse(JSON.parse(sent?.body ?? ''))
  expect(test).toMatchObject({ seq: 2, is_test: true, mode: 'DRY_RUN', action: 'long', by: 'strategy' })
  expect(test.stop).toBeLessThan(test.signal_price)
  expect(test.implied_leverage).toBe(impliedLeverage(test.signal_price, test.stop, test.base_risk_pct))
  expect(ID_PATTERN.test(alias)).toBe(false) // no strategy can have it
  expect(sent).toMatchObject({ seq: 2, prevSeq: 1, headers: { 'x-attempt': '1' } })
  expect(isLastSigned(secret)).toBe(true)
  expect(isLastSigned(createWebhookSecret(seededBytes('another')))).toBe(false)
  expect(await readAcme()).toMatchObject({ url: receiver.urlOf('acme'), enabled: true, lane: 'fast' })
  expect(await enabledWebhooks(redis)).toEqual(['acme'])
  for (const value of Object.values(await redis.hgetall('{hw}:webhook:acme'))) {
    expect(value).not.toContain(secret)
    expect(value).not.toContain('127.0.0.1')
  }
})

test('a registration has its test delivered once, and never by the relay', async () => {
  await register()
  expect(await debtorsOf(redis, await readAfter(redis, 0, 9))).toEqual([])
  expect(await relayAll(redis, parts.now)).toEqual([])
  expect((await readSignal(redis, 1))?.onlyFor).toBe('acme')
  expect((await readOutbox(redis, 1)).get('acme')).toMatchObject({ status: 'delivered', attempts: 1 })
  expect(await readAttempts(redis, 1, 'acme')).toMatchObject([{ n: 1, ok: true, status: 200 }])
})

test('a registration is missing in no account if its test was acknowledged, and in every one if it was not', async () => {
  await register()
  expect(await accountFor(redis, 'acme', null, null)).toMatchObject({ delivered: 1, missing: [] })
  answer = (_, response) => void response.writeHead(500).end()
  await refuse()
  expect(await accountFor(redis, 'acme', null, null)).toMatchObject({ delivered: 1, missing: [2] })
  expect((await readOutbox(redis, 2)).size).toBe(0)
})

test('a registration that moves keeps its secrets, so that a receiver which verifies can acknowledge it', async () => {
  const secret = await register()
  answer = ({ body, headers }, response) => {
    response.statusCode = isSigned(secret ?? '', body, headers) ? 200 : 401
    response.end()
  }
  expect(await register(null, receiver.urlOf('moved'))).toBeNull()
  expect(await readAcme()).toMatchObject({ url: receiver.urlOf('moved') })
  expect((await readAcme())?.secrets.map(({ text }) => text)).toEqual([secret])
})

test('a registration may bring its own secret, and a later one beside which the old one signs for a day', async () => {
  const [first, second] = [createWebhookSecret(seededBytes('1')), createWebhookSecret(seededBytes('2'))]
  expect(await register(first)).toBeNull()
  await register(second)
  for (const secret of [first, second]) expect(isLastSigned(secret)).toBe(true)
  const weak = await refusalOf(register('whsec_short'))
  expect(weak).toMatchObject({ code: 'validation_error' })
  expect(JSON.stringify([weak.message, weak.details])).not.toContain('whsec_short')
})

test('a refused registration gives a client the same answer whatever is at an address, and repeats none', async () => {
  answer = (_, response) => {
    response.statusCode = 302
    response.setHeader('location', 'http://169.254.169.254/').end()
  }
  const urls = [
    receiver.urlOf('acme'), // answers a redirect
    'http://127.0.0.1:1024/token-of-mine', // nobody listens
    'https://nobody.invalid/',
  ]
  const refusals = new Set<string>()
  for (const url of urls) {
    await redis.del(hourKeyOf('registrations')('acme'))
    const refusal = await refusalOf(registerWebhook(parts, 'acme', request(null, url), byKey(keyId)))
    refusals.add(JSON.stringify([refusal.code, refusal.message, refusal.details, refusal.headers]))
    expect(refusal.message).not.toContain(url)
  }
  expect([...refusals]).toHaveLength(1)
  expect(await readAcme()).toBeNull()
})

test('a refused registration shows the operator the result of the test, and repeats no address', async () => {
  answer = (_, response) => void response.writeHead(302, { location: 'https://example.org/' }).end()
  const whyRefused = async (url: string): Promise<string> => {
    const { message } = await refuse(url)
    expect(message).not.toContain(url)
    return message
  }
  expect(await whyRefused(receiver.urlOf('acme'))).toMatch(/not acknowledged with 2xx.*: it answered 302$/)
  expect(await whyRefused('http://127.0.0.1:1024/mine')).toMatch(
    /not acknowledged with 2xx.*: connect failed$/,
  )
})

test.each([
  ['https://169.254.169.254/latest/meta-data', 'its host is not a public address'],
  ['https://10.0.0.1/', 'its host is not a public address'],
  ['gopher://example.org/mine', 'expected a URL that begins with https://'],
  ['no address at all', 'a URL has no blanks'],
  [`https://example.org/${'x'.repeat(3_000)}`, 'a URL has 2048 characters at the most'],
  ['https://hooks.example.org/', 'a webhook secret is whsec_', 'whsec_weak'],
])(
  'a registration that cannot send a test says why, writes none, counts for no hour and repeats nothing: %s',
  async (url, says, secret?: string) => {
    const asked = request(secret ?? null, url)
    for (const setter of [byKey(keyId), OPERATOR]) {
      const { message, details } = await refusalOf(registerWebhook(parts, 'acme', asked, setter))
      expect(message).toContain(says)
      expect(JSON.stringify([message, details])).not.toContain(secret ?? url)
    }
    expect([await redis.hget(HEAD, 'seq'), await redis.exists(hourKeyOf('registrations')('acme'))]).toEqual([
      null,
      0,
    ])
  },
)

/** What others do to the endpoint before something is written of it, once. */
function before(happens: () => Promise<unknown>): RegisterParts {
  let isOver = false
  const meddled = beforeScripts(redis, async () => {
    if (isOver || (await redis.exists('{hw}:webhook:acme')) === 0) return
    isOver = true
    await happens()
  })
  return { ...parts, redis: meddled }
}

const setAgain = (by: SetAt, url = receiver.urlOf('moved')) =>
  saveWebhook(
    redis,
    BOX,
    { destination: 'acme', url, secrets: [{ text: 'of the move', expiresAtMs: null }] },
    by,
  )

const textsOf = async () => (await readAcme())?.secrets.map(({ text }) => text)

test('a rotation that meets a registration keeps its address and its secret, and is refused if the endpoint is another key’s by then', async () => {
  await registerWebhook(parts, 'acme', request(), byKey(keyId))
  const made = await rotateWebhookSecret(
    before(() => setAgain(byKey(keyId))),
    'acme',
    undefined,
    byKey(keyId),
  )
  expect([(await readAcme())?.url, await textsOf()]).toEqual([receiver.urlOf('moved'), [made, 'of the move']])
  const fresh = await issueKey(redis, 'acme', seededBytes('fresh'), NOW_MS)
  const byFresh = before(() => setAgain(byKey(fresh.id), receiver.urlOf('fresh')))
  const refusal = await refusalOf(rotateWebhookSecret(byFresh, 'acme', undefined, byKey(keyId)))
  expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringContaining('confirm its address') })
  expect([(await readAcme())?.url, await textsOf()]).toEqual([receiver.urlOf('fresh'), ['of the move']])
  const headers = { authorization: 'Bearer of-mine' }
  const refused = await refusalOf(setSettings(redis, BOX, 'acme', { headers }, byKey(keyId)))
  expect([refused.code, (await readAcme())?.headers]).toEqual(['conflict', {}])
})

test('a registration and a rotation whose replies of Redis are lost are made once, and their secrets are shown', async () => {
  const changes: unknown[] = []
  const lossy = {
    ...parts,
    redis: withLostReplies(redis),
    onChange: (change: unknown) => changes.push(change),
  }
  const { made } = await registerWebhook(lossy, 'acme', request(), byKey(keyId))
  expect(await textsOf()).toEqual([made])
  const rotated = await rotateWebhookSecret(lossy, 'acme', undefined, byKey(keyId))
  expect(await textsOf()).toEqual([rotated, made])
  expect(changes).toMatchObject([{ change: 'set' }, { change: 'rotated' }])
})

test('a revoked key changes no settings, also in a request that began before', async () => {
  await registerWebhook(parts, 'acme', request(), byKey(keyId))
  await revokeKey(redis, keyId)
  const refused = refusalOf(setSettings(redis, BOX, 'acme', { isPaused: true }, byKey(keyId)))
  expect(await refused).toMatchObject({ code: 'unauthorized' })
  expect(await readAcme()).toMatchObject({ isPaused: false, settingsBy: [] })
})

test.each<[what: string, change: () => Promise<unknown>]>([
  ['a rotation', () => rotateWebhookSecret(parts, 'acme')],
  [
    'a change of headers',
    () => setSettings(redis, BOX, 'acme', { headers: { tenant: 'mine' } }, byKey(keyId)),
  ],
  ['a removal', () => removeWebhook(redis, 'acme')],
  ['another registration', () => setAgain(byKey(keyId))],
  ['a revocation of the key that set it', () => revokeKey(redis, keyId)],
])('a registration whose test meets %s is refused, and undoes nothing of it', async (_, change) => {
  await registerWebhook(parts, 'acme', request(), byKey(keyId))
  let after: unknown
  const send: RegisterParts['send'] = async order => {
    await change()
    after = await redis.hgetall('{hw}:webhook:acme')
    return parts.send(order)
  }
  const refusal = await refusalOf(registerWebhook({ ...parts, send }, 'acme', request()))
  expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringContaining('changed or removed') })
  expect(await redis.hgetall('{hw}:webhook:acme')).toEqual(after)
})

test('a client has at most five endpoints, the default one included, each with a record, secrets and registration test of its own, and five registrations an hour for all together', async () => {
  const others = ['acme/a', 'acme/b', 'acme/c', 'acme/d']
  const secrets = new Set<string | null>()
  for (const destination of [...others, 'acme', 'acme/a'])
    secrets.add((await registerWebhook(parts, destination, request())).made)
  expect(secrets.size).toBe(6) // the last one is null: it kept its own
  expect(await endpointsOf(redis, 'acme')).toEqual(['default', 'a', 'b', 'c', 'd'])
  expect([...(await readOutbox(redis, 2))].map(([destination]) => destination)).toEqual(['acme/b'])
  expect(receiver.received.map(({ prevSeq }) => prevSeq)).toEqual([0, 0, 0, 0, 0, 1])
  expect(await refusalOf(registerWebhook(parts, 'acme/e', request()))).toMatchObject({
    code: 'conflict',
    message: "a client has at most 5 endpoints, 'default' included: remove one of them first",
  })
  expect(await endpointsOf(redis, 'acme')).toHaveLength(5)
  await removeWebhook(redis, 'acme/b')
  await registerWebhook(parts, 'acme/e', request())
  expect(await endpointsOf(redis, 'acme')).toEqual(['default', 'a', 'c', 'd', 'e'])
  expect((await enabledWebhooks(redis)).sort()).toEqual(['acme', 'acme/a', 'acme/c', 'acme/d', 'acme/e'])
  for (const name of ['', 'A', 'a/b', 'ä'])
    expect(await refusalOf(registerWebhook(parts, `acme/${name}`, request()))).toMatchObject({
      code: 'validation_error',
    })
  for (const destination of [...others.slice(2), 'acme', 'acme/a', 'acme'])
    await registerWebhook(parts, destination, request(), byKey(keyId))
  expect(await refusalOf(registerWebhook(parts, 'acme/c', request(), byKey(keyId)))).toMatchObject({
    code: 'rate_limited',
    message: expect.stringMatching(/5 times an hour: try again in (60|59) minutes$/),
  })
})

test('the headers of an endpoint are sealed, sent with its test, kept at the same origin, and lost at another one and after a revocation', async () => {
  const headers = { authorization: 'Bearer of-the-gateway' }
  const set = (more: object = {}) => registerWebhook(parts, 'acme', { ...request(), ...more }, byKey(keyId))
  const kept = async () => (await readAcme())?.headers
  await set({ headers })
  await set()
  expect(await kept()).toEqual(headers)
  expect(await redis.hget('{hw}:webhook:acme', 'headers')).not.toContain('gateway')
  await setSettings(redis, BOX, 'acme', { filter: ['alder'], isPaused: true })
  await set({ url: (await startReceiver()).urlOf('moved') })
  expect(await readAcme()).toMatchObject({ filter: ['alder'], isPaused: true })
  expect(await kept()).toEqual({})
  await set({ headers })
  await issueKey(redis, 'acme', seededBytes('fresh'), NOW_MS)
  await revokeKey(redis, keyId)
  await registerWebhook(parts, 'acme', request())
  expect(await kept()).toEqual({})
})

test('a refused registration leaves the webhook that existed as it was', async () => {
  await register()
  const before = await redis.hgetall('{hw}:webhook:acme')
  answer = (_, response) => void response.writeHead(500).end()
  await refuse(receiver.urlOf('other'))
  expect(await redis.hgetall('{hw}:webhook:acme')).toEqual(before)
})

test('a webhook gets a new secret beside the old one for a day, and at once after a leak', async () => {
  await register()
  const second = await rotateWebhookSecret(parts, 'acme')
  expect((await readAcme())?.secrets).toMatchObject([
    { text: second, expiresAtMs: null },
    { expiresAtMs: NOW_MS + 24 * 3_600_000 },
  ])
  const third = await rotateWebhookSecret(parts, 'acme', 0)
  expect((await readAcme())?.secrets).toEqual([{ text: third, expiresAtMs: null }])
  expect((await refusalOf(rotateWebhookSecret(parts, 'nobody'))).code).toBe('not_found')
})

test('a webhook is set and tested, by a signal that takes the way of every other, for a client that is entitled to nothing, and to it alone', async () => {
  await addClient(redis, 'bolt', [], seededBytes('bolt'))
  for (const client of ['acme', 'bolt']) await registerWebhook(parts, client, request())
  const seq = await fireTest(parts, 'bolt')
  expect(await relayAll(redis, parts.now)).toEqual(['bolt'])
  expect((await readSignal(redis, seq))?.body).toContain('"is_test":true')
})
