// How long Varnish keeps what an origin says of itself in each way that the tier knows.
import { beforeAll, expect, test } from 'vitest'
import type { Layer } from '../../deploy/layers.ts'
import { ask, objectOf, purge, siteOf, startEdge, startOrigin } from '../support/servers/cdn.ts'

const DATASET = 'max-age=60, stale-while-revalidate=60, stale-if-error=86400'
const TAG = 'v-20250224T001500Z'

type Answer = { readonly status?: number; readonly headers: Readonly<Record<string, string>> }

const VARY = { vary: 'Accept-Encoding, Origin' }

/** By path, what the origin answers. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  '/tagged': { headers: { ...VARY, 'cache-control': DATASET, 'cache-tag': TAG, xkey: TAG } },
  '/plain': {
    headers: {
      ...VARY,
      'cache-control': DATASET,
      'cache-tag': 'other',
      'server-timing': 'app;dur=9',
    },
  },
  '/coding': { headers: { ...VARY, 'cache-control': DATASET } },
  '/refused': { status: 422, headers: { ...VARY, 'cache-control': 'max-age=10' } },
  '/missing': { status: 404, headers: { ...VARY, 'cache-control': 'max-age=10' } },
  '/never': { headers: { ...VARY, 'cache-control': 'no-store' } },
  '/secret': { headers: { ...VARY, 'cache-control': 'private, max-age=60' } },
  '/cookie': { headers: { ...VARY, 'cache-control': DATASET, 'set-cookie': 'a=b' } },
  '/other-vary': { headers: { vary: 'Accept-Encoding, User-Agent', 'cache-control': DATASET } },
  '/v1/snapshots/20250224T001500Z/strategies': {
    headers: { ...VARY, 'cache-control': 'max-age=31536000, immutable' },
  },
  '/v1/plain': { headers: { ...VARY, 'cache-control': DATASET } },
  '/revalidated': {
    headers: {
      ...VARY,
      'cache-control': 'max-age=60, must-revalidate',
      etag: '"a"',
      'cache-tag': 'revalidated',
    },
  },
}

/** A date some seconds after the test began. */
const dateIn = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString()

/** Headers, and whether an answer with them may be kept. */
const POLICIES: readonly (readonly [headers: Readonly<Record<string, string>>, isKept: boolean])[] = [
  [{}, false],
  [{ etag: '"a"' }, false],
  [{ 'last-modified': 'Wed, 01 Jan 2020 00:00:00 GMT' }, false],
  [{ 'cache-control': 'public' }, false],
  [{ 'cache-control': 'MAX-AGE=600' }, true],
  [{ 'cache-control': 'max-age=x' }, false],
  [{ 'cache-control': 'x-max-age=600' }, false],
  [{ 'cache-control': 'max-age=600, s-maxage=0' }, false],
  [{ 'cache-control': 'max-age=0, s-maxage=600' }, true],
  [{ 'cache-control': 'max-age=600, No-Cache' }, false],
  [{ 'cache-control': 'max-age=600, nO-StOrE' }, false],
  [{ 'cache-control': 'max-age=600, Private="x"' }, false],
  [{ 'cache-control': 'max-age=600', age: '700' }, false],
  [{ 'cache-control': 'max-age=600', age: '5' }, true],
  [{ expires: dateIn(600) }, true],
  [{ expires: dateIn(600), 'cache-control': 'max-age=0' }, false],
  [{ expires: '0' }, false],
  [{ expires: dateIn(600).replace('GMT', 'UTC') }, false],
  [{ expires: dateIn(3000), date: dateIn(4000) }, false],
  [{ 'cdn-cache-control': 'max-age=600' }, true],
  [{ 'cdn-cache-control': 'max-age=600', 'cache-control': 'no-store' }, true],
  [{ 'cdn-cache-control': 'max-age=0', 'cache-control': 'max-age=600' }, false],
  [{ 'cdn-cache-control': 'max-age=0', expires: dateIn(600) }, false],
  [{ 'cdn-cache-control': 'private', 'cache-control': 'max-age=600' }, false],
  [{ 'cdn-cache-control': 'no-cache', 'cache-control': 'max-age=600' }, false],
  [{ 'cdn-cache-control': 'max-age="600"', 'cache-control': 'no-store' }, false],
  [{ 'cdn-cache-control': 'max-age=600, &', 'cache-control': 'no-store' }, false],
]

