// nginx itself in front of a published store: what it answers from disk, what it passes to the tier, and how many requests of a
// client may wait for the tier.
import { once } from 'node:events'
import { cp, rm } from 'node:fs/promises'
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, inject, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { disclaimerKey } from '#storage/nginx-files.ts'
import { openStore } from '#storage/open-store.ts'
import type { Layer } from '../../deploy/layers.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { shared } from '../support/runner/shared.ts'
import {
  ALLOWED_ORIGIN,
  ask,
  type Got,
  type Origin,
  seen,
  siteOf,
  startFiles,
  startOrigin,
} from '../support/servers/cdn.ts'
import { manifestOf } from '../support/stores/stored-bytes.ts'
import { copyStores } from '../support/stores/stores.ts'

const PINNED = `/${versionFolder(TINY_VERSION)}`
const pin = (address: string): string => address.replace('/v1', PINNED)

const CODINGS = ['identity', 'br', 'gzip']

/** When the files of the version were modified. */
const MODIFIED = 'Mon, 24 Feb 2025 00:15:00 GMT'

const STORE = fileURLToPath(inject('tinyStore').url)

let service: { readonly url: string }
let published: Manifest
let tier: Origin
let files: Layer

/** A status that nothing else sends, what was requested, and by whom. */
const echo: RequestListener = ({ method, url, headers }, response) =>
  response.writeHead(299, { 'x-asked': `${method} ${url}`, 'x-client': headers['x-forwarded-for'] }).end()

/** What the stand-in for the tier does with a request. */
let answer = echo

beforeAll(async () => {
  published = await manifestOf(await openStore(inject('tinyStore').url), TINY_VERSION)
  service = await shared('history')
  tier = await startOrigin((incoming, outgoing) => answer(incoming, outgoing))
  files = await startFiles(await siteOf(tier, { store: STORE }))
})

/** Answers of both to the same request: nginx has only a stand-in behind it, so a status of 200 or 304 is its own. */
async function expectSame(address: string, headers: Record<string, string>, method = 'GET'): Promise<Got> {
  const [fromFiles, fromTier] = [
    await ask(files.url + address, headers, method),
    await ask(service.url + address, headers, method),
  ]
  expect(seen(fromFiles), `${method} ${address}`).toEqual(seen(fromTier))
  return fromFiles
}

/** Codings by address and validator. */
const codingBy = new Map<string, string>()

test.each(CODINGS)(
  'nginx and the tier send the same file, the same 304 and a validator of its own for every address in %s',
  async coding => {
    expect(published.artifacts.length).toBeGreaterThan(20)
    for (const [i, { url, encodings }] of published.artifacts.entries()) {
      const isFile = /\.(html|js|css|svg|png)$/.test(url) // its own address leads to the version
      for (const address of isFile ? [pin(url)] : [url, pin(url)]) {
        const headers = { 'accept-encoding': coding }
        const { status, headers: got } = await expectSame(address, headers)
        const own = coding in encodings ? coding : 'identity'
        expect([status, got['content-encoding'] ?? 'identity'], address).toEqual([200, own])
        const validated = `${address} ${got.etag}`
        expect([address, codingBy.get(validated) ?? own]).toEqual([address, own])
        codingBy.set(validated, own)
        const known = await expectSame(address, { ...headers, 'if-none-match': `"other", ${got.etag}` })
        expect(known.status, address).toBe(304)
        if (CODINGS[i % CODINGS.length] !== coding) continue // each address in one coding, and each coding for many
        await expectSame(address, { ...headers, origin: 'http://localhost:5173' })
        await expectSame(address, { ...headers, origin: 'https://other.example.org' })
        await expectSame(address, { ...headers, origin: 'HTTP://LOCALHOST:5173' })
        await expectSame(address, headers, 'HEAD')
        await expectSame(address, { ...headers, 'if-none-match': '"other"' })
        expect((await expectSame(address, { ...headers, 'if-modified-since': MODIFIED })).status).toBe(200)
      }
    }
  },
)

