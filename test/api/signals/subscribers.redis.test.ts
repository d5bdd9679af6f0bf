// What a client does for itself: its endpoints, its deliveries, and nothing of another client.
import { beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { KEYED_ROUTES } from '#api/signals/routes.ts'
import { issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { logAction, type SubjectState } from '#signals/operators/audit-log.ts'
import { destinationOf } from '#signals/outbox/destination.ts'
import type { DeliveryState } from '#signals/outbox/outbox.ts'
import { fireTest } from '#signals/outbox/test-fire.ts'
import { disableWebhook, readWebhook, removeWebhook, setSettings } from '#signals/outbox/webhooks.ts'
import { hourKeyOf } from '#signals/redis/keys.ts'
import { readNotices } from '#signals/subscribers/notices.ts'
import { casesOf } from '../../support/cases-of.ts'
import { BOX, delivered, failed, readDelivery, relayAll } from '../../support/signals/delivery.ts'
import { settleAs } from '../../support/signals/operator-scene.ts'
import { addClient, fire, NOW_MS, seededBytes, withLostReplies } from '../../support/signals/signals.ts'
import { createTestSignals, pathOf, registerParts } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { refusalOf, storedOf } from './keyed-answers.ts'

const random = seededBytes('subscribers')
const URL = 'https://hooks.example.org/token-of-mine'

let acknowledges: boolean
let token: string
let keyId: string
let service: ReturnType<typeof createTestSignals>

useRedis()
beforeEach(async () => {
  acknowledges = true
  ;({ token, keyId } = await addClient(redis, 'acme', ['alder', 'birch'], random))
  const registering = registerParts(
    redis,
    () => NOW_MS,
    async () => (acknowledges ? delivered() : failed()),
  )
  service = createTestSignals(redis, { registering })
})

async function ask(method: string, path: string, body?: unknown, key = token) {
  const headers = { 'X-API-Key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await service.app.request(path, { method, headers, ...sent })
  expect(service.errors).toEqual([])
  const { status } = response
  if (status >= 400) return { status, ...(await refusalOf(response)) }
  const { data, links } = z
    .looseObject({ data: z.unknown(), links: z.unknown() })
    .parse(await response.json())
  return { status, data, links }
}

const put = (name: string, key = token) => ask('PUT', `/v1/endpoints/${name}`, { url: URL }, key)

test('names of endpoints, ids of keys and numbers of another client are answered on every keyed route as those that do not exist, and change nothing of it', async () => {
  const other = await addClient(redis, 'other', ['cedar'], random)
  await put('default')
  await put('theirs', other.token)
  const ofOther = await fireTest(
    registerParts(redis, () => NOW_MS),
    destinationOf('other', 'theirs'),
  )
  const unseen = await fire(redis, 'c', 'cedar')
  await relayAll(redis, () => NOW_MS)
  const before = await storedOf(redis, 'other')
  acknowledges = false // a registration of the same name is refused for its address alone
  const answers = async (endpoint: string, seq: number, alias: string) => {
    await redis.del(hourKeyOf('registrations')('acme'))
    const found: unknown[] = []
    for (const route of KEYED_ROUTES) {
      const { id, method, path, query, body } = route
      const known = { endpoint, seq: String(seq), alias }
      const named = path.includes('{') ? [pathOf(route, endpoint, seq)] : []
      const asked =
        query === undefined ? [] : Object.entries(known).map(([name, text]) => `${path}?${name}=${text}`)
      const sent = body === undefined ? undefined : { ...(id === 'put_endpoint' ? { url: URL } : {}) }
      for (const each of [...named, ...asked])
        found.push([id, ...Object.values(await ask(method, each, sent))])
      if (id === 'resend') found.push(await ask(method, path, { endpoint, from: seq, to: seq }))
    }
    return JSON.stringify(found)
      .replaceAll(endpoint, 'NAME')
      .replaceAll(/"self":"[^"]+"/g, '')
  }
  for (const seq of [ofOther, unseen])
    expect(await answers('theirs', seq, 'cedar')).toEqual(await answers('nobodys', 999, 'elm'))
  expect(await answers(other.keyId, 999, 'elm')).toEqual(await answers('NoKeyOfX', 999, 'elm'))
  expect(await storedOf(redis, 'other')).toEqual(before)
})

test('an endpoint has a name, a secret and settings of its own, and neither its path nor the values of its headers are shown', async () => {
  await put('default')
  const headers = { authorization: 'Bearer of-mine' }
  const made = await ask('PUT', '/v1/endpoints/backup', { url: URL, headers })
  expect(made).toMatchObject({
    status: 200,
    data: { endpoint: 'backup', secret: expect.stringMatching(/^whsec_/) },
  })
  const change = { filter: ['birch'], expire_entries_after_s: 300, paused: true }
  const shown = { ...change, header_names: ['authorization'], set_by_key: keyId, owed: 0, failures: 0 }
  expect(await ask('PATCH', '/v1/endpoints/backup', change)).toMatchObject({ data: shown })
  const { data } = await ask('GET', '/v1/endpoints')
  expect(data).toMatchObject([
    { endpoint: 'default', filter: null, paused: false },
    { endpoint: 'backup', ...shown },
  ])
  for (const hidden of ['of-mine', 'whsec_']) expect(JSON.stringify(data)).not.toContain(hidden)
  expect(await ask('PATCH', '/v1/endpoints/backup', { filter: null })).toMatchObject({
    data: { filter: null, paused: true, expire_entries_after_s: 300 },
  })
  expect(await readWebhook(redis, BOX, 'acme/backup')).toMatchObject({
    headers,
    filter: null,
    isPaused: true,
  })
  expect(await ask('DELETE', '/v1/endpoints/backup')).toMatchObject({ status: 200, data: null })
  expect((await ask('GET', '/v1/endpoints')).data).toMatchObject([{ endpoint: 'default' }])
  for (const name of ['one', 'two', 'three']) await put(name)
  await redis.del(hourKeyOf('registrations')('acme'))
  await put('four')
  expect(await put('five')).toMatchObject({
    status: 409,
    code: 'conflict',
    message: expect.stringContaining('at most 5'),
  })
})

test.each([
  [{ filter: ['aldr'] }, "you are entitled to, as /v1/whoami lists them; did you mean 'alder'?"],
  [{ filter: [] }, 'filter: expected a list of at least one strategy'],
  [{ expire_entries_after_s: 0 }, 'expire_entries_after_s: expected seconds from 1'],
  [{ headers: { 'x-prev-seq': 'of-mine' } }, "headers: the header 'x-prev-seq' is one of the service"],
  [{ headers: 'of-mine' }, 'headers: expected an object'],
  [{ pause: 'of-mine' }, 'pause: unknown field'],
])(
  'a change of an endpoint is refused with what is wrong with it, and repeats no secret: %j',
  async (change, says) => {
    await put('default')
    const refused = await ask('PATCH', '/v1/endpoints/default', change)
    expect(refused).toMatchObject({ status: 422, message: expect.stringContaining(says) })
    expect(JSON.stringify(refused)).not.toContain('of-mine')
  },
)

test('secrets and headers of an endpoint are chosen by the key that set it, so that none of a revoked key stays', async () => {
  await put('backup')
  const fresh = await issueKey(redis, 'acme', random, NOW_MS)
  const rotate = () => ask('POST', '/v1/endpoints/backup/rotate', {}, fresh.token)
  const setHeaders = () => ask('PATCH', '/v1/endpoints/backup', { headers: {} }, fresh.token)
  for (const refused of [await rotate(), await setHeaders()])
    expect(refused).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('PUT /v1/endpoints/backup'),
    })
  await put('backup', fresh.token)
  expect(await rotate()).toMatchObject({
    data: { secret: expect.stringMatching(/^whsec_/), secrets: [{}, {}] },
  })
  expect(await setHeaders()).toMatchObject({ status: 200 })
})

test('the settings that a revoked key chose stay, are shown with who changed them last, and one notice names the endpoints that have some', async () => {
  for (const name of ['default', 'backup', 'third']) await put(name)
  const fresh = await issueKey(redis, 'acme', random, NOW_MS)
  const patch = (name: string, change: object, key: string) =>
    ask('PATCH', `/v1/endpoints/${name}`, change, key)
  await patch('default', { filter: ['birch'] }, token)
  await patch('backup', { expire_entries_after_s: 60 }, token)
  await patch('backup', { paused: true }, fresh.token)
  const shown = [
    { endpoint: 'default', filter: ['birch'], set_by: keyId, settings_by: keyId },
    { endpoint: 'backup', expire_entries_after_s: 60, paused: true, settings_by: fresh.id },
    { endpoint: 'third', settings_by: null },
  ]
  expect((await ask('GET', '/v1/endpoints')).data).toMatchObject(shown)
  await revokeKey(withLostReplies(redis), keyId)
  expect((await ask('GET', '/v1/endpoints', undefined, fresh.token)).data).toMatchObject(shown)
  const notices = (await readNotices(redis, 'acme')).filter(({ event }) => event === 'key_revoked')
  expect(notices).toMatchObject([
    { endpoint: null, key_id: keyId, reason: expect.stringContaining(' stays: default, backup.') },
  ])
})

test('a test, a resend and a change are refused beyond their number of an hour, and where nothing would be sent', async () => {
  await put('default')
  const fireOne = () => ask('POST', '/v1/endpoints/default/test')
  const resendOne = (more = {}) => ask('POST', '/v1/resend', { from: 1, ...more })
  await setSettings(redis, BOX, 'acme', { isPaused: true })
  expect(await fireOne()).toMatchObject({ code: 'conflict', message: expect.stringContaining('paused') })
  await setSettings(redis, BOX, 'acme', { isPaused: false })
  const goOn = () => ask('PATCH', '/v1/endpoints/default', { paused: false })
  for (const [one, most] of [
    [fireOne, 30],
    [resendOne, 30],
    [goOn, 60],
  ] as const) {
    for (let i = 0; i < most; i++) expect((await one()).status).toBeLessThan(300)
    expect(await one()).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining(`${most} times an hour`),
    })
  }
  expect((await resendOne({ dry_run: true })).status).toBe(200)
  await disableWebhook(redis, 'acme', 'the operator said so')
  for (const refused of [await fireOne(), await resendOne({ endpoint: 'default' }), await resendOne()])
    expect(refused).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('PUT /v1/endpoints/'),
    })
})

