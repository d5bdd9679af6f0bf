// The headers of every kind of answer: caching, validators, deprecation, origins, and that an error reveals nothing of its
// cause; and the methods of every path.
import { expect, inject, test } from 'vitest'
import { STATUS_OF } from '#core/contract/errors.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { FIRST_VERSION } from '../../support/books/small-book.ts'
import { ALLOWED_ORIGIN } from '../../support/history/history-app.ts'
import { errorOf, headersOf, openEmpty, openServing, openTiny } from './answers.ts'
import { ask, createFaultySource, ERRORS, KINDS, openApps, SECRET } from './kinds.ts'
import { ALL_PATHS } from './paths.ts'
import { ERROR_ENVELOPE } from './specification.ts'

const apps = await openApps(inject('tinyStore'))

test.each(KINDS)('$name has its status, caching, Vary, no date and no deprecation', async kind => {
  const { status, headers } = await ask(apps, kind)
  expect(status).toBe(kind.status)
  expect(headers.get('cache-control')).toBe(kind.caching)
  expect(headers.has('cdn-cache-control')).toBe(false)
  expect(headers.get('vary')).toBe(`Accept-Encoding, Origin${kind.isNegotiated ? ', Accept' : ''}`)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.has('last-modified')).toBe(false) // its ETag is its only validator
  for (const unset of ['deprecation', 'sunset']) expect(headers.has(unset)).toBe(false)
})

const DEPRECATED = { deprecatedAtMs: Date.UTC(2027, 0, 1), sunsetAtMs: Date.UTC(2027, 5, 1, 12) }
test('every kind of answer has the deprecation once it is set, and its sunset if there is one', async () => {
  const deprecated = await openApps(inject('tinyStore'), DEPRECATED)
  for (const kind of KINDS.filter(({ method }) => method !== 'OPTIONS')) {
    const { headers } = await ask(deprecated, kind)
    expect(headers.get('deprecation'), kind.name).toBe('@1798761600')
    expect(headers.get('sunset'), kind.name).toBe('Tue, 01 Jun 2027 12:00:00 GMT')
  }
  const open = await openApps(inject('tinyStore'), { ...DEPRECATED, sunsetAtMs: null })
  const { headers } = await ask(open, KINDS[0]!)
  expect(headers.get('deprecation')).toBe('@1798761600')
  expect(headers.has('sunset')).toBe(false)
})

test.each(ERRORS)('the refusal of $name has an envelope, a known code, no validator', async kind => {
  const response = await ask(apps, kind)
  const { meta } = ERROR_ENVELOPE.parse(await response.clone().json())
  expect(Object.entries(STATUS_OF)).toContainEqual([(await errorOf(response)).code, kind.status])
  expect(meta.dataset_version).toBe(kind.state === undefined ? TINY_VERSION : null)
  expect(meta.generated_utc).toBe('2025-02-25T00:00:00Z')
  expect(meta.timing_ms).toBe(0)
  expect(response.headers.get('retry-after')).toBe(kind.status === 503 ? '5' : null)
  for (const held of ['*', '"x"', 'W/"x", "y"']) {
    const { status, headers } = await ask(apps, kind, { 'if-none-match': held })
    expect([status, headers.has('etag')]).toEqual([kind.status, false])
  }
})

test('a fault of the service answers one fixed sentence and nothing of its cause, which is reported to the operator', async () => {
  const { app, errors } = await openEmpty({ source: createFaultySource() })
  const response = await app.request('/v1/summary')
  expect(errors).toEqual([new Error(SECRET)])
  const text = await response.clone().text()
  expect(await errorOf(response)).toEqual({
    code: 'internal_error',
    message: 'something went wrong on our side; the request was not at fault',
    details: null,
  })
  expect(text).not.toContain(SECRET)
  expect(text).not.toMatch(/\.ts:\d/) // no stack
})

test('a refusal that the caller caused is not reported to the operator', async () => {
  const { app, errors } = await openTiny()
  for (const { path, method = 'GET' } of ERRORS.filter(({ state }) => state === undefined)) {
    await app.request(path, { method })
  }
  expect(errors).toEqual([])
})
const app = apps.serving

const ALLOW = 'GET, HEAD, OPTIONS'

/** TRACE and CONNECT cannot be sent from here; the server's own tests do. */
const OTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND', 'PURGE', 'X']

const CODINGS = ['br', 'gzip', 'zstd']

/** Each coding of one published and one computed answer, and one after the other of the rest: the same code makes them. */
const WITHOUT_METHOD = KINDS.filter(({ method }) => method === undefined).map((kind, i) => {
  const isWhole = kind.path === '/v1/strategies/ash/stats' || kind.path === '/v1/export?risk_pct=0.013'
  return { ...kind, codings: ['identity', ...(isWhole ? CODINGS : [CODINGS[i % CODINGS.length]!])] }
})

test.each(WITHOUT_METHOD)(
  'HEAD for $name has its headers, its length among them, and no body',
  async ({ codings, ...kind }) => {
    for (const coding of codings) {
      const got = await ask(apps, kind, { 'accept-encoding': coding })
      const head = await ask(apps, { ...kind, method: 'HEAD' }, { 'accept-encoding': coding })
      expect(head.status).toBe(kind.status)
      expect(headersOf(head), coding).toEqual(headersOf(got))
      expect(await head.text()).toBe('')
    }
  },
)

