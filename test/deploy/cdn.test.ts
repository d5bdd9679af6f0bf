// The whole chain: Varnish, nginx, and the tier on a store, while versions come and go.
import { beforeAll, expect, inject, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { privateKey, versionFolder } from '#core/contract/artifacts.ts'
import { sha256 } from '#storage/digest.ts'
import { openStore } from '#storage/open-store.ts'
import { programFileName } from '#storage/published-files.ts'
import type { Layer } from '../../deploy/layers.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
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

test('each origin gets its own headers of one cached object, and nobody those between nginx and Varnish', async () => {
  const address = '/v1/strategies/ash/returns?period=weekly&risk_pct=0.013' // by the tier
  const askAs = (headers: Record<string, string>) => ask(edge.url + address, { ...BROWSER, ...headers })
  const answers = {
    foreign: await askAs({ origin: 'https://other.example.org' }), // the first: what it is refused is not kept
    absent: await askAs({}),
    allowed: await askAs({ origin: ALLOWED_ORIGIN }),
    opaque: await askAs({ origin: 'null' }),
    longer: await askAs({ origin: `${ALLOWED_ORIGIN}.evil.com` }),
  }
  expect(new Set(Object.values(answers).map(objectOf)).size).toBe(1)
  expect((await ask(service.url + address)).headers).toMatchObject({
    'server-timing': expect.any(String),
    xkey: expect.any(String),
  })
  for (const [name, { headers, status }] of Object.entries(answers)) {
    expect(status).toBe(200)
    expect(headers.vary, name).toBe('Accept-Encoding, Origin')
    expect(headers['access-control-allow-origin'], name).toBe(name === 'allowed' ? ALLOWED_ORIGIN : undefined)
    const internal = /^(hw-|xkey|cache-tag|cdn-cache-control|server-timing)/
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

test('a cached answer that the tier revalidated with 304 keeps its content type, coding and body', async () => {
  const address = '/v1/strategies/ash/curve?format=csv&risk_pct=0.02' // not from disk either
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

test('after a version was published a purge moves every unpinned address to it, and every pinned one stays', async () => {
  const store = await openStore(stores.url)
  const before = (await manifestOf(store, TINY_VERSION)).artifacts
  const digestAt = async (address: string): Promise<string> => {
    const { status, headers, bytes } = await ask(edge.url + address)
    if (status === 307) return digestAt(String(headers.location)) // a page or an asset
    return status === 200 ? sha256(bytes) : `no body but the status ${status}`
  }
  const unlike = async (artifacts: typeof before, addressOf = (url: string) => url): Promise<string[]> => {
    const digests = await Promise.all(artifacts.map(({ url }) => digestAt(addressOf(url))))
    return artifacts.filter(({ sha256: digest }, i) => digest !== digests[i]).map(({ url }) => url)
  }
  expect(await unlike(before)).toEqual([]) // and all of them are cached
  expect(await run(buildArgs(stores), { now: () => Date.now() })).toMatchObject({ code: 0 })
  await service.prints(new RegExp(`swapped ${TINY_VERSION} for ${NEXT_VERSION}`))
  const next = (await manifestOf(store, NEXT_VERSION)).artifacts
  const unmoved = async () => {
    await purge(edge, `v-${toCompactInstant(TINY_VERSION)}`)
    return unlike(next)
  }
  await expect.poll(unmoved, { timeout: 60_000, interval: 200 }).toEqual([]) // nginx follows within a second
  expect(await unlike(before, url => url.replace('/v1', `/${versionFolder(TINY_VERSION)}`))).toEqual([])
})

/** Ways to spell the path of a private file, for a tier or a server that resolves too much. */
function waysTo(version: string, inside: string): string[] {
  const [key, folder] = [privateKey(version, inside), toCompactInstant(version)]
  return [
    `/${key}`,
    `/v1/${key}`,
    `/v1/${inside}`,
    `/v1/snapshots/${key}`,
    `/v1/snapshots/${key}.br`,
    `/v1/snapshots/${folder}/../../../private/${key}`,
    `/v1/snapshots/${folder}/%2e%2e/%2e%2e/%2e%2e/private/${key}`,
    `/v1/snapshots/${folder}%2f${inside.replaceAll('/', '%2f')}`,
    `/v1/snapshots/${folder}/strategies/../${inside}`,
    `/v1/snapshots//${key}`,
    `/v1/pin/${version}/${inside}`,
    `/v1/program/${inside.replace('program/', '').replace('.json', '')}`,
    `/private/${key}`,
    `/.published/v1/snapshots/${key}`,
  ]
}
