// nginx itself on a published version, and behind it an origin that stands in for the tier.
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { manifestKey, TWIN_ENDINGS, versionFolder } from '#core/contract/artifacts.ts'
import { type Artifact, manifest } from '#core/contract/manifest.ts'
import { commonDisclaimer } from '../../deploy/disclaimer.ts'
import type { Layer } from '../../deploy/layers.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { ALLOWED_ORIGIN, ask, type Origin, siteOf, startFiles, startOrigin } from '../support/servers/cdn.ts'
import { copyStores } from '../support/stores/stores.ts'

const PINNED = `/${versionFolder(TINY_VERSION)}`
const pin = (address: string): string => address.replace('/v1', PINNED)

let folder: string
let artifacts: readonly Artifact[]
let tier: Origin
let files: Layer

beforeAll(async () => {
  const stores = await copyStores(inject('tinyStore'))
  folder = fileURLToPath(stores.url)
  artifacts = manifest.parse(
    JSON.parse(await readFile(join(folder, manifestKey(TINY_VERSION)), 'utf8')),
  ).artifacts
  tier = await startOrigin((request, response) => {
    response.writeHead(299, { 'x-asked': `${request.method} ${request.url}` })
    response.end()
  })
  files = await startFiles(await siteOf(tier, { store: folder, disclaimer: await commonDisclaimer(folder) }))
})

test.each([
  ['identity', ''],
  ['br', TWIN_ENDINGS.br],
  ['gzip', TWIN_ENDINGS.gzip],
])(
  'every pinned answer is its file in the coding %s, with the headers that the manifest names',
  async (coding, ending) => {
    expect(artifacts.length).toBeGreaterThan(20)
    for (const { url, key, media_type, headers, encodings } of artifacts) {
      const isTwin = coding in encodings
      const got = await ask(files.url + pin(url), { 'accept-encoding': coding })
      expect(got.status, url).toBe(200)
      expect(got.bytes.equals(await readFile(join(folder, isTwin ? key + ending : key))), url).toBe(true)
      expect(got.headers, url).toMatchObject({
        ...headers,
        'content-type': media_type,
        'cache-control': 'max-age=31536000, immutable',
        vary: 'Accept-Encoding, Origin',
        'x-content-type-options': 'nosniff',
      })
      expect(got.headers['content-encoding'] ?? 'identity', url).toBe(isTwin ? coding : 'identity')
    }
  },
)

test('the validators of the codings differ, and one that is sent back answers 304 without a content type', async () => {
  for (const { url, encodings } of artifacts) {
    const etags = new Set<string>()
    for (const coding of ['identity', 'br', 'gzip']) {
      const { headers } = await ask(files.url + pin(url), { 'accept-encoding': coding })
      const etag = headers.etag ?? ''
      const again = await ask(files.url + pin(url), { 'accept-encoding': coding, 'if-none-match': etag })
      expect([again.status, again.headers['content-type']], url).toEqual([304, undefined])
      etags.add(etag)
    }
    expect(etags.size, url).toBe(1 + Object.keys(encodings).length)
  }
})

describe('the same file answers', () => {
  const daily = '/v1/strategies/ash/returns'
  test.each([
    [daily, `${daily}?period=daily`],
    [daily, `${daily}?format=json&period=daily`],
    [`${daily}?period=weekly`, `${daily}?period=weekly&format=json`],
    [`${daily}?format=csv&period=weekly`, `${daily}?period=weekly&format=csv`],
    [daily, '/v1/strategies/%61sh/returns'],
  ])('%s and %s', async (canonical, spelled) => {
    const [a, b] = [await ask(files.url + pin(canonical)), await ask(files.url + pin(spelled))]
    expect(a.status).toBe(200)
    expect(b.bytes.equals(a.bytes)).toBe(true)
  })
})

