// The preview over HTTP: which requests are counted and which headers say so, which pages may read it, and what caches may keep.
import { beforeAll, expect, test } from 'vitest'
import { DEVELOPMENT_ORIGINS } from '#api/service/headers.ts'
import { servedProgram } from '../../support/signals/served-program.ts'
import { createTestSignals, PAGE_ORIGIN, signalsParts } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { from, refusalOf } from './keyed-answers.ts'

let app: ReturnType<typeof createTestSignals>['app']
useRedis()
beforeAll(() => {
  app = createTestSignals(redis).app
})

const PREVIEW = '/v1/program/preview'
const SIMULATE = '/v1/program/preview/simulate'

const simulation = (body = '{"equity_usd":1000,"contribution_cadence_bars":7}') => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
})

/** How many of so many requests are answered. */
async function answered(times: number, request: (i: number) => Response | Promise<Response>) {
  let count = 0
  for (let i = 0; i < times; i++) if ((await request(i)).status !== 429) count++
  return count
}

test('every answer of the preview has its limit, which refuses the 61st request of a minute; no cache keeps a refusal or a simulation', async () => {
  const first = await app.request(PREVIEW)
  expect(first.headers.get('ratelimit-policy')).toBe('"preview";q=60;w=60')
  expect(first.headers.get('ratelimit')).toBe('"preview";r=59;t=60')
  expect(await answered(59, () => app.request(PREVIEW))).toBe(59)
  const refused = await app.request(PREVIEW)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('ratelimit')).toMatch(/^"preview";r=0;t=\d+$/)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.headers.get('ratelimit')).toContain(`t=${refused.headers.get('retry-after')}`)
  expect((await refusalOf(refused)).code).toBe('rate_limited')
  const simulated = await app.request(SIMULATE, simulation()) // counted by itself
  expect([simulated.status, simulated.headers.get('cache-control')]).toEqual([200, 'no-store'])
})

test('a simulation above its limit is refused before its body is read', async () => {
  await answered(10, () => app.request(SIMULATE, simulation()))
  const pull = () => expect.fail('somebody read the body')
  const body = new ReadableStream({ pull }, { highWaterMark: 0 })
  const request = new Request(`http://localhost${SIMULATE}`, { method: 'POST', body, duplex: 'half' })
  expect((await app.request(request)).status).toBe(429)
})

test('the limit of the preview cannot be avoided by a header that a stranger writes, with a proxy in front or without', async () => {
  const { parts } = signalsParts(redis)
  const settings = { ...parts.settings, trustedProxies: ['10.0.0.0/8'] }
  const { app } = createTestSignals(redis, { settings })
  const ask = (address: string, forwarded: string) => {
    const written = { 'X-Forwarded-For': forwarded, Forwarded: `for=${forwarded}`, 'X-Real-IP': forwarded }
    const { headers, ...rest } = simulation()
    return app.request(SIMULATE, { ...rest, headers: { ...headers, ...written } }, from(address))
  }
  expect(await answered(12, i => ask('203.0.113.9', `198.51.100.${i}`))).toBe(10)
  expect(await answered(12, i => ask('10.0.0.1', `198.51.100.${i}, 203.0.113.7`))).toBe(10)
  expect(await answered(12, i => ask('10.0.0.1', `203.0.113.8, 10.1.1.${i}`))).toBe(10)
})

test.each([PAGE_ORIGIN, ...DEVELOPMENT_ORIGINS.slice(0, 1)])(
  'pages of the allowed origin %s may read every answer of the preview',
  async origin => {
    const { app } = createTestSignals(redis, { allowedOrigins: new Set([origin]) })
    for (const response of [
      await app.request(PREVIEW, { headers: { origin } }),
      await app.request(PREVIEW, { headers: { origin }, method: 'DELETE' }),
      await app.request(SIMULATE, { ...simulation('{'), headers: { origin } }),
    ]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      expect(response.headers.get('access-control-expose-headers')).toContain('RateLimit')
      expect(response.headers.get('vary')).toContain('Origin')
    }
  },
)

test('pages of any other origin may not read the preview', async () => {
  for (const origin of ['https://evil.example', 'null', `${PAGE_ORIGIN}.evil.example`]) {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await app.request(PREVIEW, { method, headers: { origin } })
      expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
    }
  }
})

test('pages may send JSON to the preview after a preflight, which is not counted', async () => {
  const headers = {
    origin: PAGE_ORIGIN,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  }
  for (let i = 0; i < 12; i++) {
    const preflight = await app.request(SIMULATE, { method: 'OPTIONS', headers })
    expect(preflight.status).toBe(204)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': PAGE_ORIGIN,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
      allow: 'POST, OPTIONS',
    })
  }
  expect(await redis.dbsize()).toBe(0)
})

test('caches may keep the preview for a minute and revalidate it; that of a new night is another', async () => {
  let served = servedProgram()
  const { app } = createTestSignals(redis, { program: () => served })
  const first = await app.request(PREVIEW)
  const etag = first.headers.get('etag') ?? ''
  expect(first.headers.get('cache-control')).toBe('public, max-age=60')
  const again = await app.request(PREVIEW, { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
  expect(again.headers.get('cache-control')).toBe('public, max-age=60')
  served = servedProgram({ tv_status: 'confirmed' })
  expect((await app.request(PREVIEW, { headers: { 'if-none-match': etag } })).status).toBe(200)
})
