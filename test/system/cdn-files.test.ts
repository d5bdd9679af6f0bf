// nginx itself in front of a published store: what it answers from disk, and what it passes to the tier.
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { type Artifact, manifest } from '#core/contract/manifest.ts'
import { disclaimerKey } from '#storage/nginx-files.ts'
import type { Layer } from '../../deploy/layers.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { startServing } from '../support/history/history-process.ts'
import {
  addressOf,
  ask,
  type Got,
  type Origin,
  siteOf,
  startFiles,
  startOrigin,
} from '../support/servers/cdn.ts'
import { copyStores } from '../support/stores/stores.ts'

const PINNED = `/${versionFolder(TINY_VERSION)}`
const pin = (address: string): string => address.replace('/v1', PINNED)

const CODINGS = ['identity', 'br', 'gzip']

/** When the files of the version were modified. */
const MODIFIED = 'Mon, 24 Feb 2025 00:15:00 GMT'

let folder: string
let service: { readonly url: string }
let artifacts: readonly Artifact[]
let tier: Origin
let files: Layer

beforeAll(async () => {
  const stores = await copyStores(inject('tinyStore'))
  folder = fileURLToPath(stores.url)
  artifacts = manifest.parse(
    JSON.parse(await readFile(join(folder, manifestKey(TINY_VERSION)), 'utf8')),
  ).artifacts
  service = await startServing(stores)
  tier = await startOrigin((request, response) => {
    response.writeHead(299, { 'x-asked': `${request.method} ${request.url}` })
    response.end()
  })
  files = await startFiles(await siteOf(tier, { store: folder }))
})

/** Of the connection or of the moment. */
const ITS_OWN = new Set(['date', 'server', 'connection', 'keep-alive', 'transfer-encoding', 'server-timing'])

const seen = ({ status, headers, bytes }: Got) => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ITS_OWN.has(name))),
  body: bytes.toString('base64'),
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

describe.each(CODINGS)('from nginx and from the tier, in %s,', coding => {
  test('every canonical address of the latest version and its twin are the same: GET, HEAD, 304, CORS', async () => {
    expect(artifacts.length).toBeGreaterThan(20)
    for (const { url, encodings } of artifacts) {
      const isFile = /\.(html|js|css)$/.test(url) // its own address leads to the version
      for (const address of isFile ? [pin(url)] : [url, pin(url)]) {
        const headers = { 'accept-encoding': coding }
        const { status, headers: got } = await expectSame(address, headers)
        const isTwin = coding in encodings
        expect([status, got['content-encoding']], address).toEqual([200, isTwin ? coding : undefined])
        await expectSame(address, { ...headers, origin: 'http://localhost:5173' })
        await expectSame(address, { ...headers, origin: 'https://other.example.org' })
        await expectSame(address, { ...headers, origin: 'HTTP://LOCALHOST:5173' })
        await expectSame(address, headers, 'HEAD')
        const known = await expectSame(address, { ...headers, 'if-none-match': `"other", ${got.etag}` })
        expect(known.status, address).toBe(304)
        await expectSame(address, { ...headers, 'if-none-match': '"other"' })
        expect((await expectSame(address, { ...headers, 'if-modified-since': MODIFIED })).status).toBe(200)
      }
    }
  })
})

test('holding the instruments is a file, in JSON and in CSV, with the columns in the manifest', async () => {
  const { instruments } = manifest.parse(
    JSON.parse(await readFile(join(folder, manifestKey(TINY_VERSION)), 'utf8')),
  )
  for (const address of ['/v1/benchmark', pin('/v1/benchmark')]) {
    const { bytes } = await expectSame(address, {})
    expect(JSON.parse(bytes.toString()).data.instruments).toEqual(instruments)
    const { bytes: table, headers } = await expectSame(`${address}?format=csv`, {})
    expect(headers['content-type']).toMatch(/^text\/csv/)
    expect(table.toString().split('\r\n')[0]).toBe(['t', ...instruments!, 'equal_weight_book'].join(','))
  }
})

test('rolling years are computed behind nginx as by the tier alone, and revalidated', async () => {
  const { url } = await startFiles(await siteOf(addressOf(service.url), { store: folder }))
  for (const address of ['/v1/strategies/beech/rolling', pin('/v1/strategies/beech/rolling')]) {
    for (const query of ['', '?format=csv', '?risk_pct=0.01', '?format=csv&risk_pct=0.01']) {
      const [behind, alone] = [await ask(url + address + query), await ask(service.url + address + query)]
      expect([behind.status, behind.bytes.toString()]).toEqual([200, alone.bytes.toString()])
      expect(behind.bytes.toString()).toMatch(/\d{4}-\d\d-\d\d/)
      for (const name of ['etag', 'cache-control', 'content-type', 'content-location', 'x-dataset-version'])
        expect([name, behind.headers[name]]).toEqual([name, alone.headers[name]])
      const again = await ask(url + address + query, { 'if-none-match': String(behind.headers.etag) })
      expect([again.status, again.bytes.length]).toEqual([304, 0])
    }
  }
})

