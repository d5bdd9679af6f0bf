// What each route answers, and with which headers.
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSignalsApp } from '#api/signals/app.ts'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { dataSchema } from '#core/contract/route.ts'
import { SIGNAL_FIELDS } from '#core/contract/signal.ts'
import { entitleClient, suspendClient } from '#signals/clients/clients.ts'
import { MOST_ACCOUNTED } from '#signals/delivery/account-for.ts'
import { saveWebhook } from '#signals/delivery/webhooks.ts'
import { saveProfile } from '#signals/program/profile.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import { BOX, BY_OPERATOR } from '../../support/signals/delivery.ts'
import { servedProgram } from '../../support/signals/served-program.ts'
import { addClient, fire, NOW_MS, PROGRAM_ALIAS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, requestOf, signalsParts, withKey } from '../../support/signals/signals-app.ts'
import { envelopeOf, refusalOf, rowsOf, SIGNAL } from './keyed-answers.ts'

let server: TestRedis
let redis: Redis
let app: ReturnType<typeof createTestSignals>['app']
let token: string
let keyId: string
let pending: string

beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
  app = createTestSignals(redis).app
  const random = seededBytes('answers')
  ;({ token, keyId } = await addClient(redis, 'acme', ['alder'], random))
  pending = (await addClient(redis, 'late', ['alder'], random)).token
  await suspendClient(redis, 'late')
  for (const id of ['a', 'b']) await fire(redis, id, 'alder')
  await saveWebhook(
    redis,
    BOX,
    { client: 'acme', url: 'https://hooks.example.org/', secrets: [] },
    BY_OPERATOR,
  )
  await entitleClient(redis, 'acme', { program: true }, PROGRAM_ALIAS)
  await saveProfile(redis, 'acme', { equity_usd: 5_000, contribution_cadence_bars: 14 }, NOW_MS)
})
afterAll(() => server.stop())

const get = async (path: string, key = token): Promise<Response> => app.request(path, withKey(key))

describe('whoami', () => {
  test('is bare, and names the client, its entitlements and the key', async () => {
    expect(await (await get('/v1/whoami')).json()).toEqual({
      client_id: 'acme',
      tier: 'standard',
      status: 'active',
      entitlements: { aliases: ['alder'], [PROGRAM_ALIAS]: true },
      key_id: keyId,
    })
    expect(await (await get('/v1/whoami', pending)).json()).toMatchObject({
      client_id: 'late',
      status: 'pending',
    })
  })

  test('names the flag after the program that is served, and `accumulation` where none is', async () => {
    for (const alias of ['stacker', null]) {
      const program = alias === null ? null : servedProgram({ alias })
      const other = createTestSignals(redis, { program: () => program }).app
      const answer: unknown = await (await other.request('/v1/whoami', withKey(token))).json()
      const entitlements = { aliases: ['alder'], [alias ?? 'accumulation']: true }
      expect(z.looseObject({ entitlements: z.unknown() }).parse(answer).entitlements).toEqual(entitlements)
    }
  })
})

describe('the newest signal', () => {
  test('is in the envelope, with the moment and links', async () => {
    const { data, meta, links } = await envelopeOf(await get('/v1/signals/latest'))
    expect(SIGNAL.parse(data)).toMatchObject({ seq: 2, alias: 'alder' })
    expect(meta).toEqual({ generated_utc: '2026-11-21T00:00:05Z', timing_ms: 0, basis: 'live' })
    expect(links).toEqual({ self: '/v1/signals/latest', history: '/v1/signals/history' })
  })
})

describe('the head', () => {
  test('has the newest number of this client and of the log, the epoch and the time', async () => {
    await fire(redis, 'hidden', 'birch')
    expect((await envelopeOf(await get('/v1/signals/head'))).data).toEqual({
      seq: 2,
      log_seq: 3,
      epoch: 'first-epoch',
      server_time: '2026-11-21T00:00:05.000Z',
    })
  })
})

