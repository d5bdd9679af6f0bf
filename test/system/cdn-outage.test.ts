// What the CDN does while the tier, or everything behind the CDN, cannot answer.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Layer } from '../../deploy/layers.ts'
import { startServing } from '../support/history/history-process.ts'
import { type WatchedTier, watchTier } from '../support/history/watched-tier.ts'
import { ALLOWED_ORIGIN, addressOf, ask, purge, startCdn } from '../support/servers/cdn.ts'
import { copyStores } from '../support/stores/stores.ts'

/** An answer that may be given past its time while a new one is fetched, and one that may only stand in for it. */
const REVALIDATED = '/v1/strategies'
const POLLED = '/version'

/** Long enough for Varnish to find a tier healthy again. */
const RECOVERY = { timeout: 60_000, interval: 100 }

let tier: WatchedTier
let edge: Layer
let files: Layer

beforeAll(async () => {
  const stores = await copyStores(inject('tinyStore'))
  const service = await startServing(stores)
  tier = await watchTier(addressOf(service.url))
  ;({ edge, files } = await startCdn(tier, stores.url))
})

const statusOf = async (address: string): Promise<number> => (await ask(edge.url + address)).status

/** Both answers in the cache, and past their time. */
async function keepStale(): Promise<void> {
  for (const address of [REVALIDATED, POLLED]) {
    await expect.poll(() => statusOf(address), RECOVERY).toBe(200)
  }
  await purge(edge, 'unpinned', true)
}

test('with a tier that answers, a stale polled answer waits for the new one', async () => {
  await keepStale()
  tier.answered.length = 0
  const got = await ask(edge.url + POLLED)
  expect([got.status, tier.answered.length]).toEqual([200, 1])
})

let levels = 0

/** An address that has not been requested yet. */
const unusedAddress = (): string => `/v1/strategies/ash/stats?risk_pct=0.0${++levels}`

const OUTAGES: [string, (tier: WatchedTier) => Promise<void>, (tier: WatchedTier) => Promise<void>][] = [
  ['is gone', ({ leave }) => leave(), ({ comeBack }) => comeBack()],
  ['answers 500', async ({ failWith }) => failWith(500), async ({ failWith }) => failWith(null)],
  ['answers 503', async ({ failWith }) => failWith(503), async ({ failWith }) => failWith(null)],
]

describe.each(OUTAGES)('while the tier %s', (_what, begin, end) => {
  test('cached answers are served stale, and everything else is 5xx until it is back', async () => {
    await keepStale()
    await begin(tier)
    for (let i = 0; i < 5; i++) {
      expect(await statusOf(REVALIDATED)).toBe(200)
      expect(await statusOf(POLLED)).toBe(200)
    }
    const uncached = unusedAddress()
    expect(await statusOf(uncached)).toBeGreaterThanOrEqual(500)
    await end(tier)
    await expect.poll(() => statusOf(uncached), RECOVERY).toBe(200)
  })
})

test('an error answer of the tier reaches the client unchanged, and is not cached', async () => {
  const address = unusedAddress()
  tier.failWith(500)
  const got = await ask(edge.url + address)
  tier.failWith(null)
  // Once Varnish has found the tier ill it no longer asks, and words it itself.
  expect([500, 503]).toContain(got.status)
  if (got.status === 500) expect(got.bytes.toString()).toBe('failed on purpose')
  await expect.poll(() => statusOf(address), RECOVERY).toBe(200)
})

test('with nothing behind the CDN, cached answers are served, and everything else is 503 in the envelope', async () => {
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
