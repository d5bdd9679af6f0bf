// How much of a day's traffic the CDN keeps away from the tier.
import { expect, inject, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { startServing } from '../support/history/history-process.ts'
import { watchTier } from '../support/history/watched-tier.ts'
import { addressOf, ask, startCdn } from '../support/servers/cdn.ts'
import { copyStores } from '../support/stores/stores.ts'

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

test('of a realistic mix at least 90 of 100 requests never reach the tier', async () => {
  const stores = await copyStores(inject('tinyStore'))
  const service = await startServing(stores)
  const tier = await watchTier(addressOf(service.url))
  const { edge } = await startCdn(tier, stores.url)
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
  const ratio = 1 - tier.answered.length / REQUESTS
  expect(ratio).toBeGreaterThan(0.9)
})
