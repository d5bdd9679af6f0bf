// Pages of allowed origins may read every answer, no other page any; who sends no Origin is not concerned.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { DEVELOPMENT_ORIGINS } from '#api/http/headers.ts'
import { ALLOWED_ORIGIN } from '../../support/history/history-app.ts'
import { type Apps, ask, KINDS, openApps } from '../history/kinds.ts'
import { ALL_PATHS } from '../history/paths.ts'

let apps: Apps

beforeAll(async () => {
  apps = await openApps(inject('tinyStore'))
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
  'ETag',
  'Link',
  'Content-Location',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Deprecation',
  'Sunset',
  'Unencoded-Digest',
  'X-Request-Id',
]

const corsOf = ({ headers }: Response): string[] =>
  [...headers.keys()].filter(name => name.startsWith('access-control-'))

describe.each(KINDS.map(kind => [kind.name, kind] as const))('%s', (_name, kind) => {
  test('may be read by a page of an allowed origin, and by that one alone', async () => {
    const response = await ask(apps, kind, { origin: ALLOWED_ORIGIN })
    expect(response.status).toBe(kind.status)
    expect(response.headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGIN)
    const exposed = response.headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toEqual(expect.arrayContaining(READABLE))
  })

  test('never allows credentials', async () => {
    const { headers } = await ask(apps, kind, { origin: ALLOWED_ORIGIN })
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('is the same, without a word on origins, for any other origin and for none', async () => {
    const plain = await ask(apps, kind)
    const body = await plain.text()
    expect(corsOf(plain)).toEqual([])
    for (const origin of NOT_ALLOWED) {
      const response = await ask(apps, kind, { origin })
      expect(response.status, origin).toBe(kind.status)
      expect(corsOf(response), origin).toEqual([])
      expect(response.headers.get('vary'), origin).toBe(plain.headers.get('vary'))
      expect(await response.text(), origin).toBe(body)
    }
  })
})

describe('a preflight', () => {
  const preflight = (path: string, origin: string) =>
    apps.serving.request(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'if-none-match, x-trace',
      },
    })

  test.each(ALL_PATHS)('of an allowed origin on %s gets the methods, headers and lifetime', async path => {
    const { status, headers } = await preflight(path, ALLOWED_ORIGIN)
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGIN)
    expect(headers.get('access-control-allow-methods')).toBe('GET')
    expect(headers.get('access-control-allow-headers')).toBe('if-none-match, x-trace')
    expect(headers.get('access-control-max-age')).toBe('86400')
  })

  test.each(ALL_PATHS)('of a foreign origin on %s gets no CORS headers', async path => {
    const response = await preflight(path, 'https://elsewhere.example')
    expect(response.status).toBe(204)
    expect(corsOf(response)).toEqual([])
  })
})

test('pages in development are those of three ports of the own machine', () => {
  const expected = ['5173', '3000', '8100'].flatMap(port => [
    `http://127.0.0.1:${port}`,
    `http://localhost:${port}`,
  ])
  expect(DEVELOPMENT_ORIGINS.toSorted()).toEqual(expected.toSorted())
})
