// GET sends the answer, HEAD its headers, OPTIONS the methods of the route; any other method is refused.
import { expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { errorOf, headersOf } from './answers.ts'
import { ask, KINDS, openApps } from './kinds.ts'
import { ALL_PATHS, addressesOf } from './paths.ts'

const apps = await openApps(inject('tinyStore'))
const app = apps.serving

const ALLOW = 'GET, HEAD, OPTIONS'

/** TRACE and CONNECT cannot be sent from here; the server's own tests do. */
const OTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND', 'PURGE', 'X']

const ACCEPTED_CODINGS = ['identity', 'br', 'gzip', 'zstd']

test.each(ROUTES)('HEAD on $path has the headers of GET, the length among them, and no body', async route => {
  for (const address of addressesOf(route)) {
    for (const coding of ACCEPTED_CODINGS) {
      const headers = { 'accept-encoding': coding }
      const got = await app.request(address, { headers })
      const head = await app.request(address, { headers, method: 'HEAD' })
      expect(head.status, address).toBe(got.status)
      expect(headersOf(head), address).toEqual(headersOf(got))
      expect(await head.text(), address).toBe('')
    }
  }
})

const WITHOUT_METHOD = KINDS.filter(({ method }) => method === undefined)

test.each(WITHOUT_METHOD)('HEAD for $name has its status and headers, and no body', async kind => {
  const got = await ask(apps, kind)
  const head = await ask(apps, { ...kind, method: 'HEAD' })
  expect(head.status).toBe(kind.status)
  expect(headersOf(head)).toEqual(headersOf(got))
  expect(await head.text()).toBe('')
})

test.each(ALL_PATHS)(
  '%s answers OPTIONS with its methods and refuses every other one with 405',
  async path => {
    const options = await app.request(path, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, ALLOW, ''])
    const broken = { headers: { 'content-type': 'application/json' }, body: '{"broken' }
    for (const init of [...OTHER_METHODS.map(method => ({ method })), { method: 'POST', ...broken }]) {
      const response = await app.request(path, init)
      expect([init.method, response.status, response.headers.get('allow')]).toEqual([init.method, 405, ALLOW])
      expect(await errorOf(response)).toEqual({
        code: 'method_not_allowed',
        message: `this path answers ${ALLOW}`,
        details: null,
      })
    }
  },
)

const UNKNOWN = [
  '/v1',
  '/v1/',
  '/v2/strategies',
  '/V1/strategies',
  '/v1/Strategies',
  '/v1/strategies/',
  '/v1/strategies/ash/',
  '/v1/strategies/ash/nothing',
  '/v1/strategies/ash/stats/',
  '/v1/strategies/ash/stats/2024',
  '/v1/strategies//stats',
  '/v1//strategies',
  '//v1/strategies',
  '/healthz/',
  '/openapi',
  '/openapi.json/',
  '/favicon.ico',
  '/.env',
  '/current.json',
  '/v1/snapshots',
  '/v1/snapshots/20250224T001500Z',
  '/v1/snapshots/20250224T001500Z/nothing',
  '/v1/snapshots/20250224T001500Z/healthz', // what speaks of the process has no twin
  '/v1/snapshots/20250224T001500Z/version',
  '/v1/snapshots/20250224T001500Z/dataset/versions',
  '/v1/snapshots/20250224T001500Z/v1/summary',
  '/v1/snapshots/20250224T001500Z/Summary.json',
  '/v1/pointer/',
  '/v1/pointer/0000000001',
  '/v1/keys.json',
  '/v1/..%2f..%2fetc%2fpasswd',
  '/%00',
  '/%',
  '/%E0%A4%A',
  '/\u00fc',
]

test.each(UNKNOWN)('the unknown path %s answers 404 to every method', async path => {
  for (const method of ['GET', 'OPTIONS', ...OTHER_METHODS]) {
    const response = await app.request(path, { method })
    expect(response.status, method).toBe(404)
    expect(response.headers.has('allow'), method).toBe(false)
    expect(await errorOf(response), method).toEqual({
      code: 'not_found',
      message: 'no such path; / lists what there is',
      details: null,
    })
  }
})
