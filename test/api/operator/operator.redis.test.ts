// The operator's interface on a real Redis: who may ask, what is fired once, and what is refused.
import { beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { OperatorParts } from '#api/operator/exchange.ts'
import { OPERATOR_ROUTES } from '#api/operator/routes.ts'
import { toIsoInstant } from '#core/calendar.ts'
import { commit } from '#signals/log/commit.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { owe } from '#signals/outbox/outbox.ts'
import { liveKey, WEBHOOKS, waitingKey } from '#signals/redis/keys.ts'
import { operatorBrowser, operatorClient, operatorParts, TOKEN } from '../../support/signals/operator.ts'
import { redis, server, useOwnRedis } from '../../support/signals/own-redis.ts'
import {
  addClient,
  fire,
  NOW_MS,
  PROGRAM_ALIAS,
  seededBytes,
  signalContent,
} from '../../support/signals/signals.ts'
import { entryOf } from '../../support/signals/signals-process.ts'

useOwnRedis()

/** The clock of a fire must agree with that of Redis. */
const ask = (now = () => Date.now(), more: Partial<OperatorParts> = {}) =>
  operatorClient(operatorParts(redis, { clock: { now, elapsed: () => 0 }, ...more }))

let timestamp: string
let request: ReturnType<typeof ask>
beforeEach(() => {
  timestamp = toIsoInstant(Date.now())
  request = ask()
})

const entry = (id: string, more: Record<string, unknown> = {}) => entryOf(id, 'alder', { timestamp, ...more })

test.each(OPERATOR_ROUTES)(
  'the route $method $path is refused without the token, with another one, with a cookie, and for another host',
  async ({ method, path }) => {
    const wrong = [{ authorization: '' }, { authorization: `Bearer ${TOKEN}x` }, { authorization: TOKEN }]
    for (const headers of [...wrong, { authorization: '', cookie: `highwater_ops=${TOKEN}` }]) {
      const { status, json } = await request(method, path, undefined, headers)
      expect([status, json]).toMatchObject([401, { error: { code: 'unauthorized' }, meta: {} }])
    }
    const rebound = await request(method, path, undefined, { host: 'evil.example.org' })
    expect(rebound.json).toMatchObject({ error: { code: 'forbidden' } })
  },
)

test('a route of the operator refuses an unknown method, and names those that it has', async () => {
  const { status, headers } = await request('DELETE', '/ops/signals')
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
})

test('a signal is fired once: 201 with a new number, then 200 with the same, 409 for another content, and its leverage is computed', async () => {
  const first = await request('POST', '/ops/signals', entry('a'))
  const data = { seq: 1, repeated: false, implied_leverage: 1 }
  expect([first.status, first.json]).toMatchObject([201, { data }])
  const again = await request('POST', '/ops/signals', entry('a'))
  expect([again.status, again.json]).toMatchObject([200, { data: { seq: 1, repeated: true } }])
  expect(await readAfter(redis, 0, 10)).toHaveLength(1)
  const { status, json } = await request('POST', '/ops/signals', entry('a', { stop: 48_000 }))
  expect([status, json]).toMatchObject([409, { error: { code: 'conflict' } }])
  expect(await readAfter(redis, 0, 10)).toHaveLength(1)
})

test.each<[number, string, Record<string, string>]>([
  [400, '{"signal_id":', {}],
  [413, `"${'x'.repeat(300_000)}"`, {}],
  [415, '{}', { 'content-type': 'text/plain' }],
  [422, '[]', {}],
  [422, 'null', {}],
  [422, '"text"', {}],
])('a fire is refused with %i in the envelope if its body is %.14s', async (expected, body, headers) => {
  const { status, json } = await request('POST', '/ops/signals', body, headers)
  expect([status, json]).toMatchObject([expected, { error: { message: expect.any(String) }, meta: {} }])
  expect(await readAfter(redis, 0, 10)).toEqual([])
})

test('no entry of a halted strategy is fired, but its flat is, and the answer for what was fired before is repeated', async () => {
  await request('POST', '/ops/signals', entry('before'))
  await request('POST', '/ops/live/halt', { alias: 'alder' })
  expect((await request('POST', '/ops/signals', entry('entry'))).status).toBe(409)
  expect((await request('POST', '/ops/signals', entry('before'))).status).toBe(200)
  const flat = entry('flat', { action: 'flat', base_risk_pct: 0 })
  expect((await request('POST', '/ops/signals', flat)).status).toBe(201)
  expect((await request('POST', '/ops/signals', entry('other', { alias: 'birch' }))).status).toBe(201)
  await request('POST', '/ops/live/resume', { alias: 'alder' })
  expect((await request('POST', '/ops/signals', entry('entry'))).status).toBe(201)
})

test('a LIVE entry is fired only within five minutes of its timestamp, and the answer for what was fired then is repeated', async () => {
  const old = { timestamp: toIsoInstant(Date.now() - 301_000) }
  for (const more of [old, { timestamp: '2020-01-01T00:00:00Z' }])
    expect(await request('POST', '/ops/signals', entry('late', more))).toMatchObject({
      status: 422,
      json: { error: { details: [{ param: 'timestamp', reason: expect.stringContaining('DRY_RUN') }] } },
    })
  expect(await readAfter(redis, 0, 10)).toEqual([])
  const dry = await request('POST', '/ops/signals', entry('dry', { ...old, mode: 'DRY_RUN' }))
  const exit = entry('flat', { ...old, action: 'flat', base_risk_pct: 0 })
  const flat = await request('POST', '/ops/signals', exit)
  expect([dry.status, flat.status]).toEqual([201, 201])

  await commit(redis, [{ content: signalContent('then', old), onlyFor: null }], Date.now() - 300_000)
  const again = await request('POST', '/ops/signals', entry('then', old))
  expect(again.json).toMatchObject({ data: { seq: 3, repeated: true } })
  expect((await request('POST', '/ops/signals', entry('then', { ...old, stop: 48_000 }))).status).toBe(409)
  const next = ask(Date.now, { aliases: () => new Set(), baseRiskOf: () => 0.03 }) // another version is served since
  expect((await next('POST', '/ops/signals', entry('then', old))).status).toBe(200)
})

test('what a live runner fires is fired by hand with by_hand alone, and the signal and the state of the strategy show it', async () => {
  await redis.hset(liveKey('alder'), { cursor: NOW_MS })
  const flat = entry('a', { action: 'flat', base_risk_pct: 0 })
  expect(await request('POST', '/ops/signals', flat)).toMatchObject({
    status: 422,
    json: { error: { details: [{ param: 'by_hand', reason: expect.stringContaining('--by-hand') }] } },
  })
  expect(await readAfter(redis, 0, 10)).toEqual([])
  expect((await request('POST', '/ops/signals', { ...flat, by_hand: true })).status).toBe(201)
  expect((await request('POST', '/ops/signals', flat)).status).toBe(200) // it was fired before
  expect((await readAfter(redis, 0, 10))[0]?.body).toContain('"by":"operator:operator","why":"operator"}')
  const live = (by_hand: number | null) => ({ data: { strategies: [{ alias: 'alder', by_hand }] } })
  expect((await request('GET', '/ops/live')).json).toMatchObject(live(1))
  await fire(redis, 'b', 'alder')
  expect((await request('GET', '/ops/live')).json).toMatchObject(live(null))
})

test('nothing is fired by a clock that differs from that of Redis', async () => {
  const late = ask(() => Date.now() - 60_000)
  const dry = entry('a', { mode: 'DRY_RUN', timestamp: '2026-11-21T00:00:00Z' })
  const { status, json } = await late('POST', '/ops/signals', dry)
  expect([status, json]).toMatchObject([503, { error: { message: expect.stringContaining('clock') } }])
})

test('a fire while Redis is away says that its outcome is unknown, and the page that Redis does not answer; the same id fires once when it is back', async () => {
  const page = operatorBrowser(operatorParts(redis))
  await page.logIn()
  await server.kill()
  const away = await request('POST', '/ops/signals', entry('a'))
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5'])
  expect(away.json).toMatchObject({ error: { message: 'outcome unknown: send the same signal_id again' } })
  const { status, text } = await page.get('/ops')
  expect([status, text]).toEqual([503, expect.stringContaining('Redis does not answer')])
  await server.restart()
  await expect.poll(async () => (await request('POST', '/ops/signals', entry('a'))).status).toBe(201)
  expect(await readAfter(redis, 0, 10)).toHaveLength(1)
  expect((await page.get('/ops')).status).toBe(200)
})

test('a client is added whole or not at all, so that a corrected request is accepted, and once', async () => {
  const whole = { id: 'acme', aliases: ['birch', 'alder'], activate: true }
  for (const wrong of ['Not An Alias', PROGRAM_ALIAS]) {
    const refused = await request('POST', '/ops/clients', { ...whole, aliases: ['alder', wrong] })
    expect(refused).toMatchObject({ status: 422, json: { error: { code: 'validation_error' } } })
  }
  expect((await request('GET', '/ops/clients/acme')).status).toBe(404)
  expect(await request('POST', '/ops/clients', whole)).toMatchObject({
    status: 201,
    json: { data: { status: 'active', aliases: ['alder', 'birch'], program: false } },
  })
  expect((await ask(() => Date.now() + 60_000)('POST', '/ops/clients', { id: 'acme' })).status).toBe(409)
  expect((await request('GET', '/ops/clients/acme')).json).toMatchObject({
    data: { keys: [], webhook: null, deliveries: [] },
  })
})

test('a client may be entitled to what is not served, with a warning that names it', async () => {
  const warning = "no strategy that is served now has the alias aldr (did you mean 'alder'?)"
  const added = await request('POST', '/ops/clients', { id: 'acme', aliases: ['alder', 'aldr'] })
  expect(added).toMatchObject({ status: 201, json: { data: { aliases: ['alder', 'aldr'], warning } } })
  const path = '/ops/clients/acme/entitlements'
  expect((await request('POST', path, { add: ['aldr'] })).json).toMatchObject({ data: { warning } })
  for (const change of [{ add: ['birch'] }, { remove: ['aldr'] }])
    expect((await request('POST', path, change)).text).not.toContain('warning')
})

test('a test fire needs a webhook that is enabled, and says why it is not', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  expect((await request('POST', '/ops/clients/acme/test')).status).toBe(404)
  const url = 'https://hooks.example.org/in'
  const set = await request('PUT', '/ops/clients/acme/webhook', { url })
  expect(set.json).toMatchObject({ data: { webhook: { url, enabled: true } } })
  const disabled = await request('POST', '/ops/clients/acme/webhook/disable', { why: 'maintenance' })
  expect(disabled.json).toMatchObject({ data: { enabled: false, disabled_why: 'maintenance' } })
  expect(await redis.smembers(WEBHOOKS)).toEqual([])
  expect((await request('POST', '/ops/clients/acme/test')).json).toMatchObject({
    error: { code: 'conflict', message: expect.stringContaining('is disabled (maintenance): enable it') },
  })
  expect((await request('DELETE', '/ops/clients/acme/webhook')).status).toBe(200)
  expect((await request('GET', '/ops/clients/acme/webhook')).status).toBe(404)
})

