// What is refused, in which order, and what a refusal says.
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suspendClient } from '#signals/clients/clients.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import { addClient, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, withKey } from '../../support/signals/signals-app.ts'
import { refusalOf } from './keyed-answers.ts'

let server: TestRedis
let redis: Redis
let app: ReturnType<typeof createTestSignals>['app']
let token: string
let pending: string

beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
  app = createTestSignals(redis).app
  const random = seededBytes('refusals')
  token = (await addClient(redis, 'acme', ['alder'], random)).token
  pending = (await addClient(redis, 'late', ['alder'], random)).token
  await suspendClient(redis, 'late')
})
afterAll(() => server.stop())

const get = async (path: string, key = token): Promise<Response> => app.request(path, withKey(key))

describe('refusals', () => {
  test('come in the order of the contract', async () => {
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

  test('of a missing key say where it belongs, and those of a wrong one do not say what is wrong', async () => {
    const missing = await app.request('/v1/whoami')
    expect(missing.headers.get('www-authenticate')).toBe('ApiKey header="X-API-Key"')
    expect((await refusalOf(missing)).message).toContain('X-API-Key')
    const malformed = await refusalOf(await get('/v1/whoami', 'nonsense'))
    expect(await refusalOf(await get('/v1/whoami', `${token.slice(0, -1)}_`))).toEqual(malformed)
  })

  test('meet a key in the address too, which is neither accepted nor repeated', async () => {
    for (const name of ['X-API-Key', 'x-api-key', 'api_key', 'key', 'token']) {
      const response = await app.request(`/v1/signals/history?${name}=${token}`)
      expect(response.status).toBe(401)
      expect(await response.text()).not.toContain(token.slice(17, 60))
    }
    const answered = await get(`/v1/signals/history?api_key=${token}`)
    expect(answered.status).toBe(200)
    expect(await answered.text()).not.toContain(token.slice(17, 60))
  })

  test('of a query name every problem at once', async () => {
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
  ])('answer 422 to ?%s', async query => {
    const response = await get(`/v1/signals/history?${query.replaceAll('+', '%2B')}`)
    expect([response.status, (await refusalOf(response)).code]).toEqual([422, 'validation_error'])
  })

  test('of paths that are not there are the same with and without a key', async () => {
    for (const path of [
      '/v1',
      '/v1/signals',
      '/v1/signals/1',
      '/v1/whoami/',
      '/v2/whoami',
      '/v1/strategies',
    ]) {
      expect((await refusalOf(await app.request(path))).code).toBe('not_found')
      expect((await refusalOf(await get(path))).code).toBe('not_found')
    }
  })
})
