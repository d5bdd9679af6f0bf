// The list of versions, the way to the one of a day, and the objects that prove both.
import { expect, test } from 'vitest'
import { LOOKS_BETWEEN_LISTINGS } from '#api/history/versions/version-source.ts'
import { toCompactInstant } from '#core/calendar.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { FILE_ROUTES, type FileRoute, type FileVariable, KEYS_KEY } from '#core/contract/file-routes.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { anchorKey, pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { variablesOf } from '#core/contract/route.ts'
import { sealAnchorKey, sealKey } from '#core/contract/seals.ts'
import { openDays } from '#static-build/open-days.ts'
import { prune } from '#static-build/prune.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { appendEntry, readLog } from '#storage/pointer-log.ts'
import { BEFORE } from '../../static-build/hand-order.ts'
import { newSigner, publishTwo } from '../../static-build/signed-store.ts'
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import {
  FIRST_VERSION,
  JSON_HEADERS,
  openBothVersions,
  pointTo,
  SECOND_VERSION,
} from '../../support/books/small-book.ts'
import { createTestApp, NOW_MS } from '../../support/history/history-app.ts'
import { pointAt } from '../../support/history/point-to.ts'
import { createChain } from '../../support/seals/chain.ts'
import { damage, meddled, outage } from '../../support/stores/store-doubles.ts'
import { bytesOf } from '../../support/stores/stored-bytes.ts'
import { errorOf, getData, openEmpty, openServing } from './answers.ts'
import { DATA } from './specification.ts'

const LIST = '/v1/dataset/versions'

const openSecond = () => openServing(SECOND_VERSION)

/** One for all tests that change nothing of it. */
const second = await openSecond()

const digestOf = async (store: ObjectStore, version: string) =>
  sha256(await bytesOf(store, manifestKey(version)))

test('the list of versions is newest first, with what was published and which is served', async () => {
  const { app, store } = second
  const line = async (version: string, is_served: boolean) => ({
    version,
    published: version,
    entered: null,
    manifest_sha256: await digestOf(store, version),
    is_served,
    is_removed: false,
    history_restated: false,
  })
  expect(await getData(app, LIST, DATA.versions)).toEqual([
    await line(SECOND_VERSION, true),
    await line(FIRST_VERSION, false),
  ])
})

test('the list of versions is a table as CSV, with a validator', async () => {
  const { app, store } = second
  const response = await app.request(`${LIST}?format=csv`)
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  const row = async (version: string, isServed: boolean) =>
    `${version},${version},,${await digestOf(store, version)},${isServed},false,false\r\n`
  expect(await response.text()).toBe(
    'version,published,entered,manifest_sha256,is_served,is_removed,history_restated\r\n' +
      (await row(SECOND_VERSION, true)) +
      (await row(FIRST_VERSION, false)),
  )
  const etag = response.headers.get('etag') ?? ''
  const unchanged = await app.request(`${LIST}?format=csv`, { headers: { 'if-none-match': etag } })
  expect(unchanged.status).toBe(304)
  expect(unchanged.headers.get('content-type')).toBeNull() // it has no content
})

test('the list of versions follows the pointer, and so does its validator', async () => {
  const { app, source, ...stores } = await openSecond()
  const etag = (await app.request(LIST)).headers.get('etag') ?? ''
  expect((await app.request(LIST, { headers: { 'if-none-match': etag } })).status).toBe(304)
  await pointTo(stores, FIRST_VERSION)
  await source.refresh()
  expect((await app.request(LIST, { headers: { 'if-none-match': etag } })).status).toBe(200)
  const list = await getData(app, LIST, DATA.versions)
  expect(list.map(({ version, is_served }) => [version, is_served])).toEqual([
    [SECOND_VERSION, false],
    [FIRST_VERSION, true],
  ])
})

test('the list of versions marks what was removed, with the next version at the latest, and changes its validator', async () => {
  const { app, source, ...stores } = await openSecond()
  const etag = (await app.request(LIST)).headers.get('etag') ?? ''
  await prune(stores, { keepDays: 0, keepMonthEnds: false }, NOW_MS)
  for (let look = 0; look < LOOKS_BETWEEN_LISTINGS; look++) await source.refresh()
  const list = await getData(app, LIST, DATA.versions)
  expect(list.map(({ version, is_removed }) => [version, is_removed])).toEqual([
    [SECOND_VERSION, false],
    [FIRST_VERSION, true],
  ])
  expect((await app.request(LIST, { headers: { 'if-none-match': etag } })).status).toBe(200)
  const restarted = await createTestApp(stores.store, stores.privateStore)
  expect(await getData(restarted.app, LIST, DATA.versions)).toEqual(list)
})

test('the list of versions calls neither a version that cannot be looked at nor the served one removed', async () => {
  const { store, privateStore } = second
  const cannotRead = meddled(store, key => key === manifestKey(FIRST_VERSION), outage(store))
  const { app } = await createTestApp(cannotRead, privateStore)
  expect((await getData(app, LIST, DATA.versions)).map(each => each.is_removed)).toEqual([false, false])
})