test('a resend counts first, and then owes each endpoint what matches: one, a range, or all that failed since a time', async () => {
  await put('default')
  await put('backup')
  await setSettings(redis, BOX, 'acme/backup', { filter: ['birch'] })
  const day = 86_400_000
  for (const [i, alias] of ['alder', 'birch', 'alder', 'birch'].entries())
    await fire(redis, `s${i}`, alias, null, NOW_MS + i * day) // numbers 3 to 6: two tests came before
  await relayAll(redis, () => NOW_MS)
  for (const seq of [3, 4, 5, 6])
    await settleAs(redis, seq, 'acme', seq === 3 || seq === 6 ? 'exhausted' : 'delivered', 2)
  for (const seq of [4, 6]) await settleAs(redis, seq, 'acme/backup', 'exhausted', 2)
  const count = (more: object) => ask('POST', '/v1/resend', { from: 3, dry_run: true, ...more })
  const statusOf = async (seq: number, destination: string) =>
    (await readDelivery(redis, seq, destination))?.status
  const failedSince = { only: 'exhausted', fired_from: '2026-11-22T00:00:05Z' }
  for (const [range, signals] of [
    [{ to: 3 }, 1],
    [{}, 4],
    [{ endpoint: 'backup' }, 2],
    [{ only: 'exhausted' }, 3],
    [failedSince, 2],
  ] as const)
    expect([range, (await count(range)).data]).toEqual([range, { signals, owed_again: 0 }])
  expect(await statusOf(6, 'acme')).toBe('exhausted')
  expect((await count({ ...failedSince, dry_run: false })).data).toEqual({ signals: 2, owed_again: 3 })
  const found = { 'acme 3': 'exhausted', 'acme 6': 'owed', 'acme/backup 4': 'owed' }
  for (const [delivery, status] of Object.entries({
    ...found,
    'acme/backup 6': 'owed',
    'acme 5': 'delivered',
  })) {
    const [destination = '', seq] = delivery.split(' ')
    expect([delivery, await statusOf(Number(seq), destination)]).toEqual([delivery, status])
  }
})

