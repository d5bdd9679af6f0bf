// Varnish in front of an origin of the test: what it keeps and for how long, and under which key.
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { parseParams } from '#core/contract/parameters.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { forAllInTurn } from '#test/support/for-all.ts'
import type { Layer } from '../../deploy/layers.ts'
import { ask, objectOf, purge, siteOf, startEdge, startOrigin } from '../support/servers/cdn.ts'

/** Longer than any run: an answer that expires in a test is another object. */
const DATASET = 'max-age=6000, stale-while-revalidate=60, stale-if-error=86400'
const TAG = 'v-20250224T001500Z'
const PINNED = '/v1/snapshots/20250224T001500Z/strategies'

type Answer = { readonly status?: number; readonly headers: Readonly<Record<string, string>> }

const VARY = { vary: 'Accept-Encoding, Origin' }

/** By path, what the origin answers. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  '/tagged': { headers: { ...VARY, 'cache-control': DATASET, 'cache-tag': TAG, xkey: TAG } },
  '/plain': { headers: { ...VARY, 'cache-control': DATASET, 'cache-tag': 'other' } },
  '/refused': { status: 422, headers: { ...VARY, 'cache-control': 'max-age=6000' } },
  '/missing': { status: 404, headers: { ...VARY, 'cache-control': 'max-age=6000' } },
  '/never': { headers: { ...VARY, 'cache-control': 'no-store' } },
  '/secret': { headers: { ...VARY, 'cache-control': 'private, max-age=60' } },
  '/cookie': { headers: { ...VARY, 'cache-control': DATASET, 'set-cookie': 'a=b' } },
  '/other-vary': { headers: { vary: 'Accept-Encoding, User-Agent', 'cache-control': DATASET } },
  [PINNED]: { headers: { ...VARY, 'cache-control': 'max-age=31536000, immutable' } },
}

/** A date some seconds after the test began. */
const dateIn = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString()

/** Headers, and whether an answer with them may be kept. */
const POLICIES: readonly (readonly [headers: Readonly<Record<string, string>>, isKept: boolean])[] = [
  [{}, false],
  [{ 'cache-control': 'public' }, false],
  [{ 'cache-control': 'MAX-AGE=600' }, true],
  [{ 'cache-control': 'max-age=x' }, false],
  [{ 'cache-control': 'max-age=600, s-maxage=0' }, false],
  [{ 'cache-control': 'max-age=0, s-maxage=600' }, true],
  [{ 'cache-control': 'max-age=600, No-Cache' }, false],
  [{ 'cache-control': 'max-age=600, Private="x"' }, false],
  [{ 'cache-control': 'max-age=600', age: '700' }, false],
  [{ 'cache-control': 'max-age=600', age: '5' }, true],
  [{ expires: dateIn(600) }, true],
  [{ expires: dateIn(600), 'cache-control': 'max-age=0' }, false],
  [{ expires: dateIn(600).replace('GMT', 'UTC') }, false],
  [{ expires: dateIn(3000), date: dateIn(4000) }, false],
  [{ 'cdn-cache-control': 'max-age=600' }, true],
  [{ 'cdn-cache-control': 'max-age=600', 'cache-control': 'no-store' }, true],
  [{ 'cdn-cache-control': 'max-age=0', 'cache-control': 'max-age=600' }, false],
  [{ 'cdn-cache-control': 'max-age=0', expires: dateIn(600) }, false],
  [{ 'cdn-cache-control': 'private', 'cache-control': 'max-age=600' }, false],
  [{ 'cdn-cache-control': 'no-cache', 'cache-control': 'max-age=600' }, false],
  [{ 'cdn-cache-control': 'max-age="600"', 'cache-control': 'no-store' }, false],
]