test('the list of versions is empty if nothing was published, and 503 as long as the log could not be read', async () => {
  expect(await getData((await openEmpty()).app, LIST, DATA.versions)).toEqual([])
  const { store, privateStore } = createMemoryStores()
  const { app } = await createTestApp(
    meddled(store, () => true, outage(store)),
    privateStore,
  )
  for (const address of [LIST, `${LIST}?as_of=2024-03-01`, '/v1/snapshots/20240301T001500Z/summary']) {
    expect((await errorOf(await app.request(address))).code, address).toBe('not_ready')
  }
})

test('the list of versions stays as it was if the log cannot be read any more, and what it names is served on', async () => {
  const { app, source, ...stores } = await openSecond()
  const before = await getData(app, LIST, DATA.versions)
  await stores.store.replace(pointerKey(1), new TextEncoder().encode('[]'), JSON_HEADERS)
  await pointTo(stores, FIRST_VERSION)
  expect(await source.refresh()).toMatchObject({ kind: 'swapped', to: FIRST_VERSION })
  expect(await source.refresh()).toMatchObject({ kind: 'unlisted', error: expect.any(Error) })
  expect(await getData(app, LIST, DATA.versions)).toEqual(before)
  expect((await app.request(pinnedPath(SECOND_VERSION, '/v1/summary'))).status).toBe(200)
})

test.each([
  ['2024-03-01', FIRST_VERSION],
  ['2024-03-02', SECOND_VERSION],
  ['2024-03-04', SECOND_VERSION],
  ['2024-03-05', FIRST_VERSION], // rolled back on that day
  ['2100-01-01', FIRST_VERSION],
])('`as_of=%s` leads to the version that was served at the end of that day', async (day, version) => {
  const stores = await openBothVersions()
  await pointTo(stores, SECOND_VERSION)
  const digest = await digestOf(stores.store, FIRST_VERSION)
  await pointAt(stores.store, FIRST_VERSION, digest, '2024-03-05T23:59:59Z')
  const { app } = await createTestApp(stores.store, stores.privateStore)
  const response = await app.request(`${LIST}?as_of=${day}`)
  expect(response.status).toBe(307)
  const location = response.headers.get('location') ?? ''
  expect(location).toBe(pinnedPath(version, '/v1/dataset'))
  expect((await getData(app, location, DATA.dataset)).version).toBe(version)
})

test('`as_of` is 404 for a day before the first version, and 422 if it is given twice', async () => {
  const error = await errorOf(await second.app.request(`${LIST}?as_of=2024-02-29`))
  expect(error).toEqual({
    code: 'not_found',
    message: `no version was served on 2024-02-29 yet; the first was published ${FIRST_VERSION}`,
    details: null,
  })
  const twice = await second.app.request(`${LIST}?as_of=2024-03-01&as_of=2024-03-01`)
  expect((await errorOf(twice)).details).toMatchObject([{ reason: 'given more than once' }])
})

test.each(['', 'today', '2024-02-30', '20240301', FIRST_VERSION, 'x'.repeat(500)])(
  '`as_of` is 422 for the text %s, which is no day',
  async value => {
    const error = await errorOf(await second.app.request(`${LIST}?as_of=${value}`))
    const reason = 'must be a calendar date YYYY-MM-DD'
    const details = [{ param: 'as_of', value: value.replace(/(?<=^.{80}).+/, '...'), reason }]
    expect(error).toEqual({ code: 'validation_error', message: 'invalid query parameters: as_of', details })
  },
)

const FIRST_ENTRY = '0000000001'
const IMMUTABLE = 'max-age=31536000, immutable'

const signer = newSigner()
const signed = await publishTwo(signer, signer)
const entryDigest = sha256(await bytesOf(signed.store, pointerKey(1)))
await signed.store.create(anchorKey(entryDigest), new Uint8Array([1]), JSON_HEADERS)
const SEALED = '2024-02-28'
const chain = createChain(signed, `${SEALED}T23:30:00Z`)
await chain.sealUntil('2024-02-29T00:10:00Z')
await openDays(signed, SEALED)
await signed.store.create(sealAnchorKey(1), new Uint8Array([1]), JSON_HEADERS)
const { app: proving } = await createTestApp(signed.store, signed.privateStore)

/** The key and the address of the object of a route, of the first of two signed versions. */
function placeOf(file: FileRoute): { readonly key: string; readonly path: string } {
  const inStore = { version: BEFORE, seq: FIRST_ENTRY, sha256: entryDigest, ...OF_SEALS }
  const inPath = { ...inStore, version: toCompactInstant(BEFORE) }
  const [name] = variablesOf(file.path) as FileVariable[] // the table names no other
  if (name === undefined) return { key: file.handler(''), path: file.path }
  return { key: file.handler(inStore[name]), path: file.path.replace(/\{\w+\}/, inPath[name]) }
}