test('the validators of the codings differ', async () => {
  for (const { url, encodings } of artifacts) {
    const etags = new Set<unknown>()
    for (const coding of CODINGS)
      etags.add((await ask(files.url + pin(url), { 'accept-encoding': coding })).headers.etag)
    expect(etags.size, url).toBe(1 + Object.keys(encodings).length)
  }
})

test('deprecation headers are those of the site, also where the address names its version', async () => {
  const site = await siteOf(tier, { store: folder, deprecatedAtMs: 0, sunsetAtMs: 86_400_000 })
  const { url } = await startFiles(site)
  for (const address of ['/v1/strategies', pin('/v1/strategies'), `${pin('/v1/export')}?format=csv`]) {
    const { headers } = await ask(url + address)
    expect([headers.deprecation, headers.sunset], address).toEqual(['@0', 'Fri, 02 Jan 1970 00:00:00 GMT'])
  }
})

describe('to the tier, as the client spelled it, goes', () => {
  test.each([
    '/version',
    '/',
    '/v1/dataset/versions',
    '/v1/strategies?x=1',
    `/v1/strategies?dataset_version=${TINY_VERSION}`,
    '/v1/export?period=weekly&format=csv',
    '/v1/export?period=daily',
    '/v1/export?FORMAT=csv',
    '/v1/strategies?format=csv',
    '/v1/correlation?format=parquet&period=weekly',
    '/v1/benchmark?format=arrow',
    '/v1/strategies/ash/curve?risk=0.02',
    '/v1/export?format=none',
    '/v1/STRATEGIES',
    pin('/v1/strategies/ash/returns?period=weekly&x=1'),
    pin('/v1/strategies/ash/returns?format=parquet&period=weekly'),
    pin('/v1/strategies/ash/curve?format=arrow'),
    pin('/v1/strategies/ash/returns?period=weekly&period=daily'),
    pin('/v1/strategies/ash/returns?period=Weekly'),
    pin('/v1/strategies/ash/returns?PERIOD=weekly'),
    pin('/v1/strategies/ash/returns?format=xml'),
    pin('/v1/strategies/ash/stats?risk_pct=0.02'),
    pin('/v1/strategies/ash/stats?period=weekly'),
    '/v1/strategies/ash/rolling',
    '/v1/strategies/ash/rolling?format=csv',
    pin('/v1/strategies/ash/rolling'),
    pin('/v1/strategies/ash/rolling?format=csv&risk_pct=0.02'),
    '/v1/benchmark?format=parquet',
    '/v1/benchmark?period=weekly',
    pin('/v1/benchmark/'),
    pin('/v1/strategies/nobody/stats'),
    '/v1/strategies/nobody/stats',
    pin('/v1/strategies/ash/nothing'),
    pin('/v1/strategies/ash/'),
    pin('/v1/strategies/'),
    pin('/v1/manifest.json'),
    '/v1/snapshots/20990101T000000Z/strategies',
    '/v1/snapshots/20250224T001500Z/../../current.json',
    '/v1/strategies/%61sh?x=%2F',
    '/nginx/served.conf',
    '/v1/current.json',
  ])('%s', async address => {
    const got = await ask(files.url + address)
    expect([got.status, got.headers['x-asked']]).toEqual([299, `GET ${address}`])
  })

  test.each([
    { 'accept-encoding': '*' },
    { 'accept-encoding': 'identity;q=0, *' },
    { 'if-match': '"other"' },
    { 'if-match': 'other' },
    { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
  ])('a request with %j, which nginx would answer in another way', async headers => {
    for (const address of ['/v1/strategies', pin('/v1/strategies')])
      expect((await ask(files.url + address, headers)).status).toBe(299)
  })

  test.each(['POST', 'OPTIONS', 'DELETE'])('%s of a published file', async method => {
    for (const address of ['/v1/strategies', pin('/v1/strategies')]) {
      const got = await ask(files.url + address, {}, method)
      expect([got.status, got.headers['x-asked']]).toEqual([299, `${method} ${address}`])
    }
  })
})

/** nginx keeps open files for some seconds. */
const PATIENT = { timeout: 60_000, interval: 100 }

test('a version without a manifest is not complete: its files are not sent', async () => {
  const unfinished = '/v1/snapshots/20250301T001500Z'
  await cp(join(folder, PINNED), join(folder, unfinished), { recursive: true })
  const status = async () => (await ask(`${files.url}${unfinished}/strategies`)).status
  expect(await status()).toBe(200)
  await rm(join(folder, unfinished, 'manifest.json'))
  await expect.poll(status, PATIENT).toBe(299)
  await rm(join(folder, unfinished), { recursive: true })
})

test('without the disclaimer of a version the tier answers its tables', async () => {
  const copy = fileURLToPath((await copyStores(inject('tinyStore'))).url)
  await rm(join(copy, disclaimerKey(TINY_VERSION)))
  const silent = await startFiles(await siteOf(tier, { store: copy }))
  for (const address of ['/v1/export', pin('/v1/export')]) {
    expect((await ask(silent.url + address)).status).toBe(200)
    expect((await ask(`${silent.url}${address}?format=csv`)).status).toBe(299)
  }
})

test('before the first publication everything goes to the tier', async () => {
  const empty = await startFiles(await siteOf(tier, { store: join(folder, 'nothing') }))
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