test('deprecation headers are those of the site, also where the address names its version', async () => {
  const site = await siteOf(tier, { store: STORE, deprecatedAtMs: 0, sunsetAtMs: 86_400_000 })
  const { url } = await startFiles(site)
  for (const address of ['/v1/strategies', pin('/v1/strategies'), `${pin('/v1/export')}?format=csv`]) {
    const { headers } = await ask(url + address)
    expect([headers.deprecation, headers.sunset], address).toEqual(['@0', 'Fri, 02 Jan 1970 00:00:00 GMT'])
  }
})

/** Addresses that are no published file as they are spelled. */
const COMPUTED_ADDRESSES = `
  /version / /v1/dataset/versions /v1/strategies?x=1 /v1/strategies?dataset_version=${TINY_VERSION}
  /v1/export?period=weekly&format=csv /v1/export?period=daily /v1/export?FORMAT=csv /v1/strategies?format=csv
  /v1/correlation?format=parquet&period=weekly /v1/benchmark?format=arrow /v1/strategies/ash/curve?risk=0.02
  /v1/export?format=none /v1/STRATEGIES /v1/strategies/ash/rolling /v1/strategies/ash/rolling?format=csv
  /v1/benchmark?format=parquet /v1/benchmark?period=weekly /v1/strategies/nobody/stats
  /v1/snapshots/20990101T000000Z/strategies /v1/snapshots/20250224T001500Z/../../current.json
  /v1/strategies/%61sh?x=%2F /v1/strategies/%61sh /v1/strategies/ash%2Fstats /v1/./strategies /v1/strategies?
  /nginx/served.conf /v1/current.json`

/** The same that name their version: `/v1` stands for its folder. */
const COMPUTED_PINNED = `
  /v1/strategies/ash/returns?period=weekly&x=1 /v1/strategies/ash/returns?format=parquet&period=weekly
  /v1/strategies/ash/curve?format=arrow /v1/strategies/ash/returns?period=weekly&period=daily
  /v1/strategies/ash/returns?period=Weekly /v1/strategies/ash/returns?PERIOD=weekly
  /v1/strategies/ash/returns?format=xml /v1/strategies/ash/stats?risk_pct=0.02
  /v1/strategies/ash/stats?period=weekly /v1/strategies/ash/rolling
  /v1/strategies/ash/rolling?format=csv&risk_pct=0.02 /v1/benchmark/ /v1/strategies/nobody/stats
  /v1/strategies/ash/nothing /v1/strategies/ash/ /v1/strategies/ /v1/manifest.json`

const wordsOf = (text: string): string[] => text.trim().split(/\s+/)

test.each([...wordsOf(COMPUTED_ADDRESSES), ...wordsOf(COMPUTED_PINNED).map(pin)])(
  'nginx passes %s to the tier as the client spelled it',
  async address => {
    const got = await ask(files.url + address)
    expect([got.status, got.headers['x-asked']]).toEqual([299, `GET ${address}`])
  },
)