const OF_SEALS = { n: '000000001', date: SEALED, key: chain.signer.keyId }

const ROUTES = FILE_ROUTES.map(file => [file.path, file] as const)

test.each(ROUTES)('%s is handed out as it is stored, for ever if it is proven', async (_path, file) => {
  const { key, path } = placeOf(file)
  const bytes = await bytesOf(signed.store, key)
  for (let i = 0; i < 2; i++) {
    const response = await proving.request(path, { headers: { 'accept-encoding': 'br' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(file.mediaType)
    expect(response.headers.get('etag')).toBe(`"${sha256(bytes).slice(0, 32)}"`)
    expect(response.headers.has('content-encoding')).toBe(false)
    expect(response.headers.get('cache-control') === IMMUTABLE).toBe(file.proof !== null)
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  }
})

test.each(ROUTES.filter(([, { proof }]) => proof !== null))(
  '%s with one flipped bit is 503 with an alert until it is restored',
  async (_path, file) => {
    const { key, path } = placeOf(file)
    let isDamaged = false
    const store = meddled(
      signed.store,
      asked => asked === key && isDamaged,
      bytes => damage(bytes!),
    )
    const { app, errors } = await createTestApp(store, signed.privateStore)
    isDamaged = true
    const response = await app.request(path)
    expect(response.status).toBe(503)
    expect((await errorOf(response)).code).toBe('unavailable')
    expect(errors.map(String).join()).toContain(`${key} is not what was published: restore it from a copy`)
    isDamaged = false
    expect((await app.request(path)).status).toBe(200)
  },
)

test('an entry that was appended a moment ago, and that the service does not know yet, is kept for seconds only', async () => {
  const { store, privateStore } = await publishTwo(signer, signer)
  const { app } = await createTestApp(store, privateStore)
  const head = (await readLog(store)).at(-1)!
  const { seq: _seq, prev_entry_sha256: _before, ...next } = head.entry
  await appendEntry(store, head, { ...next, action: 'refresh' }, signer)
  const response = await app.request('/v1/pointer/0000000003.json')
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('max-age=10, stale-if-error=3600')
})

test('the file of keys, which may change, is read each time', async () => {
  const { app, store } = await openSecond()
  for (const text of ['{"keys":[1]}', '{"keys":[2]}']) {
    await store.replace(KEYS_KEY, new TextEncoder().encode(text), JSON_HEADERS)
    expect(await (await app.request('/.well-known/highwater-keys.json')).text()).toBe(text)
  }
})

const NO_OBJECTS = [
  ...'1.json 00000000001.json x.json ..%2fcurrent.json %00.json signatures/x.sig anchors/x'.split(' '),
  ...'1 days/1 keys/x.pem openings/2024-02-28 x/head'.split(' ').map(name => `../seals/${name}`),
]

test.each(NO_OBJECTS)(
  'the pointer log and the chain of seals answer 404 for %s, which is no name',
  async name => {
    expect((await errorOf(await second.app.request(`/v1/pointer/${name}`))).code).toBe('not_found')
  },
)

test('the newest seal is kept for 30 seconds, and a seal under the number of another is never handed out', async () => {
  const head = await proving.request('/v1/seals/head')
  expect(head.headers.get('cache-control')).toBe('max-age=30')
  const store = meddled(
    signed.store,
    asked => asked === sealKey(2),
    () => chain.all[2]!.bytes,
  )
  const { app } = await createTestApp(store, signed.privateStore)
  expect((await app.request('/v1/seals/000000002')).status).toBe(503)
})

test.each([
  ['entry', 'pointer/1.json', /; the newest known entry is 4$/],
  ['later entry', 'pointer/0000000099.json', /; the newest known entry is 4$/],
  ['opening', 'seals/openings/2024-02-28.jsonl', /; a day is opened when its embargo is over$/],
])('a 404 for an unknown %s says what is known', async (_, path, says) => {
  const { code, message } = await errorOf(await second.app.request(`/v1/${path}`))
  expect([code, message]).toEqual(['not_found', expect.stringMatching(says)])
})

test('a version that was never published is 404, also if the store has its manifest', async () => {
  const { app, store } = await openSecond()
  const version = '2024-03-09T00:15:00Z'
  await store.create(manifestKey(version), new TextEncoder().encode('{}'), JSON_HEADERS)
  expect((await app.request('/v1/snapshots/20240309T001500Z/manifest.json')).status).toBe(404)
})

test('a stored object is 503 with an alert while the store cannot be read', async () => {
  const stores = await openBothVersions()
  const key = signatureKey('f'.repeat(64))
  const down = meddled(stores.store, asked => asked === key, outage(stores.store))
  const { app, errors } = await createTestApp(down, stores.privateStore)
  const response = await app.request(`/${key}`)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('5')
  expect((await errorOf(response)).code).toBe('unavailable')
  expect(errors).toHaveLength(1)
})
