// What each route answers and refuses, in which order, and with which headers.
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createSignalsApp } from '#api/signals/app.ts'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { SIGNAL_FIELDS } from '#core/contract/signal.ts'
import { entitleClient, suspendClient } from '#signals/clients/clients.ts'
import { MOST_ACCOUNTED } from '#signals/outbox/resend.ts'
import { saveProfile } from '#signals/program/profile.ts'
import { sharedRedis } from '../../support/servers/use-redis.ts'
import { addEndpoint } from '../../support/signals/delivery.ts'
import { servedProgram } from '../../support/signals/served-program.ts'
import { addClient, fire, NOW_MS, PROGRAM_ALIAS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, requestOf, signalsParts, withKey } from '../../support/signals/signals-app.ts'
import { envelopeOf, refusalOf, rowsOf, SIGNAL } from './keyed-answers.ts'

let redis: Redis
let app: ReturnType<typeof createTestSignals>['app']
let token: string
let keyId: string
let pending: string

beforeAll(async () => {
  redis = await (await sharedRedis()).connect()
  await redis.flushall()
  app = createTestSignals(redis).app
  const random = seededBytes('answers')
  ;({ token, keyId } = await addClient(redis, 'acme', ['alder'], random))
  pending = (await addClient(redis, 'late', ['alder'], random)).token
  await suspendClient(redis, 'late')
  for (const id of ['a', 'b']) await fire(redis, id, 'alder')
  await addEndpoint(redis, 'acme', 'https://hooks.example.org/')
  await entitleClient(redis, 'acme', { program: true }, PROGRAM_ALIAS)
  await saveProfile(redis, 'acme', { equity_usd: 5_000, contribution_cadence_bars: 14 }, NOW_MS)
})

const get = async (path: string, key = token): Promise<Response> => app.request(path, withKey(key))

test('whoami is bare, and names the client, its entitlements and the key', async () => {
  expect(await (await get('/v1/whoami')).json()).toEqual({
    client_id: 'acme',
    tier: 'standard',
    status: 'active',
    entitlements: { aliases: ['alder'], [PROGRAM_ALIAS]: true },
    key_id: keyId,
  })
  const late = { client_id: 'late', status: 'pending' }
  expect(await (await get('/v1/whoami', pending)).json()).toMatchObject(late)
})

test('whoami names the flag of the program after the one that is served, and `accumulation` if none is', async () => {
  for (const alias of ['stacker', null]) {
    const program = alias === null ? null : servedProgram({ alias })
    const other = createTestSignals(redis, { program: () => program }).app
    const answer: unknown = await (await other.request('/v1/whoami', withKey(token))).json()
    const entitlements = { aliases: ['alder'], [alias ?? 'accumulation']: true }
    expect(z.looseObject({ entitlements: z.unknown() }).parse(answer).entitlements).toEqual(entitlements)
  }
})

test('the account lists what a webhook acknowledged and what not, with a digest that the history gives as well', async () => {
  const rows = await rowsOf(await get('/v1/signals/history'))
  const lines = rows.map(({ seq, signal_id }) => `${seq} ${signal_id}\n`)
  const { data, links } = await envelopeOf(await get('/v1/signals/account?from=1'))
  expect(data).toEqual({
    from: 1,
    to: 2,
    entitled: 2,
    delivered: 0,
    missing: [1, 2],
    owed: [],
    exhausted: [],
    withdrawn: [],
    expired: [],
    sha256: createHash('sha256').update(lines.join('')).digest('hex'),
  })
  expect(links).toEqual({ self: '/v1/signals/account?from=1', history: '/v1/signals/history' })
})

test('the account is refused over numbers that are none, or too many, with what is wrong of each', async () => {
  const both = await refusalOf(await get('/v1/signals/account?from=0&to=x'))
  expect(both).toMatchObject({ code: 'validation_error', details: [{ param: 'from' }, { param: 'to' }] })
  for (const query of ['from=3&to=2', `from=1&to=${MOST_ACCOUNTED + 1}`, 'from=1&from=2'])
    expect((await get(`/v1/signals/account?${query}`)).status).toBe(422)
})

