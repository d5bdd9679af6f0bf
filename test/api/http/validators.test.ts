// Conditional requests: a client that has the current answer gets a 304 without a body; any other client gets the answer.
import { expect, test } from 'vitest'
import { matchesEtag } from '#api/http/headers.ts'
import { ALLOWED_ORIGIN } from '../../support/history/history-app.ts'
import { headersOf, openTiny } from '../history/answers.ts'
import { addressesOf, DATA_ROUTES } from '../history/paths.ts'

const { app } = await openTiny()

const CODINGS = ['identity', 'br', 'gzip', 'zstd'] as const

const request = (address: string, headers: Record<string, string>, method = 'GET') =>
  app.request(address, { headers: { origin: ALLOWED_ORIGIN, ...headers }, method })

/** The spellings of `If-None-Match` that name a validator. */
const naming = (etag: string): string[] => [
  etag,
  `W/${etag}`,
  ` ${etag} `,
  `"other", ${etag}`,
  `${etag},W/"other"`,
  `"with, comma", ${etag}, "x"`,
  '*',
]

const foreignTo = (etag: string): string[] => [
  '"other"',
  'W/"other"',
  '""',
  '',
  etag.slice(1, -1), // without its quotes it is no validator
  etag.slice(0, -1),
  `"x${etag.slice(1)}`,
  'rubbish',
  '"*"',
]

const cached = [...DATA_ROUTES.map(addressesOf), ['/version', '/openapi.json']].flat()

test.each(CODINGS)('a client that has the answer as %s gets 304, for GET and HEAD', async coding => {
  const accepting = { 'accept-encoding': coding }
  for (const address of cached) {
    const etag = (await request(address, accepting)).headers.get('etag') ?? ''
    expect(etag, address).not.toBe('')
    for (const held of naming(etag)) {
      const response = await request(address, { ...accepting, 'if-none-match': held })
      expect(response.status, `${address} with ${held}`).toBe(304)
      expect(await response.text()).toBe('')
    }
    const head = await request(address, { ...accepting, 'if-none-match': etag }, 'HEAD')
    expect(head.status, `HEAD ${address}`).toBe(304)
  }
})

test.each(CODINGS)('a 304 as %s has the headers of its 200 that a cache needs', async coding => {
  const accepting = { 'accept-encoding': coding }
  for (const address of cached) {
    const full = await request(address, accepting)
    const etag = full.headers.get('etag') ?? ''
    const { headers } = await request(address, { ...accepting, 'if-none-match': etag })
    const own = Object.entries(headersOf(full)).filter(
      ([name]) => !/^(content(?!-location)|unencoded-digest|x-(dataset|disclaimer|risk))-?/.test(name),
    )
    expect(Object.fromEntries(headers), address).toEqual(Object.fromEntries(own))
    expect(headers.get('etag'), address).toBe(etag)
    expect(headers.get('vary'), address).toBe('Accept-Encoding, Origin')
    expect(headers.has('cache-control'), address).toBe(true)
    expect(headers.get('access-control-allow-origin'), address).toBe(ALLOWED_ORIGIN)
  }
})

test.each(CODINGS)('a client that has another answer as %s gets the whole one', async coding => {
  const accepting = { 'accept-encoding': coding }
  for (const address of ['/v1/summary', '/v1/export?risk_pct=0.013', '/v1/export?format=csv', '/version']) {
    const etag = (await request(address, accepting)).headers.get('etag') ?? ''
    for (const held of foreignTo(etag)) {
      const response = await request(address, { ...accepting, 'if-none-match': held })
      expect(response.status, `${address} with ${held}`).toBe(200)
      expect((await response.arrayBuffer()).byteLength, held).toBeGreaterThan(0)
    }
  }
})

test('the validator of one coding says nothing about another', async () => {
  for (const address of ['/v1/export', '/v1/export?risk_pct=0.013']) {
    const brotli = (await request(address, { 'accept-encoding': 'br' })).headers.get('etag') ?? ''
    for (const coding of ['gzip', 'identity']) {
      const headers = { 'accept-encoding': coding, 'if-none-match': brotli }
      expect((await request(address, headers)).status, `${address} as ${coding}`).toBe(200)
    }
  }
})

test('a validator is the same on every request, and in another process', async () => {
  const { app: other } = await openTiny()
  for (const address of cached) {
    const first = (await request(address, {})).headers.get('etag')
    expect((await request(address, {})).headers.get('etag'), address).toBe(first)
    expect((await other.request(address)).headers.get('etag'), address).toBe(first)
  }
})

test('a date never makes an answer a 304, and no answer has one', async () => {
  for (const address of cached) {
    const { status, headers } = await request(address, {
      'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT',
    })
    expect([status, headers.has('last-modified')], address).toEqual([200, false])
  }
})

test('an answer that must not be stored has no validator, and is never a 304', async () => {
  for (const address of ['/healthz', '/readyz']) {
    const response = await request(address, { 'if-none-match': '*' })
    expect(response.status).toBe(200)
    expect(response.headers.has('etag')).toBe(false)
  }
})

test('the validator of the versions is weak, because its register has the time; all others are strong', async () => {
  for (const address of cached) {
    const etag = (await request(address, {})).headers.get('etag') ?? ''
    expect(etag.startsWith('W/'), address).toBe(address === '/version')
  }
})

test('the comparison of validators is weak, and knows lists', () => {
  expect(matchesEtag('W/"a"', '"a"')).toBe(true)
  expect(matchesEtag('"a"', 'W/"a"')).toBe(true)
  expect(matchesEtag('"b", "a"', '"a"')).toBe(true)
  expect(matchesEtag('"a, b"', '"a"')).toBe(false)
  expect(matchesEtag('"b"', '"a"')).toBe(false)
  expect(matchesEtag(undefined, '"a"')).toBe(false)
})