const ACCEPTED: readonly (readonly [accepted: string, coding: string])[] = [
  ['gzip, deflate, br, zstd', 'br'],
  ['BR;q=1.0, gzip', 'br'],
  ['gzip, br;q=0.5', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br;q=0, gzip;q=0.3', 'gzip'],
  ['', 'identity'],
  ['identity', 'identity'],
  ['zstd, dcz', 'identity'],
  ['brotli, x-gzip', 'identity'],
  ['*', 'br'],
  ['identity;q=0, *', 'br'],
  ['br;q=0, *;q=0.5', 'gzip'],
  ['*, br;q=0.0, gzip;q=0', 'identity'],
  ['*;q=0', 'identity'],
  ['gzip;q=0, br;q=0.5', 'br'],
]

let edge: Layer

beforeAll(async () => {
  const origin = await startOrigin(({ url = '', headers: sent }, response) => {
    const [path = '', query] = url.split('?')
    if (path === '/policy') return void response.writeHead(200, POLICIES[Number(query)]?.[0]).end(url)
    const { status = 200, headers } = ANSWERS[path] ?? { headers: { ...VARY, 'cache-control': DATASET } }
    response.writeHead(status, headers).end(JSON.stringify([url, sent['accept-encoding'] ?? 'identity']))
  })
  edge = await startEdge(await siteOf(origin, { nginx: origin }))
})

async function isKept(path: string): Promise<boolean> {
  const [first, second] = [await ask(edge.url + path), await ask(edge.url + path)]
  return objectOf(first) === objectOf(second)
}

test.each(['/tagged', '/plain', '/refused', '/missing', PINNED])(
  'Varnish keeps the answer to %s',
  async path => {
    expect(await isKept(path)).toBe(true)
  },
)

test.each(['/never', '/secret', '/cookie', '/other-vary'])(
  'Varnish does not keep the answer to %s',
  async path => {
    expect(await isKept(path)).toBe(false)
  },
)

test.each(
  POLICIES.map(
    ([headers, kept], number) => [kept ? 'keeps' : 'does not keep', headers, number, kept] as const,
  ),
)('Varnish %s an answer with %j', async (_verb, _headers, number, kept) => {
  expect(await isKept(`/policy?${number}`)).toBe(kept)
})

test('age and date of a cached answer agree, so that a browser may use it until it is stale', async () => {
  const { headers: first } = await ask(edge.url + PINNED)
  await expect.poll(async () => Number((await ask(edge.url + PINNED)).headers.age)).toBeGreaterThan(1)
  for (const method of ['GET', 'HEAD']) {
    const { headers } = await ask(edge.url + PINNED, {}, method)
    const sinceDate = (Date.now() - Date.parse(headers.date ?? '')) / 1_000
    expect(headers.date).toBe(first.date)
    expect(Number(headers.age)).toBeGreaterThan(1)
    expect(Number(headers.age)).toBeLessThanOrEqual(Math.ceil(sinceDate))
  }
})

test('all values of Accept-Encoding share three objects, one for each coding', async () => {
  const objects = new Map<string, Set<number>>()
  for (const [accepted, coding] of ACCEPTED) {
    const got = await ask(`${edge.url}/coding`, { 'accept-encoding': accepted })
    expect(JSON.parse(got.bytes.toString()), accepted).toEqual(['/coding', coding])
    objects.set(coding, (objects.get(coding) ?? new Set()).add(objectOf(got)))
  }
  expect([...objects.values()].map(({ size }) => size)).toEqual([1, 1, 1])
})

test('a purge takes what carries the tag and nothing else', async () => {
  const paths = ['/tagged', '/plain', '/missing', PINNED]
  const objects = async () => Promise.all(paths.map(async path => objectOf(await ask(edge.url + path))))
  const before = await objects()
  const changed = (after: readonly number[]) => after.map((object, i) => object !== before[i])
  expect((await purge(edge, 'v-20990101T000000Z')).status).toBe(200)
  expect(changed(await objects())).toEqual([false, false, false, false])
  await purge(edge, TAG)
  expect(changed(await objects())).toEqual([true, false, false, false])
  await purge(edge, 'unpinned')
  expect(changed(await objects())).toEqual([true, true, true, false])
})

/** The path and query that Varnish asked the origin for, and the object that it keeps the answer in. */
async function keyOf(address: string): Promise<{ forwarded: string; object: number }> {
  const got = await ask(edge.url + address)
  const [forwarded = ''] = JSON.parse(got.bytes.toString()) as string[] // as the origin above writes it
  return { forwarded, object: objectOf(got) }
}

/** What a query may be made of. */
const PIECES = `period risk_pct ids format from to dataset_version risk Period utm_source _ x = & & = , ? daily weekly csv json
  0.02 0.020 -1 1e-3 1e-10 0 0.0 00 . 1. e 1e400 a b a,a ,, + %20 %2C % %4 %41 %26 %3D %C3%A9 12345678901234567890 2024-01-01`

test('whatever a query is made of, the address that Varnish passes on means the same to the service', async () => {
  const aPiece = fc.constantFrom(...PIECES.split(/\s+/))
  const aQuery = fc.array(aPiece, { maxLength: 14 }).map(pieces => pieces.join(''))
  await forAllInTurn(1000, fc.constantFrom(...DATASET_ROUTES), aQuery, async (route, query) => {
    const path = route.path.replace('{sid}', 'alder')
    const { forwarded } = await keyOf(`${path}?${query}`)
    const meaning = (address: string) => {
      const { pathname, searchParams } = new URL(address, 'http://x')
      const pin = searchParams.getAll('dataset_version')
      return { pathname, pin, ...parseParams(route.query, searchParams, route.others) }
    }
    expect(meaning(forwarded)).toEqual(meaning(`${path}?${query}`))
  })
})

test('queries that differ in order or in ignored parameters share one object', async () => {
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
])('Varnish passes on %s as it was, so that the refusal of the service quotes it', async address => {
  expect((await keyOf(address)).forwarded).toBe(address)
})

test('Varnish answers the longest queries, whatever they are made of', async () => {
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
