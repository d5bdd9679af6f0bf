// Pins: every answer has an immutable twin of the same bytes, whichever version is served, and what is not there says so.
import { expect, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { canonicalPath, canonicalPoints } from '#core/dataset/resources/routes.ts'
import { sha256 } from '#storage/digest.ts'
import {
  createMemoryStores,
  type MemoryStores,
  publishInMemory,
} from '../../support/books/publish-in-memory.ts'
import {
  FIRST_VERSION,
  openBothVersions,
  pointTo,
  SECOND_VERSION,
  smallBook,
} from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { isArtifact, meddled, outage } from '../../support/stores/store-doubles.ts'
import { type App, errorOf, headersOf, openServing } from './answers.ts'
import { codingOf } from './decode.ts'
import { DATA_ROUTES, LEGAL, namesOf } from './paths.ts'
import { ERROR_ENVELOPE } from './specification.ts'

const IDS = ['alder', 'birch']

/** Every canonical point of the route table, by its path and query. */
const STATIC = DATA_ROUTES.flatMap(route =>
  canonicalPoints(route, IDS).map(params => canonicalPath(route.id, params)),
)

/** Points that are no file: each parameter alone, where it leads to one. */
const COMPUTED = DATA_ROUTES.flatMap(route => {
  const path = route.path.replace('{sid}', 'alder')
  const legal = { ...LEGAL, ids: 'birch,alder', from: '2024-01-10', to: '2024-02-01' }
  return namesOf(route)
    .filter(name => name !== 'period' && name !== 'format')
    .flatMap(name => route.formats.map(format => `${path}?format=${format}&${name}=${legal[name]}`))
})

const ADDRESSES = [...STATIC, ...COMPUTED]

const CODINGS = ['identity', 'br', 'gzip', 'zstd']

/** `?dataset_version=` beside the parameters that there are. */
const inQuery = (address: string, version: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}dataset_version=${version}`

const open = async ({ store, privateStore }: MemoryStores) => createTestApp(store, privateStore)

const bytesAt = async (app: App, address: string, coding = 'identity') => {
  const response = await app.request(address, { headers: { 'accept-encoding': coding } })
  const body = sha256(new Uint8Array(await response.clone().arrayBuffer()))
  return { status: response.status, etag: response.headers.get('etag'), coding: codingOf(response), body }
}

const { app: first } = await openServing(FIRST_VERSION)
const { app: second } = await openServing(SECOND_VERSION)

test.each(CODINGS)('a pinned answer as %s has the bytes and validator of the unpinned one', async coding => {
  for (const address of ADDRESSES) {
    const unpinned = await bytesAt(first, address, coding)
    expect(unpinned.status, address).toBe(200)
    for (const app of [first, second]) {
      expect(await bytesAt(app, pinnedPath(FIRST_VERSION, address), coding), address).toEqual(unpinned)
      expect(await bytesAt(app, inQuery(address, FIRST_VERSION), coding), address).toEqual(unpinned)
    }
  }
})

test('a pinned answer is the canonical one, however its parameters are spelled', async () => {
  const spelled = pinnedPath(FIRST_VERSION, '/v1/export?format=json&risk_pct=2.0e-2&x=1')
  const canonical = pinnedPath(FIRST_VERSION, '/v1/export?risk_pct=0.02')
  expect(await bytesAt(second, spelled)).toEqual(await bytesAt(second, canonical))
  const escaped = `/v1/%73napshots/${toCompactInstant(FIRST_VERSION)}/strategies/%61lder/stats`
  expect(await bytesAt(second, escaped)).toEqual(
    await bytesAt(second, pinnedPath(FIRST_VERSION, '/v1/strategies/alder/stats')),
  )
})

test('a pinned answer is refused for its parameters as the unpinned one is, and the refusal names its version', async () => {
  for (const [address, status] of [
    ['/v1/strategies/oak/stats', 404],
    ['/v1/export?period=yearly', 422],
    ['/v1/correlation?ids=oak', 404],
  ] as const) {
    for (const asked of [pinnedPath(FIRST_VERSION, address), inQuery(address, FIRST_VERSION)]) {
      const response = await second.request(asked)
      expect(response.status, asked).toBe(status)
      const { meta } = ERROR_ENVELOPE.parse(await response.json())
      expect(meta.dataset_version, asked).toBe(FIRST_VERSION)
    }
  }
})

test('a pinned answer is computed if its file is lost', async () => {
  const stores = await openBothVersions()
  const lost = meddled(stores.store, isArtifact, () => null)
  const { app, damages } = await createTestApp(lost, stores.privateStore)
  const whole = await (await first.request('/v1/summary')).text()
  expect(await (await app.request(pinnedPath(FIRST_VERSION, '/v1/summary'))).text()).toBe(whole)
  expect(damages).toHaveLength(1)
})

test('a pinned version is answered although no version can be served', async () => {
  const stores = await openBothVersions()
  await pointTo(stores, SECOND_VERSION)
  const isHead = (key: string) => key === manifestKey(SECOND_VERSION)
  const { app } = await open({ ...stores, store: meddled(stores.store, isHead, outage(stores.store)) })
  expect((await app.request('/v1/summary')).status).toBe(503)
  const expected = await bytesAt(first, '/v1/summary')
  expect(await bytesAt(app, pinnedPath(FIRST_VERSION, '/v1/summary'))).toEqual(expected)
  expect(await bytesAt(app, inQuery('/v1/summary', FIRST_VERSION))).toEqual(expected)
})

test('a pinned file is the same before and after more versions than stay in memory, and after a rollback', async () => {
  const stores = createMemoryStores()
  await publishInMemory(stores, smallBook(FIRST_VERSION))
  const { app, source } = await open(stores)
  const seen = async () => {
    const answers = []
    for (const address of STATIC) {
      const response = await app.request(pinnedPath(FIRST_VERSION, address), {
        headers: { 'accept-encoding': 'br' },
      })
      const body = sha256(new Uint8Array(await response.arrayBuffer()))
      answers.push([address, response.status, headersOf(response), body])
    }
    return answers
  }
  const before = await seen()
  for (let day = 10; day < 14; day++) {
    const version = `2024-03-${day}T00:15:00Z`
    await publishInMemory(stores, smallBook(version))
    expect(await source.refresh()).toMatchObject({ kind: 'swapped', to: version })
  }
  expect(await seen()).toEqual(before)
  await pointTo(stores, FIRST_VERSION)
  await source.refresh()
  expect(await seen()).toEqual(before)
})

const FOR_EVER = 'max-age=31536000, immutable'

test('every pinned answer may be kept for ever, and has no cache tag', async () => {
  for (const address of ADDRESSES) {
    for (const asked of [pinnedPath(FIRST_VERSION, address), inQuery(address, FIRST_VERSION)]) {
      for (const held of ['', '*']) {
        const { status, headers } = await second.request(asked, { headers: { 'if-none-match': held } })
        expect(status, asked).toBe(held === '' ? 200 : 304)
        expect(headers.get('cache-control'), asked).toBe(FOR_EVER)
        expect(headers.get('etag'), asked).toMatch(/^"[0-9a-f-]+"$/)
        for (const absent of ['cache-tag', 'xkey', 'cdn-cache-control']) {
          expect(headers.has(absent), `${asked} ${absent}`).toBe(false)
        }
      }
    }
  }
})

test('every unpinned answer names its pinned twin, which has its bytes, and has its cache tag', async () => {
  for (const address of ADDRESSES) {
    for (const held of ['', '*']) {
      const { headers } = await second.request(address, { headers: { 'if-none-match': held } })
      expect(headers.get('cache-tag'), address).toBe('v-20240302T001500Z')
      expect(headers.get('xkey'), address).toBe('v-20240302T001500Z')
      const twin = headers.get('content-location') ?? ''
      expect(twin, address).toMatch(/^\/v1\/snapshots\/20240302T001500Z\//)
      expect(await bytesAt(second, twin), twin).toEqual(await bytesAt(second, address))
    }
  }
})

test('an answer names its canonical twin, however the address is spelled', async () => {
  for (const [address, twin] of [
    ['/v1/export?format=json&risk_pct=0.020&color=red', '/v1/export?risk_pct=0.02'],
    ['/v1/strategies/%61lder/stats', '/v1/strategies/alder/stats'],
    ['/v1/correlation?ids=alder,birch', '/v1/correlation'],
  ] as const) {
    const named = async (asked: string) => (await second.request(asked)).headers.get('content-location')
    expect(await named(address)).toBe(pinnedPath(SECOND_VERSION, twin))
    expect(await named(inQuery(address, FIRST_VERSION))).toBe(pinnedPath(FIRST_VERSION, twin))
  }
})

test('a computed pinned answer has the digest of its bytes before their coding; a file has none, as nginx sends none', async () => {
  for (const address of ADDRESSES) {
    const asked = pinnedPath(FIRST_VERSION, address)
    const plain = new Uint8Array(await (await second.request(asked)).arrayBuffer())
    const digest = `sha-256=:${Buffer.from(sha256(plain), 'hex').toString('base64')}:`
    for (const coding of CODINGS) {
      const { headers } = await second.request(asked, { headers: { 'accept-encoding': coding } })
      expect(headers.get('unencoded-digest'), asked).toBe(COMPUTED.includes(address) ? digest : null)
    }
  }
})

const UNKNOWN = [
  '20240303T001500Z',
  '20240230T001500Z',
  '2024-03-01T00:15:00Z', // the form of the query, and not of the path
  '20240301t001500z',
  'latest',
  '%00',
  '..%2f..%2fcurrent',
  'x'.repeat(3000),
]

test.each(UNKNOWN)('a pin of the unknown version %s is 404 and names the versions that exist', async name => {
  for (const path of ['summary', 'manifest.json', 'changes']) {
    const response = await second.request(`/v1/snapshots/${name}/${path}`)
    expect(response.status).toBe(404)
    expect(response.headers.get('cache-control')).toBe('max-age=10')
    const { code, message, details } = await errorOf(response)
    expect(code).toBe('not_found')
    expect(message).toContain(`the newest are ${SECOND_VERSION}, ${FIRST_VERSION}`)
    expect(message.length).toBeLessThan(300)
    expect(details).toEqual({ available: [SECOND_VERSION, FIRST_VERSION] })
  }
})

test.each(['', 'x', '20240301T001500Z', '2024-03-01', `${FIRST_VERSION}&dataset_version=${FIRST_VERSION}`])(
  'an unknown version in the query, `dataset_version=%s`, is 404',
  async value => {
    expect((await errorOf(await second.request(inQuery('/v1/summary', value)))).code).toBe('not_found')
  },
)

test('the refusal of an unknown version names the newest ten if there are more', async () => {
  const stores = await openBothVersions()
  for (let day = 10; day < 25; day++) {
    const version = `2024-03-${day}T00:15:00Z`
    const bytes = await stores.store.read(manifestKey(FIRST_VERSION))
    await stores.store.create(manifestKey(version), bytes!, { content_type: 'application/json' })
    await pointTo(stores, version)
  }
  await pointTo(stores, FIRST_VERSION)
  const { app } = await open(stores)
  const { details } = await errorOf(await app.request('/v1/snapshots/x/summary'))
  const newest = Array.from({ length: 10 }, (_, i) => `2024-03-${24 - i}T00:15:00Z`)
  expect(details).toEqual({ available: newest })
})

test('a version that was published and whose manifest is gone is 410', async () => {
  const stores = await openBothVersions()
  await pointTo(stores, SECOND_VERSION)
  await stores.store.remove(manifestKey(FIRST_VERSION))
  const { app, errors, faults } = await open(stores)
  for (const address of [
    pinnedPath(FIRST_VERSION, '/v1/summary'),
    inQuery('/v1/export?risk_pct=0.01', FIRST_VERSION),
    pinnedPath(FIRST_VERSION, '/v1/manifest.json'),
    pinnedPath(FIRST_VERSION, '/v1/changes'),
  ]) {
    const response = await app.request(address)
    expect(response.status, address).toBe(410)
    expect(response.headers.get('cache-control')).toBe('max-age=10')
    expect(await errorOf(response)).toEqual({
      code: 'gone',
      message: `the version ${FIRST_VERSION} was published and has been removed since`,
      details: null,
    })
  }
  expect([...errors, ...faults]).toEqual([])
})

test('a version in the query of a route about the process is ignored', async () => {
  for (const path of ['/version', '/healthz', '/readyz', '/v1/dataset/versions']) {
    expect((await second.request(`${path}?dataset_version=x`)).status, path).toBe(200)
  }
})

test('a version in another snapshot format is refused with both formats, and its manifest can be read', async () => {
  const stores = createMemoryStores()
  await publishInMemory(stores, smallBook(FIRST_VERSION), manifest => ({ ...manifest, snapshot_format: 0 }))
  await publishInMemory(stores, smallBook(SECOND_VERSION))
  const { app, faults } = await open(stores)
  const refused = await app.request(pinnedPath(FIRST_VERSION, '/v1/export?risk_pct=0.01'))
  expect(refused.status).toBe(503)
  expect(await errorOf(refused)).toEqual({
    code: 'unavailable',
    message: `the version ${FIRST_VERSION} is stored in format 0, and this service computes answers from format 1 only`,
    details: null,
  })
  expect((await app.request(pinnedPath(FIRST_VERSION, '/v1/manifest.json'))).status).toBe(200)
  expect(faults).toEqual([]) // only damage raises an alert
})

test('the paths of pinned answers keep the router on its faster implementation', async () => {
  await first.request('/v1/summary')
  expect(first.router.name).toBe('SmartRouter + RegExpRouter')
})