describe('the account', () => {
  test('lists what a webhook acknowledged and what not, with a digest that the history gives as well', async () => {
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
      sha256: createHash('sha256').update(lines.join('')).digest('hex'),
    })
    expect(links).toEqual({ self: '/v1/signals/account?from=1', history: '/v1/signals/history' })
  })

  test('is refused over numbers that are none, or too many, with what is wrong of each', async () => {
    const both = await refusalOf(await get('/v1/signals/account?from=0&to=x'))
    expect(both).toMatchObject({ code: 'validation_error', details: [{ param: 'from' }, { param: 'to' }] })
    for (const query of ['from=3&to=2', `from=1&to=${MOST_ACCOUNTED + 1}`, 'from=1&from=2'])
      expect((await get(`/v1/signals/account?${query}`)).status).toBe(422)
  })
})

describe('the schema', () => {
  const document = async () =>
    z
      .looseObject({
        $schema: z.string(),
        $id: z.string(),
        required: z.array(z.string()),
        properties: z.record(z.string(), z.looseObject({ type: z.string() })),
      })
      .parse((await envelopeOf(await get('/v1/signals/schema'))).data)

  test('is JSON Schema 2020-12 under its own address, with the twelve fields of the specification', async () => {
    const { $schema, $id, required, properties } = await document()
    expect($schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect($id).toBe('https://signals.example.org/v1/signals/schema')
    expect(required).toEqual(Object.keys(SIGNAL.shape))
    expect(required).toEqual(SIGNAL_FIELDS)
    expect(
      Object.values(properties)
        .map(({ type }) => type)
        .join(' '),
    ).toBe('string string integer string string boolean string number number number string number')
    expect(properties.mode).toMatchObject({ enum: ['LIVE', 'DRY_RUN'] })
    expect(properties.action).toMatchObject({ enum: ['long', 'short', 'flat'] })
  })

  test('takes every signal that is pulled, also with fields of tomorrow, and none that lacks one', async () => {
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
    for (const field of SIGNAL_FIELDS) expect(validate({ ...row, [field]: undefined })).toBe(false)
  })
})

describe('the process', () => {
  test('says that it leaves, and answers on', async () => {
    const leaving = createTestSignals(redis, { isDraining: () => true }).app
    const response = await leaving.request('/readyz')
    expect(response.status).toBe(503)
    expect(await refusalOf(response)).toMatchObject({
      code: 'not_ready',
      details: { checks: { redis: true } },
    })
    expect((await leaving.request('/v1/whoami', withKey(token))).status).toBe(200)
  })
})

/** The preview may be kept for a minute, and read by pages: it has tests of its own. */
const NO_PREVIEW = SIGNALS_ROUTES.filter(({ group }) => group !== 'preview')

// Last: a registration among them fires a test.
describe('every route', () => {
  test.each(SIGNALS_ROUTES)(
    '$method $path answers what its schema says, in its envelope or bare',
    async route => {
      const response = await app.request(route.path, requestOf(route, token))
      if (route.isBare) expect(dataSchema(route).safeParse(await response.json()).error).toBeUndefined()
      else expect(dataSchema(route).safeParse((await envelopeOf(response)).data).error).toBeUndefined()
    },
  )

  test.each(NO_PREVIEW)('$method $path is kept by no cache and shown to no page', async route => {
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
    const allow = [
      ...here.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
      'OPTIONS',
    ].join(', ')
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

  test.each(NO_PREVIEW.filter(({ method }) => method === 'GET'))(
    'HEAD $path has the headers of GET and no body',
    async ({ path }) => {
      const head = await app.request(path, withKey(token, 'HEAD'))
      expect([head.status, await head.text()]).toEqual([200, ''])
      expect([...head.headers]).toEqual([...(await get(path)).headers])
    },
  )

  test('has its expiry if the operator has set a date', async () => {
    const { parts } = signalsParts(redis)
    const settings = { ...parts.settings, deprecatedAtMs: NOW_MS, sunsetAtMs: NOW_MS + 86_400_000 }
    const response = await createSignalsApp({ ...parts, settings }).request('/v1/whoami', withKey(token))
    expect(response.headers.get('deprecation')).toBe(`@${NOW_MS / 1000}`)
    expect(response.headers.get('sunset')).toBe('Sun, 22 Nov 2026 00:00:05 GMT')
  })
})