const document = async () =>
  z
    .looseObject({
      $schema: z.string(),
      $id: z.string(),
      required: z.array(z.string()),
      properties: z.record(z.string(), z.looseObject({ type: z.string() })),
    })
    .parse((await envelopeOf(await get('/v1/signals/schema'))).data)

test('the schema is JSON Schema 2020-12 under its own address: it requires the twelve fields of the specification, and knows who decided and why', async () => {
  const { $schema, $id, required, properties } = await document()
  expect($schema).toBe('https://json-schema.org/draft/2020-12/schema')
  expect($id).toBe('https://signals.example.org/v1/signals/schema')
  expect(SIGNAL_FIELDS).toEqual(Object.keys(SIGNAL.shape))
  expect(required).toEqual(SIGNAL_FIELDS.slice(0, 12))
  expect(Object.keys(properties)).toEqual(SIGNAL_FIELDS)
  const types = Object.values(properties).map(({ type }) => type)
  const prices = 'number number number'
  const others = 'string string integer string string boolean string'
  expect(types.join(' ')).toBe(`${others} ${prices} string number string string`)
  expect(properties.mode).toMatchObject({ enum: ['LIVE', 'DRY_RUN'] })
  expect(properties.action).toMatchObject({ enum: ['long', 'short', 'flat'] })
})

test('the schema takes every signal that is pulled, also with unknown fields, and none that lacks one', async () => {
  const schema = z.fromJSONSchema((await document()) as z.core.JSONSchema.JSONSchema) // what it is, is tested above
  const validate = (value: unknown): boolean => schema.safeParse(value).success
  const [row] = await rowsOf(await get('/v1/signals/history'))
  expect(validate(row)).toBe(true)
  expect(validate({ ...row, colour: 'red' })).toBe(true)
  expect(validate({ ...row, action: 'hold' })).toBe(false)
  expect(validate({ ...row, seq: 1.5 })).toBe(false)
  expect(validate({ ...row, timestamp: 'yesterday' })).toBe(false)
  for (const field of ['signal_price', 'stop'])
    for (const price of [-1, 0]) expect(validate({ ...row, [field]: price })).toBe(false)
  expect(validate({ ...row, base_risk_pct: 2 })).toBe(false)
  expect(validate({ ...row, base_risk_pct: -0.02 })).toBe(false)
  expect(validate({ ...row, implied_leverage: -1 })).toBe(false)
  for (const field of SIGNAL_FIELDS)
    expect(validate({ ...row, [field]: undefined })).toBe(['by', 'why'].includes(field))
})

test('a process that is about to end says so on /readyz, and answers on', async () => {
  const leaving = createTestSignals(redis, { isDraining: () => true }).app
  const response = await leaving.request('/readyz')
  expect(response.status).toBe(503)
  expect(await refusalOf(response)).toMatchObject({
    code: 'not_ready',
    details: { checks: { redis: true } },
  })
  expect((await leaving.request('/v1/whoami', withKey(token))).status).toBe(200)
})

test('a keyed request is refused for the first of its faults, in the order of the contract', async () => {
  const long = `colour=${'x'.repeat(9_000)}`
  const codeOf = async (path: string, init?: RequestInit) =>
    (await refusalOf(await app.request(path, init))).code
  expect(await codeOf(`/v1/signals?${long}`)).toBe('not_found')
  expect(await codeOf(`/v1/signals/history?${long}`, { method: 'PUT' })).toBe('method_not_allowed')
  expect(await codeOf(`/v1/signals/history?${long}`)).toBe('uri_too_long')
  expect(await codeOf('/v1/signals/history?since=x')).toBe('unauthorized')
  expect(await codeOf('/v1/signals/history?since=x', withKey(pending))).toBe('account_not_active')
  expect(await codeOf('/v1/signals/history?since=x', withKey(token))).toBe('validation_error')
})

test('the refusal of a missing key says where it belongs, and that of a wrong one does not say what is wrong', async () => {
  const missing = await app.request('/v1/whoami')
  expect(missing.headers.get('www-authenticate')).toBe('ApiKey header="X-API-Key"')
  expect((await refusalOf(missing)).message).toContain('X-API-Key')
  const malformed = await refusalOf(await get('/v1/whoami', 'nonsense'))
  expect(await refusalOf(await get('/v1/whoami', `${token.slice(0, -1)}_`))).toEqual(malformed)
})