test.each([
  { 'accept-encoding': '*' },
  { 'accept-encoding': 'identity;q=0, *' },
  { 'accept-encoding': 'br;q=0.1, gzip' },
  { 'if-match': '"other"' },
  { 'if-match': 'other' },
  { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
])('nginx passes a request with %j to the tier, because it would answer it in another way', async headers => {
  for (const address of ['/v1/strategies', pin('/v1/strategies')])
    expect((await ask(files.url + address, headers)).status).toBe(299)
})

test.each(['POST', 'OPTIONS', 'DELETE'])('nginx passes %s of a published file to the tier', async method => {
  for (const address of ['/v1/strategies', pin('/v1/strategies')]) {
    const got = await ask(files.url + address, {}, method)
    expect([got.status, got.headers['x-asked']]).toEqual([299, `${method} ${address}`])
  }
})
/** nginx keeps open files for some seconds. */
const PATIENT = { timeout: 60_000, interval: 100 }

test('nginx sends no files of a version without a manifest, and no table of a version without a disclaimer', async () => {
  const copy = fileURLToPath((await copyStores(inject('tinyStore'))).url)
  const unfinished = '/v1/snapshots/20250301T001500Z'
  await cp(join(copy, PINNED), join(copy, unfinished), { recursive: true })
  await rm(join(copy, disclaimerKey(TINY_VERSION)))
  const { url } = await startFiles(await siteOf(tier, { store: copy }))
  for (const address of ['/v1/export', pin('/v1/export')]) {
    expect((await ask(url + address)).status).toBe(200)
    expect((await ask(`${url}${address}?format=csv`)).status).toBe(299)
  }
  const status = async () => (await ask(`${url}${unfinished}/strategies`)).status
  expect(await status()).toBe(200)
  await rm(join(copy, unfinished, 'manifest.json'))
  await expect.poll(status, PATIENT).toBe(299)
})

test('before the first publication nginx passes everything to the tier', async () => {
  const empty = await startFiles(await siteOf(tier, { store: join(STORE, 'nothing') }))
  expect((await ask(`${empty.url}/v1/strategies`)).status).toBe(299)
})

test('while the tier is away published files are answered, and everything else is 503 in the envelope', async () => {
  await tier.leave()
  expect((await ask(files.url + pin('/v1/strategies'))).status).toBe(200)
  expect((await ask(`${files.url}/v1/strategies`)).status).toBe(200)
  const got = await ask(`${files.url}/v1/strategies?risk_pct=0.02`)
  expect(got.status).toBe(503)
  expect(got.headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' })
  expect(JSON.parse(got.bytes.toString())).toMatchObject({
    error: { code: 'unavailable' },
    meta: { dataset_version: null },
  })
  await tier.comeBack()
  expect((await ask(`${files.url}/version`)).status).toBe(299)
})

/** Requests of a client that may wait for the tier, as in tier.conf. */
const MOST_WAITING = 256

const COMPUTED = '/v1/strategies/ash/stats?risk_pct=0.013'

const askAs = (client: string, path = COMPUTED) =>
  ask(files.url + path, { 'x-forwarded-for': client, origin: ALLOWED_ORIGIN })

test.each([
  ['an IPv4 client', '203.0.113.7', '198.51.100.1, 203.0.113.7', '203.0.113.8'],
  ['the /64 of an IPv6 client', '2001:db8:0:7::1', '2001:db8:0:7:ffff::2', '2001:db8:0:8::1'],
])(
  '%s gets 503 while too many of its requests wait, and others are answered',
  async (_what, client, same, other) => {
    const held: ServerResponse[] = []
    answer = (_request, response) => held.push(response)

    /** Requests of a client behind a trusted proxy, which leaves as soon as the tier has them. */
    async function askAndLeave(address: string, count: number): Promise<void> {
      const before = held.length
      const sent = Array.from({ length: count }, () => {
        const one = request(files.url + COMPUTED, { agent: false, headers: { 'x-forwarded-for': address } })
        one.on('error', () => {}).end() // its connection is destroyed below
        return one
      })
      await expect.poll(() => held.length).toBe(before + count)
      for (const one of sent) one.destroy()
    }

    await askAndLeave(client, MOST_WAITING)
    for (const address of [client, same]) {
      const { status, headers, bytes } = await askAs(address)
      expect([status, headers['retry-after'], headers['content-type']]).toEqual([
        ...[503, '5', 'application/json; charset=utf-8'],
      ])
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'access-control-allow-origin': ALLOWED_ORIGIN,
        'access-control-expose-headers': expect.stringContaining('Retry-After'),
      })
      expect(JSON.parse(bytes.toString())).toMatchObject({ error: { code: 'overloaded', details: null } })
    }
    expect((await askAs(client, '/v1/strategies')).status).toBe(200)
    await askAndLeave(other, 1)
    answer = echo
    for (const response of held) response.end()
    await expect.poll(async () => (await askAs(client)).status).toBe(299)
    expect((await askAs(same)).headers['x-client']).toBe(same.split(', ').at(-1))
  },
)

test('nginx reads no more of an answer than its buffers hold while the client stands still, and writes nothing to disk', async () => {
  const [piece, pieces] = [Buffer.alloc(1 << 20), 64]
  let made = 0
  answer = async (_request, response) => {
    for (; made < pieces; made++) if (!response.write(piece)) await once(response, 'drain')
    response.end()
  }
  const held = await new Promise<IncomingMessage>(resolve => request(files.url + COMPUTED, resolve).end())
  for (let before = -1; before !== made; ) {
    before = made
    for (let i = 0; i < 50; i++) expect((await ask(`${files.url}/v1/strategies`)).status).toBe(200)
  }
  expect(made).toBeLessThan(pieces / 2)
  expect((await buffer(held)).length).toBe(pieces * piece.length)
})
