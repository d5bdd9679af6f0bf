// Which content coding a client gets, and that it never changes what is said.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { negotiateCoding } from '#api/service/content-coding.ts'
import { forAll } from '#test/support/for-all.ts'
import { ALLOWED_ORIGIN } from '../../support/history/history-app.ts'
import { headersOf, openTiny } from '../history/answers.ts'
import { codingOf, decodedText } from '../history/decode.ts'
import { addressesOf, DATA_ROUTES } from '../history/paths.ts'

const { app } = await openTiny()

const request = (address: string, accepted?: string) =>
  app.request(address, accepted === undefined ? {} : { headers: { 'accept-encoding': accepted } })

/** A file of some kilobytes, and the same rescaled, which is computed. */
const PUBLISHED = '/v1/strategies/ash/returns'
const COMPUTED = '/v1/strategies/ash/returns?risk_pct=0.013'

/** What is accepted; the coding of a published answer, which has no zstd twin; that of a computed one. */
const NEGOTIATIONS: readonly [accepted: string | undefined, published: string, computed: string][] = [
  [undefined, 'identity', 'identity'],
  ['', 'identity', 'identity'],
  ['br', 'br', 'br'],
  ['gzip', 'gzip', 'gzip'],
  ['zstd', 'identity', 'zstd'],
  ['identity', 'identity', 'identity'],
  ['deflate', 'identity', 'identity'],
  ['gzip, deflate, br, zstd', 'br', 'zstd'],
  ['gzip,zstd', 'gzip', 'zstd'],
  ['BR', 'br', 'br'],
  ['  gzip  ,  br  ', 'br', 'br'],
  ['br;q=0.5, gzip;q=0.9', 'gzip', 'gzip'],
  ['br ; q=0.2 , gzip ; Q=0.3', 'gzip', 'gzip'],
  ['br;q=0', 'identity', 'identity'],
  ['*', 'br', 'zstd'],
  ['*;q=0', 'identity', 'identity'],
  ['br;q=0, zstd;q=0, *', 'gzip', 'gzip'],
  ['identity, br;q=0.5', 'identity', 'identity'],
  ['identity;q=0.5, br;q=0.5', 'br', 'br'],
  ['identity;q=0', 'identity', 'identity'], // a body that can be read beats a 406
  ['br;q=2', 'identity', 'identity'],
  ['br;q=-1', 'identity', 'identity'],
  ['br;q=high', 'identity', 'identity'],
  [';;,,;q=1,=', 'identity', 'identity'],
  ['__proto__, constructor', 'identity', 'identity'],
]

test.each(NEGOTIATIONS)(
  'a client that accepts %j gets a file as %s and a computed answer as %s',
  async (accepted, published, computed) => {
    expect(codingOf(await request(PUBLISHED, accepted))).toBe(published)
    expect(codingOf(await request(COMPUTED, accepted))).toBe(computed)
  },
)

const ADDRESSES = DATA_ROUTES.map(route => [route.path, addressesOf(route)] as const)
const WITH_DOCUMENT = [...ADDRESSES, ['/openapi.json', ['/openapi.json']] as const]

test.each(WITH_DOCUMENT)('%s has the same content in every coding, each with a validator', async (_, own) => {
  for (const address of own) {
    const owners = new Map<string, string>()
    const plain = await (await request(address)).text()
    for (const accepted of ['br', 'gzip', 'zstd', '*', 'identity']) {
      const response = await request(address, accepted)
      const { byteLength } = await response.clone().arrayBuffer()
      expect(response.headers.get('content-length'), address).toBe(String(byteLength))
      expect(await decodedText(response), `${address} as ${accepted}`).toBe(plain)
      const etag = response.headers.get('etag') ?? ''
      const owner = `${codingOf(response)} ${plain}`
      expect(etag, address).toMatch(/^"[0-9a-f-]+"$/)
      expect(owners.get(etag) ?? owner, `${address} as ${accepted}`).toBe(owner)
      owners.set(etag, owner)
    }
  }
})

