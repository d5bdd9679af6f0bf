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
}

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
]

let edge: Layer
beforeAll(async () => {
  const origin = await startOrigin(({ url = '', headers: sent }, response) => {
    const { status = 200, headers } = ANSWERS[url.replace(/\?.*/, '')] ?? { headers: VARY }
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

test('tags stay in the CDN, and an answer out of the cache has its age', async () => {
  await ask(`${edge.url}/plain`)
  const { headers } = await ask(`${edge.url}/plain`)
  expect(headers['cache-control']).toBe(DATASET)
  expect(headers).toHaveProperty('age')
  for (const name of ['cache-tag', 'xkey', 'server-timing']) expect(headers).not.toHaveProperty(name)
})

test('the order of parameters does not matter, a hundred values of Accept-Encoding are three objects', async () => {
  const [one, other] = [await ask(`${edge.url}/plain?b=1&a=2`), await ask(`${edge.url}/plain?a=2&b=1`)]
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