describe('to the tier, as it was spelled, goes', () => {
  test.each([
    '/v1/strategies',
    '/version',
    '/',
    pin('/v1/strategies/ash/returns?period=weekly&x=1'),
    pin('/v1/strategies/ash/returns?period=weekly&period=daily'),
    pin('/v1/strategies/ash/returns?period=Weekly'),
    pin('/v1/strategies/ash/returns?PERIOD=weekly'),
    pin('/v1/strategies/ash/returns?format=xml'),
    pin('/v1/strategies/ash/stats?risk_pct=0.02'),
    pin('/v1/strategies/ash/stats?period=weekly'),
    pin('/v1/strategies/nobody/stats'),
    pin('/v1/strategies/ash/nothing'),
    pin('/v1/strategies/ash/'),
    pin('/v1/strategies/'),
    pin('/v1/manifest.json'),
    '/v1/snapshots/20990101T000000Z/strategies',
    '/v1/snapshots/20250224T001500Z/../../current.json',
    '/v1/strategies/%61sh?x=%2F',
  ])('%s', async address => {
    const got = await ask(files.url + address)
    expect([got.status, got.headers['x-asked']]).toEqual([299, `GET ${address}`])
  })

  test.each(['POST', 'OPTIONS', 'DELETE'])('%s of a pinned file', async method => {
    const got = await ask(files.url + pin('/v1/strategies'), {}, method)
    expect([got.status, got.headers['x-asked']]).toEqual([299, `${method} ${pin('/v1/strategies')}`])
  })
})

test('a version without a manifest is not there yet: nginx hands its files to nobody', async () => {
  const unfinished = '/v1/snapshots/20250301T001500Z'
  await cp(join(folder, PINNED), join(folder, unfinished), { recursive: true })
  expect((await ask(`${files.url}${unfinished}/strategies`)).status).toBe(200)
  await rm(join(folder, unfinished, 'manifest.json'))
  expect((await ask(`${files.url}${unfinished}/strategies`)).status).toBe(299)
  await rm(join(folder, unfinished), { recursive: true })
})

test('HEAD of a pinned file is answered like GET, without the body', async () => {
  const [get, head] = [
    await ask(files.url + pin('/v1/strategies')),
    await ask(files.url + pin('/v1/strategies'), {}, 'HEAD'),
  ]
  expect([head.status, head.bytes.length]).toEqual([200, 0])
  expect(head.headers['content-length']).toBe(String(get.bytes.length))
})

test('CSV and the like go to the tier where nginx was not told the disclaimer', async () => {
  const silent = await startFiles(await siteOf(tier, { store: folder }))
  expect((await ask(silent.url + pin('/v1/export'))).status).toBe(200)
  expect((await ask(`${silent.url}${pin('/v1/export')}?format=csv`)).status).toBe(299)
})

test('a page of an allowed origin may read, another may not', async () => {
  const address = files.url + pin('/v1/strategies')
  const allowed = await ask(address, { origin: ALLOWED_ORIGIN })
  expect(allowed.headers['access-control-allow-origin']).toBe(ALLOWED_ORIGIN)
  expect(allowed.headers['access-control-expose-headers']).toContain('ETag')
  for (const headers of [{ origin: 'https://other.example.org' }, { origin: 'null' }, {}]) {
    expect((await ask(address, headers)).headers).not.toHaveProperty('access-control-allow-origin')
  }
})

test('while the tier is away pinned files are answered, and everything else is 503 in the envelope', async () => {
  await tier.leave()
  expect((await ask(files.url + pin('/v1/strategies'))).status).toBe(200)
  const got = await ask(`${files.url}/v1/strategies`)
  expect(got.status).toBe(503)
  expect(got.headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' })
  expect(JSON.parse(got.bytes.toString())).toMatchObject({
    error: { code: 'unavailable' },
    meta: { dataset_version: null },
  })
  await tier.comeBack()
  expect((await ask(`${files.url}/v1/strategies`)).status).toBe(299)
})
