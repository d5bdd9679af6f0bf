// Which content coding a client gets, and that it never changes what is said.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { negotiateCoding } from '#api/http/content-coding.ts'
import { forAll } from '#test/support/for-all.ts'
import { openTiny } from '../history/answers.ts'
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
  ['compress, deflate', 'identity', 'identity'],
  ['gzip, deflate, br, zstd', 'br', 'zstd'],
  ['gzip, deflate, br', 'br', 'br'],
  ['gzip,zstd', 'gzip', 'zstd'],
  ['BR', 'br', 'br'],
  ['  gzip  ,  br  ', 'br', 'br'],
  ['br;q=0.5, gzip;q=0.9', 'gzip', 'gzip'],
  ['br;q=0.5, gzip', 'gzip', 'gzip'],
  ['zstd;q=0.1, br;q=0.2', 'br', 'br'],
  ['br ; q=0.2 , gzip ; Q=0.3', 'gzip', 'gzip'],
  ['br;q=0.001', 'br', 'br'],
  ['br;q=0', 'identity', 'identity'],
  ['br;q=0, gzip;q=0, zstd;q=0', 'identity', 'identity'],
  ['*', 'br', 'zstd'],
  ['*;q=0', 'identity', 'identity'],
  ['*;q=0.5, gzip', 'gzip', 'gzip'],
  ['br;q=0, zstd;q=0, *', 'gzip', 'gzip'],
  ['gzip, *;q=0', 'gzip', 'gzip'],
  ['identity, br;q=0.5', 'identity', 'identity'],
  ['identity;q=0.5, br;q=0.5', 'br', 'br'],
  ['identity;q=0.5, br', 'br', 'br'],
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

test.each(DATA_ROUTES)(
  '$path has the same content in every coding, and a validator for each',
  async route => {
    for (const address of addressesOf(route)) {
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
  },
)

test('a compressed series is less than half as long, published and computed', async () => {
  for (const address of [PUBLISHED, COMPUTED]) {
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

test('the document is sent in the best accepted coding, much smaller, each with a strong validator of its own', async () => {
  const plain = await request('/openapi.json')
  const text = await plain.text()
  const etags = [plain.headers.get('etag')]
  for (const [accepted, coding] of [
    ['gzip, br, zstd', 'br'],
    ['gzip', 'gzip'],
  ] as const) {
    const response = await request('/openapi.json', accepted)
    expect(codingOf(response)).toBe(coding)
    const { byteLength } = await response.clone().arrayBuffer()
    expect(response.headers.get('content-length')).toBe(String(byteLength))
    expect(byteLength).toBeLessThan(text.length / 4)
    expect(await decodedText(response)).toBe(text)
    etags.push(response.headers.get('etag'))
  }
  for (const etag of etags) expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
  expect(new Set(etags).size).toBe(etags.length)
})

test('the document is the same bytes under the same validator at every request', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => request('/openapi.json', 'br')))
  expect(one?.headers.get('etag')).toBe(other?.headers.get('etag'))
  expect(await one?.arrayBuffer()).toEqual(await other?.arrayBuffer())
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
