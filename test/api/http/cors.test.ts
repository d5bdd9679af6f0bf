// Pages of allowed origins may read every answer, no other page any; who sends no Origin is not concerned.
import { expect, inject, test } from 'vitest'
import { DEVELOPMENT_ORIGINS } from '#api/http/headers.ts'
import { ALLOWED_ORIGIN } from '../../support/history/history-app.ts'
import { ask, KINDS, openApps } from '../history/kinds.ts'
import { ALL_PATHS } from '../history/paths.ts'

const apps = await openApps(inject('tinyStore'))

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
  for (const origin of NOT_ALLOWED) {
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

test('pages in development are those of three ports of the own machine', () => {
  const expected = ['5173', '3000', '8100'].flatMap(port => [
    `http://127.0.0.1:${port}`,
    `http://localhost:${port}`,
  ])
  expect(DEVELOPMENT_ORIGINS.toSorted()).toEqual(expected.toSorted())
})