const LATER = new Date(NOW_MS + 60_000).toISOString()

/** What the operator changed after the signal: the client was then as `before`. */
const operatorActed = (before: SubjectState) =>
  logAction(redis, {
    ...{ at: LATER, who: 'jane', action: 'entitle', subject: 'acme', request: {}, outcome: 'done' },
    ...{ before: { tier: 'standard', status: 'active', suspended: false, ...before }, after: null },
  })
const WEBHOOK = { webhook: { enabled: true, waiting: 0 } }

const fireAll = async (): Promise<void> => {
  await fire(redis, 'the one', 'alder')
  await relayAll(redis, () => NOW_MS)
}
const settle = async (status: DeliveryState['status'], attempts: number): Promise<void> => {
  await fireAll()
  await settleAs(redis, 2, 'acme', status, attempts)
}
const NONE = async (): Promise<void> => {}

const disable = () => disableWebhook(redis, 'acme', 'meanwhile')
const fireThen = (before: SubjectState) => () =>
  fireAll().then(() => operatorActed({ ...before, ...WEBHOOK }))
const SUSPENDED = { aliases: ['alder'], status: 'pending', suspended: true } as const

test.each(casesOf<[what: string, before: () => Promise<unknown>, after: () => Promise<unknown>, why: RegExp]>`
delivered -> ${() => settle('delivered', 2)} -> ${NONE} -> ${/^delivered at 2026-11-21T00:00:05.280Z, after 2 attempts$/}
waiting -> ${fireAll} -> ${NONE} -> ${/^waiting: not tried yet, and none is made before 2026-11-21T/}
given up -> ${() => settle('exhausted', 16)} -> ${NONE} -> ${/^given up at \S+ after 16 attempts: .*POST \/v1\/resend/}
expired -> ${() => settle('expired', 0)} -> ${NONE} -> ${/^not sent: it expired/}
paused -> ${() => setSettings(redis, BOX, 'acme', { isPaused: true })} -> ${fireAll} -> ${/^not sent: .*paused/}
filtered -> ${() => setSettings(redis, BOX, 'acme', { filter: ['birch'] })} -> ${fireAll} -> ${/^not sent: .*filter/}
disabled -> ${disable} -> ${fireAll} -> ${/^not sent: .*disabled then$/}
not set -> ${() => removeWebhook(redis, 'acme')} -> ${fireAll} -> ${/^not sent: it had no webhook then/}
not entitled -> ${disable} -> ${fireThen({ aliases: ['birch'] })} -> ${/^not sent: it was not entitled to alder then, and is now$/}
suspended -> ${disable} -> ${fireThen(SUSPENDED)} -> ${/^not sent: its account was suspended then$/}`)(
  'what became of a signal that is %s is one sentence, without the name of an operator',
  async (_, before, after, why) => {
    await put('default')
    await before()
    await after()
    const { data } = await ask('GET', '/v1/deliveries/2')
    expect(data).toMatchObject({
      seq: 2,
      alias: 'alder',
      endpoints: [{ endpoint: 'default', why: expect.stringMatching(why) }],
    })
    expect(JSON.stringify(data)).not.toContain('jane')
  },
)
