// What the program's routes refuse: the order, and every bad input with its sentence; nothing is stored of it.
import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { profileKey } from '#signals/redis/keys.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { addEntitled, programClient } from '../../support/signals/program-client.ts'
import { addClient, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'
import { refusalOf } from './keyed-answers.ts'

type Client = ReturnType<typeof programClient>

let redis: Redis
let client: Client
let stranger: Client
let unentitled: Client

useTestRedis(connected => {
  redis = connected
})
beforeEach(async () => {
  const { app } = createTestSignals(redis)
  client = programClient(app, await addEntitled(redis, 'acme'))
  unentitled = programClient(app, (await addClient(redis, 'other', ['alder'], seededBytes('other'))).token)
  stranger = programClient(app, '')
})

const JSON_TYPE = { 'content-type': 'application/json' }

const BODIES = [
  ['PUT', '/v1/program/profile'],
  ['POST', '/v1/program/simulate'],
  ['POST', '/v1/program/preview/simulate'],
] as const

const codeOf = async (response: Response) => (await refusalOf(response)).code

describe('the order of refusals', () => {
  test.each(['/basket?view=x', '/deploys?since=x', '/performance?benchmark=x'])(
    'of %s: address, key, entitlement, and the query last',
    async path => {
      const at = `/v1/program${path}`
      expect(await codeOf(await stranger.post(`${at}&${'x'.repeat(9_000)}`, {}))).toBe('method_not_allowed')
      expect(await codeOf(await stranger.get(`${at}&${'x'.repeat(9_000)}`))).toBe('uri_too_long')
      expect(await codeOf(await stranger.get(at))).toBe('unauthorized')
      expect(await codeOf(await unentitled.get(at))).toBe('not_entitled')
      expect(await codeOf(await client.get(at))).toBe('validation_error')
    },
  )

  test.each(BODIES)('of %s %s: type, size, form, and what it says last', async (method, path) => {
    const huge = `{"equity_usd":1,${' '.repeat(5_000)}`
    if (!path.includes('preview')) {
      expect(await codeOf(await stranger.send(method, path, huge, {}))).toBe('unauthorized')
      expect(await codeOf(await unentitled.send(method, path, huge, {}))).toBe('not_entitled')
    }
    expect(await codeOf(await client.send(method, path, huge, {}))).toBe('unsupported_media_type')
    expect(await codeOf(await client.send(method, path, huge, { 'content-type': 'text/plain' }))).toBe(
      'unsupported_media_type',
    )
    expect(await codeOf(await client.send(method, path, huge, JSON_TYPE))).toBe('payload_too_large')
    expect(await codeOf(await client.send(method, path, '{"equity_usd":1,', JSON_TYPE))).toBe('bad_request')
    expect(await codeOf(await client.send(method, path, '', JSON_TYPE))).toBe('bad_request')
    expect(await codeOf(await client.send(method, path, '{}', JSON_TYPE))).toBe('validation_error')
  })

  test.each(BODIES)('of %s %s: a body of 4 KiB is read, and one byte more is not', async (method, path) => {
    const input = '{"equity_usd":1000,"contribution_cadence_bars":7}'
    expect((await client.send(method, path, input.padEnd(4_096), JSON_TYPE)).status).toBe(200)
    expect((await client.send(method, path, input.padEnd(4_097), JSON_TYPE)).status).toBe(413)
  })
})

const FINITE = 'must be a finite number'
const WHOLE = 'must be a whole number'

describe.each(BODIES)('%s %s', (method, path) => {
  test.each([
    ['1000', '7.5', ['contribution_cadence_bars', '7.5', WHOLE]],
    ['1000', '1e-7', ['contribution_cadence_bars', '1e-7', WHOLE]],
    ['1000', '"7"', ['contribution_cadence_bars', '"7"', WHOLE]],
    ['1000', 'null', ['contribution_cadence_bars', 'null', WHOLE]],
    ['1000', '1e999', ['contribution_cadence_bars', 'Infinity', WHOLE]],
    ['"1000"', '7', ['equity_usd', '"1000"', FINITE]],
    ['true', '7', ['equity_usd', 'true', FINITE]],
    ['[1000]', '7', ['equity_usd', '[1000]', FINITE]],
    ['1e999', '7', ['equity_usd', 'Infinity', FINITE]],
    ['-1e999', '7', ['equity_usd', '-Infinity', FINITE]],
  ])('refuses an equity of %s with a cadence of %s, and says why', async (equity, cadence, problem) => {
    const body = `{"equity_usd":${equity},"contribution_cadence_bars":${cadence}}`
    const response = await client.send(method, path, body)
    const [param, value, reason] = problem
    expect(response.status).toBe(422)
    expect((await refusalOf(response)).details).toEqual([{ param, value, reason }])
    expect(await redis.exists(profileKey('acme'))).toBe(0)
  })

  test('names everything that is wrong at once', async () => {
    const refused = await refusalOf(await client.send(method, path, '{"equity_usd":"much"}'))
    expect(refused.details).toEqual([
      { param: 'equity_usd', value: '"much"', reason: FINITE },
      { param: 'contribution_cadence_bars', value: 'nothing', reason: `is missing: ${WHOLE}` },
    ])
  })

  test.each(['[]', 'null', '7', '"{}"'])('refuses a body that is no object: %s', async body => {
    const response = await client.send(method, path, body)
    expect(response.status).toBe(422)
    expect((await refusalOf(response)).details).toMatchObject([
      { param: 'body', value: JSON.stringify(JSON.parse(body)) },
    ])
  })

  test('refuses a number that JSON does not know', async () => {
    const body = '{"equity_usd":NaN,"contribution_cadence_bars":7}'
    expect(await codeOf(await client.send(method, path, body))).toBe('bad_request')
  })
})

describe('a profile', () => {
  test.each([
    [0.999_999, 7, 'equity_usd', 'must be from 1 to 1000000000'],
    [1_000_000_000.01, 7, 'equity_usd', 'must be from 1 to 1000000000'],
    [1_000, 0, 'contribution_cadence_bars', 'must be from 1 to 3650'],
    [1_000, 3_651, 'contribution_cadence_bars', 'must be from 1 to 3650'],
    [1_000, -7, 'contribution_cadence_bars', 'must be from 1 to 3650'],
  ])('of %d and %d is refused, and the one before stays', async (equity_usd, cadence, param, reason) => {
    await client.put('/v1/program/profile', { equity_usd: 500, contribution_cadence_bars: 30 })
    const before = await redis.get(profileKey('acme'))
    const response = await client.put('/v1/program/profile', {
      equity_usd,
      contribution_cadence_bars: cadence,
    })
    expect(response.status).toBe(422)
    expect((await refusalOf(response)).details).toMatchObject([{ param, reason }])
    expect(await redis.get(profileKey('acme'))).toBe(before)
  })

  test.each([
    [1, 1],
    [1_000_000_000, 3_650],
  ])('of %d and %d, the bounds themselves, is taken', async (equity_usd, contribution_cadence_bars) => {
    const asked = { equity_usd, contribution_cadence_bars }
    expect((await client.put('/v1/program/profile', asked)).status).toBe(200)
  })

  test('that is not set answers 404 where it is needed, and nowhere else', async () => {
    for (const path of ['/v1/program/profile', '/v1/program/basket?view=personal']) {
      const response = await client.get(path)
      expect([response.status, await codeOf(response)]).toEqual([404, 'profile_not_set'])
    }
    expect((await client.get('/v1/program/basket')).status).toBe(200)
  })
})

describe('a query', () => {
  test.each([
    ...['', 'own', 'Reference', 'reference&view=personal'].map(value => `basket?view=${value}`),
    ...['', 'vwap', 'DCA', 'dca&benchmark=dca'].map(value => `performance?benchmark=${value}`),
    ...['', '-1', '1.5', '1e3', '0x1', 'NaN', '9007199254740992', '1&since=1'].map(
      value => `deploys?since=${value}`,
    ),
    ...['', '0', '10001', '2.0'].map(value => `deploys?limit=${value}`),
  ])('is refused: %s', async query => {
    const response = await client.get(`/v1/program/${query}`)
    expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
  })

  test('names what is allowed, and every problem at once', async () => {
    const performance = await refusalOf(await client.get('/v1/program/performance?benchmark=vwap'))
    expect(performance.details).toMatchObject([
      { param: 'benchmark', value: 'vwap', allowed: ['dca', 'hodl', 'lump_sum'] },
    ])
    const deploys = await refusalOf(await client.get('/v1/program/deploys?since=x&limit=0&colour=red'))
    expect(deploys.details).toMatchObject([{ param: 'since' }, { param: 'limit' }])
  })
})