test('a compressed series is less than half as long, published and computed, and so is the document', async () => {
  for (const address of [PUBLISHED, COMPUTED, '/openapi.json']) {
    const { byteLength: plain } = await (await request(address)).arrayBuffer()
    for (const accepted of ['br', 'gzip']) {
      const { byteLength } = await (await request(address, accepted)).arrayBuffer()
      expect(byteLength, `${address} as ${accepted}`).toBeLessThan(plain / 2)
    }
  }
})

test('a computed body that fits a packet is sent as it is, under one validator', async () => {
  const address = `${COMPUTED}&format=csv&from=2024-03-02&to=2024-03-05`
  const answers = await Promise.all(
    ['br', 'gzip', 'zstd', 'identity'].map(coding => request(address, coding)),
  )
  expect(answers.map(codingOf)).toEqual(['identity', 'identity', 'identity', 'identity'])
  expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(1)
})

test('a small answer about the service, and a refusal, is sent without a coding', async () => {
  for (const address of ['/', '/healthz', '/version', '/v1/nothing', '/v1/export?format=x']) {
    expect((await request(address, 'br, gzip, zstd')).headers.has('content-encoding'), address).toBe(false)
  }
})

test('a refused coding is never sent, nor one with a lower weight than another that is available', () => {
  const OFFERED = ['zstd', 'br', 'gzip'] as const
  const weights = fc.dictionary(
    fc.constantFrom(...OFFERED, 'identity', '*', 'deflate'),
    fc.constantFrom(0, 0.001, 0.5, 1),
  )
  forAll(weights, liked => {
    const header = Object.entries(liked).map(([name, weight]) => `${name};q=${weight}`)
    const coding = negotiateCoding(header.join(', '), OFFERED)
    const weightOf = (name: string) => liked[name] ?? (name === 'identity' ? 0 : (liked['*'] ?? 0))
    const best = Math.max(...OFFERED.map(weightOf), weightOf('identity'))
    expect(weightOf(coding)).toBe(best)
    expect(coding === 'identity' || weightOf(coding) > 0).toBe(true)
  })
})

const CODINGS = ['identity', 'br', 'gzip', 'zstd'] as const

const send = (address: string, headers: Record<string, string>, method = 'GET') =>
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

const cached = [...WITH_DOCUMENT.flatMap(([, own]) => own), '/version']

test.each(CODINGS)('a client with the answer as %s gets 304 with the headers of its 200', async coding => {
  const accepting = { 'accept-encoding': coding }
  for (const address of cached) {
    const full = await send(address, accepting)
    const etag = full.headers.get('etag') ?? ''
    expect(etag, address).not.toBe('')
    for (const held of naming(etag)) {
      const response = await send(address, { ...accepting, 'if-none-match': held })
      expect(response.status, `${address} with ${held}`).toBe(304)
      expect(await response.text()).toBe('')
    }
    const known = { ...accepting, 'if-none-match': etag }
    expect((await send(address, known, 'HEAD')).status, `HEAD ${address}`).toBe(304)
    const { headers } = await send(address, known)
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
    const etag = (await send(address, accepting)).headers.get('etag') ?? ''
    for (const held of foreignTo(etag)) {
      const response = await send(address, { ...accepting, 'if-none-match': held })
      expect(response.status, `${address} with ${held}`).toBe(200)
      expect((await response.arrayBuffer()).byteLength, held).toBeGreaterThan(0)
    }
  }
})

test('a validator is the same on every send, and in another process; only that of the versions is weak, because its register has the time', async () => {
  const { app: other } = await openTiny()
  for (const address of cached) {
    const first = (await send(address, {})).headers.get('etag') ?? ''
    expect((await send(address, {})).headers.get('etag'), address).toBe(first)
    expect((await other.request(address)).headers.get('etag'), address).toBe(first)
    expect(first.startsWith('W/'), address).toBe(address === '/version')
  }
})

test('an answer that must not be stored has no validator, and is never a 304', async () => {
  for (const address of ['/healthz', '/readyz']) {
    const response = await send(address, { 'if-none-match': '*' })
    expect(response.status).toBe(200)
    expect(response.headers.has('etag')).toBe(false)
  }
})