test.each(ALL_PATHS)('%s answers OPTIONS with its methods and refuses all others with 405', async path => {
  const options = await app.request(path, { method: 'OPTIONS' })
  expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, ALLOW, ''])
  const broken = { headers: { 'content-type': 'application/json' }, body: '{"broken' }
  for (const init of [...OTHER_METHODS.map(method => ({ method })), { method: 'POST', ...broken }]) {
    const response = await app.request(path, init)
    expect([init.method, response.status, response.headers.get('allow')]).toEqual([init.method, 405, ALLOW])
    const message = `this path answers ${ALLOW}`
    expect(await errorOf(response)).toEqual({ code: 'method_not_allowed', message, details: null })
  }
})

const SNAPSHOT = '/v1/snapshots/20250224T001500Z'

/** What speaks of the process has no twin under a version. */
const UNKNOWN = [
  ...'/v1 /v1/ /v2/strategies /V1/strategies /v1/Strategies /v1/strategies/ /v1/strategies/ash/'.split(' '),
  ...'/v1/strategies/ash/nothing /v1/strategies/ash/stats/ /v1/strategies/ash/stats/2024'.split(' '),
  ...'/v1/strategies//stats /v1//strategies //v1/strategies /healthz/ /openapi /openapi.json/'.split(' '),
  ...'/favicon.gif /.env /current.json /v1/pointer/ /v1/pointer/0000000001 /v1/keys.json'.split(' '),
  ...'/v1/..%2f..%2fetc%2fpasswd /%00 /% /%E0%A4%A /\u00fc /v1/snapshots'.split(' '),
  ...['', '/nothing', '/healthz', '/version', '/dataset/versions', '/v1/summary', '/Summary.json'].map(
    path => SNAPSHOT + path,
  ),
]

test.each(UNKNOWN)('the unknown path %s answers 404 to every method', async path => {
  for (const method of ['GET', 'OPTIONS', ...OTHER_METHODS]) {
    const response = await app.request(path, { method })
    expect(response.status, method).toBe(404)
    expect(response.headers.has('allow'), method).toBe(false)
    const message = 'no such path; / lists what there is'
    expect(await errorOf(response), method).toEqual({ code: 'not_found', message, details: null })
  }
})

const NOT_ALLOWED = [
  'https://elsewhere.example',
  'http://www.example.org', // another scheme
  'https://www.example.org:8443', // another port
  'https://example.org',
  'https://www.example.org.elsewhere.example',
  'https://www.example.org/', // an origin has no path
  'HTTPS://WWW.EXAMPLE.ORG', // browsers send lower case; anything else is no browser
  `${ALLOWED_ORIGIN}, ${ALLOWED_ORIGIN}`,
  'null',
  '*',
  '',
  'not an origin',
  '\u00fc',
]

/** What publishing promises that a page's script may read. */
const READABLE = [
  ...['ETag', 'Link', 'Content-Location', 'Retry-After', 'RateLimit', 'RateLimit-Policy'],
  ...['Deprecation', 'Sunset', 'Unencoded-Digest', 'X-Request-Id'],
]

const corsOf = ({ headers }: Response): string[] =>
  [...headers.keys()].filter(name => name.startsWith('access-control-'))

test.each(KINDS)('$name may be read by pages of an allowed origin alone, without credentials', async kind => {
  const response = await ask(apps, kind, { origin: ALLOWED_ORIGIN })
  expect(response.status).toBe(kind.status)
  expect(response.headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGIN)
  const exposed = response.headers.get('access-control-expose-headers')?.split(', ')
  expect(exposed).toEqual(expect.arrayContaining(READABLE))
  expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  const plain = await ask(apps, kind)
  const body = await plain.text()
  expect(corsOf(plain)).toEqual([])
  for (const origin of kind === KINDS[0] ? NOT_ALLOWED : NOT_ALLOWED.slice(0, 2)) {
    const response = await ask(apps, kind, { origin })
    expect(response.status, origin).toBe(kind.status)
    expect(corsOf(response), origin).toEqual([])
    expect(response.headers.get('vary'), origin).toBe(plain.headers.get('vary'))
    expect(await response.text(), origin).toBe(body)
  }
})

test.each(ALL_PATHS)('a preflight on %s is answered to an allowed origin, and to no other', async path => {
  const preflight = (origin: string) =>
    apps.serving.request(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'if-none-match, x-trace',
      },
    })
  const { status, headers } = await preflight(ALLOWED_ORIGIN)
  expect(status).toBe(204)
  expect(headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGIN)
  expect(headers.get('access-control-allow-methods')).toBe('GET')
  expect(headers.get('access-control-allow-headers')).toBe('if-none-match, x-trace')
  expect(headers.get('access-control-max-age')).toBe('86400')
  const foreign = await preflight('https://elsewhere.example')
  expect([foreign.status, corsOf(foreign)]).toEqual([204, []])
})

test('a published file of a folder is left to the nginx that asks for it, in the coding that the client prefers', async () => {
  const headers = { 'accept-encoding': 'gzip, br;q=0.5', 'x-sendfile-type': 'X-Accel-Redirect' }
  const { headers: own } = await apps.serving.request('/v1/export?color=1', { headers })
  expect(own.get('x-accel-redirect')).toBe('/.published/v1/snapshots/20250224T001500Z/export.daily.json.gz')
  expect(own.get('vary')).toBe('Accept-Encoding, Origin, X-Sendfile-Type') // no other cache may keep it
  const computed = await apps.serving.request('/v1/export?risk_pct=0.013', { headers })
  const ofBucket = await (await openServing(FIRST_VERSION)).app.request('/v1/strategies', { headers })
  for (const answer of [computed, ofBucket])
    expect([answer.status, answer.headers.has('x-accel-redirect')]).toEqual([200, false])
})