const ACCEPTED: readonly (readonly [accepted: string, coding: string])[] = [
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
  ['*', 'br'],
  ['identity;q=0, *', 'br'],
  ['br;q=0, *;q=0.5', 'gzip'],
  ['*, br;q=0.0, gzip;q=0', 'identity'],
  ['*;q=0', 'identity'],
  ['gzip;q=0, br;q=0.5', 'br'],
]

let edge: Layer

/** The conditions of requests for `/revalidated`. */
const conditions: unknown[] = []

beforeAll(async () => {
  const origin = await startOrigin(({ url = '', headers: sent }, response) => {
    const [path = '', query] = url.split('?')
    if (path === '/policy') return void response.writeHead(200, POLICIES[Number(query)]?.[0]).end(url)
    const { status = 200, headers } = ANSWERS[path] ?? { headers: VARY }
    if (path === '/revalidated') {
      const condition = sent['if-none-match']
      conditions.push(condition)
      if (condition === '"a"') return void response.writeHead(304, headers).end()
    }
    response.writeHead(status, headers).end(url === '/coding' ? sent['accept-encoding'] : url)
  })
  edge = await startEdge(await siteOf(origin, { nginx: origin }))
})

async function isKept(path: string): Promise<boolean> {
  const [first, second] = [await ask(edge.url + path), await ask(edge.url + path)]
  return objectOf(first) === objectOf(second)
}

test.each(['/tagged', '/plain', '/refused', '/missing', '/v1/snapshots/20250224T001500Z/strategies'])(
  '%s is kept',
  async path => {
    expect(await isKept(path)).toBe(true)
  },
)

test.each(['/never', '/secret', '/cookie', '/other-vary'])('%s is not kept', async path => {
  expect(await isKept(path)).toBe(false)
})

test.each(POLICIES.map(([headers, kept], number) => [headers, kept, number] as const))(
  'an answer with %j is kept: %s',
  async (_headers, kept, number) => {
    expect(await isKept(`/policy?${number}`)).toBe(kept)
  },
)

test('a stale answer is kept to be revalidated: the origin is asked whether it changed', async () => {
  const before = await ask(`${edge.url}/revalidated`)
  await purge(edge, 'revalidated', true)
  const after = await ask(`${edge.url}/revalidated`)
  expect(conditions).toEqual([undefined, '"a"'])
  expect([after.status, after.bytes.toString()]).toEqual([200, before.bytes.toString()])
})

test('age and date of an answer out of the cache agree, so a browser may use it until it is stale', async () => {
  const path = '/v1/snapshots/20250224T001500Z/strategies'
  const { headers: first } = await ask(edge.url + path)
  await expect.poll(async () => Number((await ask(edge.url + path)).headers.age)).toBeGreaterThan(1)
  for (const method of ['GET', 'HEAD']) {
    const { headers } = await ask(edge.url + path, {}, method)
    const sinceDate = (Date.now() - Date.parse(headers.date ?? '')) / 1_000
    expect(headers.date).toBe(first.date)
    expect(Number(headers.age)).toBeGreaterThan(1)
    expect(Number(headers.age)).toBeLessThanOrEqual(Math.ceil(sinceDate))
  }
})

test('tags stay in the CDN', async () => {
  await ask(`${edge.url}/plain`)
  const { headers } = await ask(`${edge.url}/plain`)
  expect(headers['cache-control']).toBe(DATASET)
  for (const name of ['cache-tag', 'xkey', 'server-timing']) expect(headers).not.toHaveProperty(name)
})

test('the order of parameters does not matter, a hundred values of Accept-Encoding are three objects', async () => {
  const [one, other] = [await ask(`${edge.url}/v1/plain?b=1&a=2`), await ask(`${edge.url}/v1/plain?a=2&b=1`)]
  expect(objectOf(other)).toBe(objectOf(one))
  const objects = new Map<string, Set<number>>()
  for (const [accepted, coding] of ACCEPTED) {
    const got = await ask(`${edge.url}/coding`, { 'accept-encoding': accepted })
    expect(got.bytes.toString(), accepted).toBe(coding)
    objects.set(coding, (objects.get(coding) ?? new Set()).add(objectOf(got)))
  }
  expect([...objects.values()].map(({ size }) => size)).toEqual([1, 1, 1])
})

test('a purge takes what carries the tag and nothing else', async () => {
  const paths = ['/tagged', '/plain', '/missing', '/v1/snapshots/20250224T001500Z/strategies']
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