test('deliveries are listed by strategy and by the time of their signal', async () => {
  for (const [id, alias, atMs] of [
    ['a', 'alder', NOW_MS - 7_200_000],
    ['b', 'birch', NOW_MS - 3_600_000],
    ['c', 'alder', NOW_MS],
  ] as const) {
    const seq = await fire(redis, id, alias, null, atMs)
    await owe(redis, [{ destination: 'acme', signals: [{ seq, prev: 0 }] }], atMs)
  }
  const listed = async (query: string) =>
    z
      .object({ data: z.array(z.object({ seq: z.number() })) })
      .parse((await request('GET', `/ops/deliveries?${query}`)).json)
      .data.map(({ seq }) => seq)
  expect(await listed('alias=alder')).toEqual([3, 1])
  const at = (ms: number) => new Date(NOW_MS - ms).toISOString().replace('.000', '')
  expect(await listed(`fired_from=${at(3_600_000)}`)).toEqual([3, 2])
  expect(await listed(`fired_to=${at(3_600_000)}`)).toEqual([2, 1])
  expect(await listed(`alias=alder&fired_to=${at(1_000)}`)).toEqual([1])
  expect((await request('GET', '/ops/deliveries?fired_to=yesterday')).status).toBe(422)
})

test('deliveries are listed by signal, by client and by status, newest first, page by page, each that waits with the time of its next attempt', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  for (const id of ['a', 'b', 'c']) {
    const seq = await fire(redis, id, 'alder')
    const signals = [{ seq, prev: seq - 1 }]
    await owe(
      redis,
      ['acme', 'zeta'].map(destination => ({ destination, signals })),
      NOW_MS,
    )
  }
  const one = await request('GET', '/ops/signals/2')
  expect(one.json).toMatchObject({
    data: {
      signal: { signal_id: 'b' },
      deliveries: [{ client: 'acme', prev_seq: 1, latency_ms: null }, { client: 'zeta' }],
    },
  })
  await redis.zadd(waitingKey('acme'), NOW_MS + 90_000, '2')
  const waits = { client: 'acme', seq: 2, next_attempt_at: '2026-11-21T00:01:35.000Z' }
  const second = await request('GET', '/ops/deliveries?seq=2')
  expect(second.json).toMatchObject({ data: [waits, { seq: 2 }], meta: { next: null } })
  const mine = await request('GET', '/ops/deliveries?client=acme&status=owed&limit=2')
  expect(mine.json).toMatchObject({ data: [{ seq: 3 }, { seq: 2 }], meta: { next: 2 } })
  const rest = await request('GET', '/ops/deliveries?client=acme&before=2')
  expect(rest.json).toMatchObject({ data: [{ seq: 1 }], meta: { next: null } })
  expect((await request('GET', '/ops/deliveries?status=delivered')).json).toMatchObject({ data: [] })
  expect((await request('GET', '/ops/signals?limit=1')).json).toMatchObject({
    data: [{ seq: 3, deliveries: { owed: 2 } }],
    meta: { next: 3 },
  })
  expect((await request('GET', '/ops/signals/2/acme')).json).toMatchObject({ data: { attempts: [] } })
  expect((await request('GET', '/ops/signals/2/nobody')).status).toBe(404)
  expect((await request('GET', '/ops/signals/9')).status).toBe(404)
  expect((await request('GET', '/ops/signals/x')).status).toBe(422)
  expect((await request('GET', '/ops/deliveries?status=lost&limit=0')).json).toMatchObject({
    error: { details: [{ param: 'status' }, { param: 'limit' }] },
  })
})

