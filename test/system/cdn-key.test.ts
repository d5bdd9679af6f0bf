// Varnish itself, and behind it an origin that answers with the requested address.
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseParams } from '#core/contract/parameters.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import type { Layer } from '../../deploy/layers.ts'
import { ask, objectOf, siteOf, startEdge, startOrigin } from '../support/servers/cdn.ts'

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

const aPiece = fc.constantFrom(
  ...[
    'period',
    'risk_pct',
    'ids',
    'format',
    'from',
    'to',
    'dataset_version',
    'risk',
    'Period',
    'utm_source',
    '_',
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
    fc.asyncProperty(fc.constantFrom(...DATASET_ROUTES), aQuery, async (route, query) => {
      const path = route.path.replace('{sid}', 'alder')
      const { forwarded } = await keyOf(`${path}?${query}`)
      const meaning = (address: string) => {
        const { pathname, searchParams } = new URL(address, 'http://x')
        const pin = searchParams.getAll('dataset_version')
        return { pathname, pin, ...parseParams(route.query, searchParams, route.others) }
      }
      expect(meaning(forwarded)).toEqual(meaning(`${path}?${query}`))
    }),
    { numRuns: 3000 },
  )
})

test('parameters in any order, and those that the service ignores, are one object', async () => {
  const spellings = [
    'format=csv&period=weekly',
    'period=weekly&format=csv',
    'utm_source=x&period=weekly&a&format=csv&_=1',
  ]
  const keys = await Promise.all(spellings.map(query => keyOf(`/v1/export?${query}`)))
  expect(new Set(keys.map(({ object }) => object)).size).toBe(1)
  for (const { forwarded } of keys) expect(forwarded).toBe('/v1/export?format=csv&period=weekly')
  expect((await keyOf('/v1/export?utm_source=x')).forwarded).toBe('/v1/export')
})

describe('a query that the service refuses stays as it was, so that the refusal quotes it', () => {
  test.each([
    '/v1/export?format=csv&format=json',
    '/v1/strategies/alder/returns?period=?',
    '/v1/strategies/alder/returns?period=?x=1',
    '/v1/export?risk_pct=-0.020',
    '/v1/export?risk_pct=0.00',
    '/v1/correlation?ids=a,%20,b',
    '/v1/export?format=CSV',
    '/v1/export?period',
    '/v1/export?Period=weekly',
    '/v1/export?risk=0.01',
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
