// GET sends the answer, HEAD its headers, OPTIONS the methods of the route; any other method is refused.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { openHistoryApp } from '../../support/history/history-app.ts'
import { type App, errorOf, headersOf } from './answers.ts'
import { type Apps, ask, KINDS, openApps } from './kinds.ts'
import { ALL_PATHS, addressesOf } from './paths.ts'

let app: App
let apps: Apps

beforeAll(async () => {
  app = (await openHistoryApp(inject('tinyStore'))).app
  apps = await openApps(inject('tinyStore'))
})

const ALLOW = 'GET, HEAD, OPTIONS'

/** TRACE and CONNECT cannot be sent from here; the server's own tests do. */
const OTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND', 'PURGE', 'X']

const ACCEPTED_CODINGS = ['identity', 'br', 'gzip', 'zstd']

describe('HEAD', () => {
  test.each(ROUTES.map(route => [route.path, route] as const))(
    'on %s has the headers of GET, the length among them, and no body',
    async (_path, route) => {
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
    },
  )

  test.each(KINDS.filter(({ method }) => method === undefined).map(kind => [kind.name, kind] as const))(
    'for %s has its status and headers, and no body',
    async (_name, kind) => {
      const got = await ask(apps, kind)
      const head = await ask(apps, { ...kind, method: 'HEAD' })
      expect(head.status).toBe(kind.status)
      expect(headersOf(head)).toEqual(headersOf(got))
      expect(await head.text()).toBe('')
    },
  )
})

describe.each(ALL_PATHS)('%s', path => {
  test('answers OPTIONS with its methods, without a body', async () => {
    const response = await app.request(path, { method: 'OPTIONS' })
    expect(response.status).toBe(204)
    expect(response.headers.get('allow')).toBe(ALLOW)
    expect(await response.text()).toBe('')
  })

  test.each(OTHER_METHODS)('refuses %s with 405 and the methods that there are', async method => {
    const response = await app.request(path, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(ALLOW)
    expect(await errorOf(response)).toEqual({
      code: 'method_not_allowed',
      message: `this path answers ${ALLOW}`,
      details: null,
    })
  })

  test('refuses a body of any kind like any other POST', async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await app.request(path, { method: 'POST', headers, body: '{"broken' })
    expect(response.status).toBe(405)
  })
})

describe('a path that does not exist', () => {
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

  test.each(UNKNOWN)('%s answers 404 to every method', async path => {
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
})
