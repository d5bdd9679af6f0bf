// Varnish itself, and behind it an origin that tells which address it was asked for.
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseParams } from '#core/contract/parameters.ts'
import type { Layer } from '../../deploy/layers.ts'
import { ask, objectOf, siteOf, startEdge, startOrigin } from '../support/servers/cdn.ts'
import { anAddress, DATA_ROUTES } from '../support/servers/cdn-addresses.ts'

let edge: Layer
beforeAll(async () => {
  const origin = await startOrigin((request, response) => {
    response.writeHead(200, { 'cache-control': 'max-age=86400', vary: 'Accept-Encoding, Origin' })
    response.end(JSON.stringify([request.url, request.headers['accept-encoding'] ?? 'identity']))
  })
  edge = await startEdge(await siteOf(origin, { nginx: origin }))
})

/** The path and query that Varnish asked the origin for, and the object that it keeps the answer in. */
async function keyOf(address: string): Promise<{ forwarded: string; object: number }> {
  const got = await ask(edge.url + address)
  const [forwarded = ''] = JSON.parse(got.bytes.toString()) as string[] // as the origin above writes it
  return { forwarded, object: objectOf(got) }
}

describe('over many spellings', () => {
  test('two addresses share an object exactly when the service calls them the same', async () => {
    const objects = new Map<string, number>()
    const canonicals = new Map<number, string>()
    await fc.assert(
      fc.asyncProperty(anAddress, async ({ canonical, spelled }) => {
        const { forwarded, object } = await keyOf(spelled)
        expect(forwarded).toBe(canonical)
        expect(object).toBe(objects.get(canonical) ?? object)
        expect(canonical).toBe(canonicals.get(object) ?? canonical)
        objects.set(canonical, object)
        canonicals.set(object, canonical)
      }),
      { numRuns: 1500 },
    )
    expect(objects.size).toBeGreaterThan(100)
  })

  test('a pinned address is the same key below its version', async () => {
    const version = '/v1/snapshots/20250224T001500Z'
    await fc.assert(
      fc.asyncProperty(anAddress, async ({ canonical, spelled }) => {
        const path = spelled.slice(spelled.indexOf('/', 1)) // past /v1, however it is spelled
        expect((await keyOf(version + path)).forwarded).toBe(version + canonical.slice('/v1'.length))
      }),
      { numRuns: 500 },
    )
  })
})

const aPiece = fc.constantFrom(
  ...[
    'period',
    'risk_pct',
    'ids',
    'format',
    'from',
    'to',
    'dataset_version',
    'x',
    '=',
    '&',
    '&',
    '=',
    ',',
    '?',
  ],
  ...[
    'daily',
    'weekly',
    'csv',
    'json',
    '0.02',
    '0.020',
    '-1',
    '1e-3',
    '1e-10',
    '0',
    '0.0',
    '00',
    '.',
    '1.',
    'e',
    '1e400',
  ],
  ...[
    'a',
    'b',
    'a,a',
    ',,',
    '+',
    '%20',
    '%2C',
    '%',
    '%4',
    '%41',
    '%26',
    '%3D',
    '%C3%A9',
    '12345678901234567890',
    '2024-01-01',
  ],
)

test('whatever comes in a query, the address that is passed on means the same to the service', async () => {
  const aQuery = fc.array(aPiece, { maxLength: 14 }).map(pieces => pieces.join(''))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...DATA_ROUTES), aQuery, async (route, query) => {
      const path = route.path.replace('{sid}', 'alder')
      const { forwarded } = await keyOf(`${path}?${query}`)
      const meaning = (address: string) => {
        const { pathname, searchParams } = new URL(address, 'http://x')
        const pin = searchParams.getAll('dataset_version')
        return { pathname, pin, ...parseParams(route.query, route.formats, searchParams) }
      }
      expect(meaning(forwarded)).toEqual(meaning(`${path}?${query}`))
    }),
    { numRuns: 3000 },
  )
})

describe('a query that the service refuses stays as it was, so that the refusal quotes it', () => {
  test.each([
    '/v1/export?format=csv&format=json',
    '/v1/export?risk_pct=-0.020',
    '/v1/export?risk_pct=0.00',
    '/v1/correlation?ids=a,%20,b',
    '/v1/export?format=CSV',
    '/v1/export?period',
  ])('%s', async address => {
    expect((await keyOf(address)).forwarded).toBe(address)
  })
})

test('a query of the longest kind is answered, whatever it is made of', async () => {
  for (const piece of ['&ids=a', ',a', '&', '%61', '&x=1', ',ab,ab', '0', '+', '%20', '+a']) {
    for (const length of [220, 490, 780, 1900, 8000]) {
      const address = `/v1/correlation?ids=a${piece.repeat(length / piece.length)}`
      expect((await ask(edge.url + address)).status, address.slice(0, 40)).toBe(200)
    }
  }
  for (const count of [10, 20, 21, 80, 200]) {
    for (const digits of [3, 8, 39]) {
      const ids = Array.from({ length: count }, (_, i) => String(i).padStart(digits, '0'))
      expect((await ask(`${edge.url}/v1/correlation?ids=${ids.join(',')}`)).status, ids.join(',')).toBe(200)
    }
  }
})

test('a hundred wishes for a coding are three objects', async () => {
  const wishes: [string, string][] = [
    ['gzip, deflate, br, zstd', 'br'],
    ['br', 'br'],
    ['BR;q=1.0, gzip', 'br'],
    ['gzip, br;q=0.5', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip;q=0.3', 'gzip'],
    ['br;q=0.000,gzip', 'gzip'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['zstd, dcz', 'identity'],
    ['br;q=0', 'identity'],
    ['brotli, x-gzip', 'identity'],
  ]
  const objects = new Map<string, Set<number>>()
  for (const [wish, coding] of wishes) {
    const got = await ask(`${edge.url}/v1/summary`, { 'accept-encoding': wish })
    expect(JSON.parse(got.bytes.toString()), wish).toEqual(['/v1/summary', coding])
    objects.set(coding, (objects.get(coding) ?? new Set()).add(objectOf(got)))
  }
  expect([...objects.values()].map(({ size }) => size)).toEqual([1, 1, 1])
})
