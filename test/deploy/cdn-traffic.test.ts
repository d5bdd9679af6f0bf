// What reaches the tier through Varnish and nginx: a day's traffic, published files, and outages.
import { beforeAll, expect, inject, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { openStore } from '#storage/open-store.ts'
import type { Layer } from '../../deploy/layers.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { shared } from '../support/runner/shared.ts'
import {
  ALLOWED_ORIGIN,
  addressOf,
  ask,
  objectOf,
  purge,
  siteOf,
  startCdn,
  startEdge,
  type WatchedTier,
  watchTier,
} from '../support/servers/cdn.ts'
import { manifestOf } from '../support/stores/stored-bytes.ts'

let direct: string
let tier: WatchedTier
let edge: Layer
let files: Layer

beforeAll(async () => {
  direct = (await shared('history')).url
  tier = await watchTier(addressOf(direct))
  ;({ edge, files } = await startCdn(tier, inject('tinyStore').url))
})

const SEED = 20261121
const REQUESTS = 6000
const CLIENTS = 8
const SIDS = ['ash', 'beech', 'elm', 'yew']

/** What clients send: three browsers, a library, a script. */
const WISHES = ['gzip, deflate, br, zstd', 'gzip, deflate, br', 'br, gzip', 'gzip, deflate', 'identity']

const LEVELS = ['0.005', '0.01', '0.02', '0.03', '0.05']

const random = createRandom(SEED)
const below = (n: number): number => Math.floor(random.uniform() * n)
const pick = <T>(items: readonly T[]): T => items[below(items.length)]!
/** Some are asked for far more often than others. */
const pickPopular = <T>(items: readonly T[]): T => items[Math.floor(random.uniform() ** 2 * items.length)]!

const POINTS = DATASET_ROUTES.flatMap(route =>
  canonicalPoints(route, SIDS).map(params => canonicalPath(route.id, params)),
)

/** Some spell their requests with defaults, and with keys of their own. */
const sloppily = (address: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}${pick(['utm_source=mail', 'v=2', '_=1'])}`

const rescaled = (level: string): string =>
  `/v1/strategies/${pickPopular(SIDS)}/${pick(['stats', 'curve', 'returns'])}?risk_pct=${level}`

/** The mix, in parts of a hundred. */
const MIX: readonly (readonly [parts: number, draw: () => string])[] = [
  [50, () => pickPopular(POINTS)],
  [10, () => sloppily(pickPopular(POINTS))],
  [12, () => pickPopular(POINTS).replace('/v1', `/${versionFolder(TINY_VERSION)}`)],
  [15, () => rescaled(pick(LEVELS))],
  [3, () => rescaled(`${pick(LEVELS)}0`)],
  [8, () => '/version'],
  [1, () => rescaled(`0.0${1000 + below(9000)}`)], // a slider: hardly two the same
  [1, () => pick(['/v1/strategies/nobody/stats', '/v1/export?period=hourly'])],
]

function draw(): string {
  let at = below(100)
  for (const [parts, drawOne] of MIX) {
    at -= parts
    if (at < 0) return drawOne()
  }
  throw new Error('the parts of the mix are not a hundred')
}

/** The first test of this file: Varnish keeps nothing yet. */
test('at least 90 of 100 requests of a realistic mix never reach the tier', async () => {
  const requests = Array.from({ length: REQUESTS }, () => ({ address: draw(), wish: pick(WISHES) }))
  let served = 0
  const client = async (first: number): Promise<void> => {
    for (let i = first; i < requests.length; i += CLIENTS) {
      const { address, wish } = requests[i]!
      const { status } = await ask(edge.url + address, { 'accept-encoding': wish })
      if (status < 500) served++
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, first) => client(first)))
  expect(served).toBe(REQUESTS)
  expect(1 - tier.answered.length / REQUESTS).toBeGreaterThan(0.9)
})

const CODINGS = ['br', 'gzip', 'identity']

const HEADERS = [
  ...['content-type', 'content-encoding', 'content-location', 'content-security-policy'],
  ...['cache-control', 'etag', 'vary'],
]

/** Expects Varnish to send what a tier sends, in every coding, and to ask for each once. */
async function expectKept(
  addresses: readonly string[],
  source: string,
  through: Layer,
  watched: WatchedTier,
) {
  for (const address of addresses) {
    for (const coding of CODINGS) {
      const headers = { 'accept-encoding': coding }
      const own = await ask(source + address, headers)
      const [first, second] = [
        await ask(through.url + address, headers),
        await ask(through.url + address, headers),
      ]
      expect(objectOf(second)).toBe(objectOf(first))
      for (const got of [first, second]) {
        expect([address, got.status, got.bytes.equals(own.bytes)]).toEqual([address, 200, true])
        for (const name of HEADERS)
          expect([address, name, got.headers[name]]).toEqual([address, name, own.headers[name]])
      }
    }
  }
  const asked = watched.answered.filter(line => addresses.includes(line.slice('200 '.length)))
  expect(asked.length).toBe(addresses.length * CODINGS.length)
}

test('each published file of a strategy and of the book comes from a tier without nginx once in every coding, and unchanged', async () => {
  const watched = await watchTier(addressOf(direct))
  const alone = await startEdge(await siteOf(watched, { nginx: watched }))
  const { artifacts } = await manifestOf(await openStore(inject('tinyStore').url), TINY_VERSION)
  const addresses = artifacts.flatMap(({ url }) => {
    if (/\/strategies\/(?!ash)/.test(url)) return []
    const isFile = /\.(html|js|css|svg|png)$/.test(url) // its own address leads to the version
    return isFile ? [pinnedPath(TINY_VERSION, url)] : [url, pinnedPath(TINY_VERSION, url)]
  })
  await expectKept(addresses, direct, alone, watched)
})

/** An answer that may be given past its time while a new one is fetched, and one that may only stand in for it. */
const REVALIDATED = '/v1/strategies'
const POLLED = '/version'

/** Long enough for Varnish to find a tier healthy again. */
const RECOVERY = { timeout: 60_000, interval: 100 }

const statusOf = async (address: string): Promise<number> => (await ask(edge.url + address)).status

/** Both answers in the cache, and past their time. */
async function keepStale(): Promise<void> {
  for (const address of [REVALIDATED, POLLED]) {
    await expect.poll(() => statusOf(address), RECOVERY).toBe(200)
  }
  await purge(edge, 'unpinned', true)
}

test('a stale polled answer waits for the new one of a tier that answers', async () => {
  await keepStale()
  tier.answered.length = 0
  expect(await statusOf(POLLED)).toBe(200)
  expect(tier.answered.filter(line => line.endsWith(POLLED))).toHaveLength(1)
})

let levels = 0

/** An address that has not been requested yet. */
const unusedAddress = (): string => `/v1/strategies/beech/stats?risk_pct=0.09${++levels}`

test.each<[string, () => unknown, () => unknown]>([
  ['is gone', () => tier.leave(), () => tier.comeBack()],
  ['answers 500', () => tier.failWith(500), () => tier.failWith(null)],
  ['answers 503', () => tier.failWith(503), () => tier.failWith(null)],
])(
  'while the tier %s, cached answers are served stale, and everything else is 5xx until it is back',
  async (_what, begin, end) => {
    await keepStale()
    await begin()
    for (let i = 0; i < 5; i++) {
      expect(await statusOf(REVALIDATED)).toBe(200)
      expect(await statusOf(POLLED)).toBe(200)
    }
    const uncached = unusedAddress()
    expect(await statusOf(uncached)).toBeGreaterThanOrEqual(500)
    await end()
    await expect.poll(() => statusOf(uncached), RECOVERY).toBe(200)
  },
)

/** The last test of this file: nginx does not come back. */
test('a CDN with nothing behind it serves cached answers, and everything else is 503 in the envelope', async () => {
  await keepStale()
  await files.stop()
  expect(await statusOf(REVALIDATED)).toBe(200)
  expect(await statusOf(POLLED)).toBe(200)
  const got = await ask(edge.url + unusedAddress(), { origin: ALLOWED_ORIGIN })
  expect(got.status).toBe(503)
  expect(got.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '5',
    'cache-control': 'no-store',
    'access-control-allow-origin': ALLOWED_ORIGIN,
    vary: 'Accept-Encoding, Origin',
  })
  expect(JSON.parse(got.bytes.toString())).toMatchObject({ error: { code: 'unavailable', details: null } })
})