test('a key in the address is neither accepted nor repeated', async () => {
  for (const name of ['X-API-Key', 'x-api-key', 'api_key', 'key', 'token']) {
    const response = await app.request(`/v1/signals/history?${name}=${token}`)
    expect(response.status).toBe(401)
    expect(await response.text()).not.toContain(token.slice(17, 60))
  }
  const answered = await get(`/v1/signals/history?api_key=${token}`)
  expect(answered.status).toBe(200)
  expect(await answered.text()).not.toContain(token.slice(17, 60))
})

test('the refusal of a query names every problem at once', async () => {
  const response = await get('/v1/signals/history?since=-1&limit=0&format=xml')
  expect(response.status).toBe(422)
  expect((await refusalOf(response)).details).toEqual([
    { param: 'since', value: '-1', reason: 'must be a whole number from 0 to 9007199254740991' },
    { param: 'limit', value: '0', reason: 'must be a whole number from 1 to 10000' },
    { param: 'format', value: 'xml', reason: 'must be one of json, csv', allowed: ['json', 'csv'] },
  ])
})

test.each([
  ...['', ' 1', '+1', '1.5', '1e3', '0x1', 'NaN', '9007199254740992', '1'.repeat(400)].map(
    value => `since=${value}`,
  ),
  ...['', '10001', '-5', '1.0'].map(value => `limit=${value}`),
  ...['', 'JSON', 'arrow'].map(value => `format=${value}`),
  'since=1&since=1',
  'limit=1&limit=2',
  'format=csv&format=csv',
])('the history answers 422 to the query ?%s', async query => {
  const response = await get(`/v1/signals/history?${query.replaceAll('+', '%2B')}`)
  expect([response.status, (await refusalOf(response)).code]).toEqual([422, 'validation_error'])
})

test('unknown paths answer 404 with and without a key', async () => {
  for (const path of ['/v1', '/v1/signals', '/v1/signals/1', '/v1/whoami/', '/v2/whoami', '/v1/strategies']) {
    expect((await refusalOf(await app.request(path))).code).toBe('not_found')
    expect((await refusalOf(await get(path))).code).toBe('not_found')
  }
})

/** The preview may be kept for a minute, and read by pages: it has tests of its own. */
const NO_PREVIEW = SIGNALS_ROUTES.filter(({ group }) => group !== 'preview')

// Last: a registration among them fires a test.
test.each(NO_PREVIEW)('$method $path is kept by no cache and shown to no foreign page', async route => {
  const request = new Request(`http://localhost${route.path}`, requestOf(route, token))
  request.headers.set('origin', 'http://localhost:5173')
  const { headers } = await app.request(request)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
  expect(headers.get('content-length')).toMatch(/^\d+$/)
})

test.each(SIGNALS_ROUTES)('$method $path refuses other methods before it asks for a key', async route => {
  const here = SIGNALS_ROUTES.filter(({ path }) => path === route.path).map(({ method }) => method)
  const allow = [...here.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(
    ', ',
  )
  const others = (['DELETE', 'PATCH', 'PUT', 'POST', 'GET'] as const).filter(
    method => !here.some(one => one === method),
  )
  for (const method of others) {
    const response = await app.request(route.path, { method })
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, allow])
    expect((await refusalOf(response)).code).toBe('method_not_allowed')
  }
  const options = await app.request(route.path, {
    method: 'OPTIONS',
    headers: { origin: 'http://localhost:5173' },
  })
  expect([options.status, options.headers.get('allow')]).toEqual([204, allow])
  expect(options.headers.get('access-control-allow-origin')).toBeNull()
})

test('an answer has the deprecation and the sunset that the operator has set', async () => {
  const { parts } = signalsParts(redis)
  const settings = { ...parts.settings, deprecatedAtMs: NOW_MS, sunsetAtMs: NOW_MS + 86_400_000 }
  const response = await createSignalsApp({ ...parts, settings }).request('/v1/whoami', withKey(token))
  expect(response.headers.get('deprecation')).toBe(`@${NOW_MS / 1000}`)
  expect(response.headers.get('sunset')).toBe('Sun, 22 Nov 2026 00:00:05 GMT')
})