test.each(['/ops/signals', '/ops/deliveries', '/ops/deliveries?client=acme'])(
  'the list %s begins before the number that is asked for, which is at least 1',
  async path => {
    await fire(redis, 'a', 'alder')
    const olderThan = (seq: number) => request('GET', `${path}${path.includes('?') ? '&' : '?'}before=${seq}`)
    expect(await olderThan(0)).toMatchObject({
      status: 422,
      json: { error: { details: [{ param: 'before', reason: expect.stringContaining('from 1') }] } },
    })
    expect(await olderThan(1)).toMatchObject({ status: 200, json: { data: [], meta: { next: null } } })
  },
)

test('a signal is fired from the page once it is confirmed, once however often that is sent, by a token that may fire its strategy', async () => {
  const { json } = await request('POST', '/ops/tokens', { name: 'desk', scopes: ['read', 'fire:birch'] })
  const { token } = z.object({ data: z.object({ token: z.string() }) }).parse(json).data
  const page = operatorBrowser(operatorParts(redis, { clock: { now: Date.now, elapsed: () => 0 } }))
  await page.logIn(token)
  const { csrf, text } = await page.get('/ops/view/signals')
  expect(text.match(/<option value="(?:alder|birch)"/g)).toEqual(['<option value="birch"'])
  const entered = { alias: 'birch', action: 'long', signal_price: '50', stop: '49', base_risk_pct: '0.02' }
  const asked = await page.post('/ops/view/signals', { csrf, ...entered, signal_id: '', timestamp: '' })
  expect(asked.text).toContain('<h1>Fire a LIVE long of birch?</h1>')
  expect(await readAfter(redis, 0, 10)).toEqual([])
  const inputs = asked.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)
  const confirmed = Object.fromEntries(Array.from(inputs, ([, name = '', value = '']) => [name, value]))
  const fired = async () => (await page.post('/ops/view/signals', confirmed)).headers.get('location')
  for (const _ of [1, 2]) expect(await fired()).toBe('/ops/view/signals/1?note=fire')
  expect((await page.post('/ops/view/signals', { ...confirmed, alias: 'alder' })).status).toBe(403)
  expect(await readAfter(redis, 0, 10)).toHaveLength(1)
})
