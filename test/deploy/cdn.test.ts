// The whole chain: Varnish, nginx, and the tier on a store, while versions come and go.
import { setTimeout as after } from 'node:timers/promises'
import { beforeAll, expect, inject, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { privateKey, versionFolder } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { openStore } from '#storage/open-store.ts'
import { programFileName } from '#storage/published-files.ts'
import type { Layer } from '../../deploy/layers.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { atEnd } from '../support/ends.ts'
import { type ServingProcess, startServing } from '../support/history/history-process.ts'
import {
  ALLOWED_ORIGIN,
  addressOf,
  ask,
  objectOf,
  purge,
  startCdn,
  type WatchedTier,
  watchTier,
} from '../support/servers/cdn.ts'
import { waysTo } from '../support/signals/ways-to-private.ts'
import { manifestOf } from '../support/stores/stored-bytes.ts'
import { buildArgs, copyStores, NEXT_VERSION } from '../support/stores/stores.ts'

const BROWSER = { 'accept-encoding': 'gzip, deflate, br, zstd' }

let stores: Stores
let service: ServingProcess
let tier: WatchedTier
let edge: Layer
let files: Layer

beforeAll(async () => {
  stores = await copyStores(inject('tinyStore'))
  service = await startServing(stores)
  tier = await watchTier(addressOf(service.url))
  ;({ edge, files } = await startCdn(tier, stores.url))
})

const artifactsOf = async (version: string): Promise<readonly Artifact[]> =>
  (await manifestOf(await openStore(stores.url), version)).artifacts

test('each origin gets its own headers of one cached object, and nobody those between nginx and Varnish', async () => {
  const address = '/v1/strategies/ash/returns?period=weekly'
  const askAs = (headers: Record<string, string>) => ask(edge.url + address, { ...BROWSER, ...headers })
  const answers = {
    foreign: await askAs({ origin: 'https://other.example.org' }), // the first: what it is refused is not kept
    absent: await askAs({}),
    allowed: await askAs({ origin: ALLOWED_ORIGIN }),
    opaque: await askAs({ origin: 'null' }),
    longer: await askAs({ origin: `${ALLOWED_ORIGIN}.evil.com` }),
  }
  expect(new Set(Object.values(answers).map(objectOf)).size).toBe(1)
  for (const [name, { headers, status }] of Object.entries(answers)) {
    expect(status).toBe(200)
    expect(headers.vary, name).toBe('Accept-Encoding, Origin')
    expect(headers['access-control-allow-origin'], name).toBe(name === 'allowed' ? ALLOWED_ORIGIN : undefined)
    const internal = /^(hw-|xkey|cache-tag|cdn-cache-control)/
    expect(Object.keys(headers).filter(header => internal.test(header))).toEqual([])
  }
  expect(answers.allowed.headers['access-control-expose-headers']).toContain('ETag')
})

test('no path leads to a private file of the program, neither through the cache nor through the server', async () => {
  const secret = '{"reserve_usd":12345.678}'
  const privateStore = await openStore(stores.privateUrl)
  const name = programFileName('manifest')
  const json = { content_type: 'application/json' }
  await privateStore.create(privateKey(TINY_VERSION, name), new TextEncoder().encode(secret), json)
  for (const { url } of [edge, files]) {
    for (const path of waysTo(TINY_VERSION, name)) {
      const { status, bytes } = await ask(url + path)
      expect([path, status]).toEqual([path, expect.toBeOneOf([400, 404])])
      expect(bytes.includes(secret), path).toBe(false)
    }
  }
})

const pin = (address: string): string => address.replace('/v1', `/${versionFolder(TINY_VERSION)}`)

test('a pinned answer that is computed is cached too, and is the one that the pin in the query names', async () => {
  const computed = pin('/v1/strategies/ash/stats?risk_pct=0.013')
  const [first, second] = [await ask(edge.url + computed), await ask(edge.url + computed)]
  expect(objectOf(second)).toBe(objectOf(first))
  const named = await ask(
    `${edge.url}/v1/strategies/ash/stats?dataset_version=${TINY_VERSION}&risk_pct=0.013`,
  )
  expect(named.bytes.equals(first.bytes)).toBe(true)
})

test('an unpinned answer names its pinned twin, and its tags stay in the CDN', async () => {
  const { headers } = await ask(`${edge.url}/v1/export?period=weekly&x=1`)
  expect(headers['content-location']).toBe(pin('/v1/export?period=weekly'))
  expect(headers['cache-control']).toContain('max-age=60')
  for (const name of ['cache-tag', 'xkey']) expect(headers).not.toHaveProperty(name)
})

test('a Host that no address can have is refused by the tier, and the refusal is not kept', async () => {
  const address = '/v1/strategies/ash/stats?risk_pct=0.017'
  for (const { url } of [edge, files]) {
    for (const host of ['256.1.1.1', 'a.1', '99999999999'])
      expect([host, (await ask(url + address, { host })).status]).toEqual([host, 400])
    expect((await ask(url + address)).status).toBe(200)
  }
})

test('a preflight is answered by the tier itself', async () => {
  const origin = 'http://localhost:5173' // the tier allows the ports on which people develop
  const { status, headers } = await ask(`${edge.url}/v1/strategies`, { origin }, 'OPTIONS')
  expect([status, headers['access-control-allow-origin']]).toEqual([204, origin])
})

test('a cached answer that the tier revalidated with 304 keeps its content type, coding and body', async () => {
  const address = '/v1/strategies/ash/curve?format=csv&risk_pct=0.02' // by the tier
  const before = await ask(edge.url + address, BROWSER)
  expect(before.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
  await purge(edge, 'unpinned', true)
  await ask(edge.url + address, BROWSER) // stale, and asks the tier behind its back
  await expect.poll(() => tier.answered).toContain(`304 ${address}`)
  await expect.poll(async () => objectOf(await ask(edge.url + address, BROWSER))).not.toBe(objectOf(before))
  const after = await ask(edge.url + address, BROWSER)
  expect(after.headers['content-type']).toBe(before.headers['content-type'])
  expect(after.headers['content-encoding']).toBe(before.headers['content-encoding'])
  expect(after.bytes.equals(before.bytes)).toBe(true)
})

test.each([
  ['an answer that says so', '/healthz', {}],
  ['an answer to a key', '/v1/strategies', { authorization: 'Bearer x' }],
  ['an answer to a key in its own header', '/v1/strategies', { 'x-api-key': 'x' }],
])('Varnish never keeps in its cache %s', async (_what, address, headers) => {
  for (let i = 0; i < 3; i++) {
    const { status, headers: got } = await ask(edge.url + address, { ...headers })
    expect([status, got['x-varnish']]).toEqual([200, expect.stringMatching(/^\d+$/)]) // a hit has two numbers
  }
})

test('a purge that comes through a proxy is refused, and one without a tag too', async () => {
  const headers = { xkey: 'unpinned', 'x-forwarded-for': '203.0.113.7' }
  expect((await ask(`${edge.url}/`, headers, 'PURGE')).status).toBe(403)
  expect((await ask(`${edge.url}/`, {}, 'PURGE')).status).toBe(400)
})

const READERS = 8

/** Between two requests of a reader, so that the build has the machine as well. */
const PAUSE_MS = 4

/** Half as long as an answer of the version before could stay without a purge. An answer on its way at the first purge needs another. */
const SOON = { timeout: 30_000, interval: 200 }

/** What a body must be: one of these digests, those of the file in each version. */
type Subject = { readonly address: string; readonly digests: ReadonlySet<string> }

test('while a version is published under load no answer mixes versions, and a purge moves every unpinned address to it', async () => {
  const before = await artifactsOf(TINY_VERSION)
  const pinned = before.map(({ url }) => pin(url))
  let isDone = false
  const seen: { address: string; digest: string }[] = []
  const read = async (address: string): Promise<string> => {
    const { status, headers, bytes } = await ask(edge.url + address)
    if (status === 307) return read(String(headers.location)) // a page or an asset
    return status === 200 ? sha256(bytes) : `no body but the status ${status}`
  }
  const readers = Array.from({ length: READERS }, async (_, reader) => {
    for (let i = reader; !isDone; i++) {
      const at = (i * 7) % before.length
      for (const address of [before[at]!.url, pinned[at]!])
        seen.push({ address, digest: await read(address) })
      await after(PAUSE_MS)
    }
  })

  atEnd(() => {
    isDone = true
    return Promise.allSettled(readers)
  })
  const isReadOften = (times: number) =>
    expect.poll(() => seen.length).toBeGreaterThan(times * 2 * before.length)

  await isReadOften(5)
  expect(await run(buildArgs(stores), { now: () => Date.now() })).toMatchObject({ code: 0 })
  await service.prints(new RegExp(`swapped ${TINY_VERSION} for ${NEXT_VERSION}`))
  const fromFiles = async () => (await ask(`${files.url}/v1/dataset`)).headers['cache-tag']
  await expect.poll(fromFiles).toBe(`v-${toCompactInstant(NEXT_VERSION)}`)
  const next = await artifactsOf(NEXT_VERSION)
  const unmoved = async (): Promise<string[]> => {
    await purge(edge, `v-${toCompactInstant(TINY_VERSION)}`)
    const digests = await Promise.all(next.map(({ url }) => read(url)))
    return next.filter(({ sha256: digest }, i) => digest !== digests[i]).map(({ url }) => url)
  }
  await expect.poll(unmoved, SOON).toEqual([])
  await isReadOften(10)
  isDone = true
  await Promise.all(readers)

  const subjects: Subject[] = before.flatMap(({ url, sha256: old }, i) => [
    { address: url, digests: new Set([old, next[i]!.sha256]) },
    { address: pinned[i]!, digests: new Set([old]) },
  ])
  const digestsOf = new Map(subjects.map(({ address, digests }) => [address, digests]))
  expect(seen.filter(({ address, digest }) => digestsOf.get(address)?.has(digest) !== true)).toEqual([])
  expect(before.some(({ sha256: old }, i) => old !== next[i]!.sha256)).toBe(true)
})
