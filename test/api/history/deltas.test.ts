// An answer as the difference to one that the client has: that it is the answer, and what is said with it.
import { zstdDecompressSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { pinnedPath } from '#core/contract/pins.ts'
import { NIGHTS, SERVED, versionOfNight } from '../../support/books/growing-book.ts'
import type { App } from './answers.ts'
import { ask, CSV, codingOf, digestOf, holding, type Nights, openNights } from './delta-client.ts'

const GROWING = [
  '/v1/export',
  '/v1/export?period=weekly',
  '/v1/export?format=csv',
  '/v1/export?format=csv&period=weekly',
  '/v1/strategies/alder/returns',
  '/v1/strategies/alder/returns?format=csv',
  '/v1/strategies/alder/returns?format=csv&period=weekly',
  '/v1/strategies/birch/curve',
  '/v1/strategies/birch/curve?format=csv',
]

let nights: Nights
let app: App
let bodyOf: Nights['bodyOf']

beforeAll(async () => {
  nights = await openNights()
  ;({ app, bodyOf } = nights)
})

describe('a client that has the answer of another night', () => {
  test.each(GROWING)('gets the difference to it at %s, pinned and unpinned alike', async address => {
    const today = await bodyOf(SERVED, address)
    for (const night of NIGHTS) {
      const held = await bodyOf(night, address)
      const places = [address, pinnedPath(versionOfNight(SERVED), address)]
      for (const place of places) {
        const { response, headers, bytes } = await ask(app, place, holding(held))
        expect([response.status, codingOf(headers)], `${place} from ${night}`).toEqual([200, 'dcz'])
        expect(bytes.subarray(0, 8).toString('hex')).toBe('5e2a4d1820000000')
        expect(`:${bytes.subarray(8, 40).toString('base64')}:`).toBe(digestOf(held))
        expect(zstdDecompressSync(bytes.subarray(40), { dictionary: held }).equals(today)).toBe(true)
        expect(headers.get('content-length')).toBe(String(bytes.length))
        expect(headers.get('unencoded-digest')).toBe(`sha-256=${digestOf(today)}`)
      }
    }
  })

  test('gets a tenth of the best coding at the most where a day of returns was added', async () => {
    for (const address of GROWING.filter(
      address => !address.includes('weekly') && address !== '/v1/export',
    )) {
      const delta = await ask(app, address, holding(await bodyOf(SERVED - 1, address)))
      const br = await ask(app, address, { 'accept-encoding': 'br' })
      expect(delta.bytes.length, address).toBeLessThan(br.bytes.length / 10)
    }
  })

  test('gets the other headers of the ordinary answer, and is told by what it was chosen', async () => {
    for (const address of [CSV, pinnedPath(versionOfNight(SERVED), CSV)]) {
      const delta = await ask(app, address, holding(await bodyOf(1, CSV)))
      const br = await ask(app, address, { 'accept-encoding': 'br' })
      const others = ({ headers }: { headers: Headers }) =>
        [...headers].filter(([name]) => !/^(etag|vary|content-(length|encoding))$/.test(name))
      expect(others(delta)).toEqual(others(br))
      expect(delta.headers.get('vary')).toBe('Accept-Encoding, Available-Dictionary, Origin')
      expect(br.headers.get('vary')).toBe('Accept-Encoding, Origin')
    }
  })

  test('has a strong validator for each dictionary, and 304 under it', async () => {
    const etags = new Set([(await ask(app, CSV, { 'accept-encoding': 'br' })).headers.get('etag')])
    for (const night of NIGHTS) {
      const asking = holding(await bodyOf(night, CSV))
      const etag = (await ask(app, CSV, asking)).headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
      etags.add(etag)
      const again = await ask(app, CSV, { ...asking, 'if-none-match': etag })
      expect([again.response.status, again.headers.get('etag'), again.bytes.length]).toEqual([304, etag, 0])
      expect(again.headers.get('vary')).toBe('Accept-Encoding, Available-Dictionary, Origin')
      expect(again.headers.has('use-as-dictionary')).toBe(true)
    }
    expect(etags.size).toBe(1 + NIGHTS.length)
  })

  test('is told 304 where it has the ordinary answer of today as well', async () => {
    const etag = (await ask(app, CSV, { 'accept-encoding': 'br' })).headers.get('etag') ?? ''
    const { response } = await ask(app, CSV, { ...holding(await bodyOf(1, CSV)), 'if-none-match': etag })
    expect([response.status, response.headers.get('etag')]).toEqual([304, etag])
  })

  test('gets no delta under the validator of another dictionary', async () => {
    const etag = (await ask(app, CSV, holding(await bodyOf(0, CSV)))).headers.get('etag') ?? ''
    const { response } = await ask(app, CSV, { ...holding(await bodyOf(1, CSV)), 'if-none-match': etag })
    expect(response.status).toBe(200)
  })

  test('learns with HEAD what GET would send', async () => {
    const asking = holding(await bodyOf(1, CSV))
    const [get, head] = [await ask(app, CSV, asking), await ask(app, CSV, asking, 'HEAD')]
    expect(head.bytes.length).toBe(0)
    expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers))
  })

  test('gets it at any spelling of the address', async () => {
    const { headers } = await ask(
      app,
      '/v1/export?x=1&format=csv&period=daily',
      holding(await bodyOf(1, CSV)),
    )
    expect(codingOf(headers)).toBe('dcz')
  })
})

describe('an answer that may be a dictionary', () => {
  test('says for which addresses: its own of every version, and no other answer of the service', async () => {
    const version = versionOfNight(SERVED)
    for (const address of GROWING) {
      for (const place of [address, pinnedPath(version, address)]) {
        const header = (await ask(app, place)).headers.get('use-as-dictionary') ?? ''
        const [, match] = /^match="(\/v1\/\*[a-z0-9/?=&]+)"$/.exec(header) ?? []
        const pattern = new URLPattern(match ?? '', `https://data.example.org${place}`)
        expect(pattern.hasRegExpGroups).toBe(false)
        const isMatched = (other: string) => pattern.test(`https://data.example.org${other}`)
        expect([isMatched(address), isMatched(pinnedPath(version, address))], place).toEqual([true, true])
        // A pattern without a query matches every query; there the longer pattern of the other answer wins.
        const others = GROWING.filter(
          other => other !== address && other.split('?')[0] !== match?.replace('*', ''),
        )
        expect(others.filter(isMatched), place).toEqual([])
      }
    }
  })
})

test('nothing was wrong with the stores', () => {
  expect(nights.damages).toEqual([])
})
