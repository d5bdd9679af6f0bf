// The list of versions, the way to the one of a day, and the objects that prove both.
import { expect, test } from 'vitest'
import { LOOKS_BETWEEN_LISTINGS } from '#api/history/versions/version-source.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { prune } from '#static-build/prune.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
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
import { meddled, outage } from '../../support/stores/store-doubles.ts'
import { bytesOf } from '../../support/stores/stored-bytes.ts'
import { errorOf, getData } from './answers.ts'
import { DATA } from './specification.ts'

const LIST = '/v1/dataset/versions'

async function openSecond() {
  const stores = await openBothVersions()
  await pointTo(stores, SECOND_VERSION)
  return { ...stores, ...(await createTestApp(stores.store, stores.privateStore)) }
}

const digestOf = async (store: ObjectStore, version: string) =>
  sha256(await bytesOf(store, manifestKey(version)))

test('the list of versions is newest first, with what was published and which is served', async () => {
  const { app, store } = await openSecond()
  const line = async (version: string, is_served: boolean) => ({
    version,
    published: version,
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
  const { app, store } = await openSecond()
  const response = await app.request(`${LIST}?format=csv`)
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  const row = async (version: string, isServed: boolean) =>
    `${version},${version},${await digestOf(store, version)},${isServed},false,false\r\n`
  expect(await response.text()).toBe(
    'version,published,manifest_sha256,is_served,is_removed,history_restated\r\n' +
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
  await prune(stores.store, stores.privateStore, { keepDays: 0, keepMonthEnds: false }, NOW_MS)
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
  const { store, privateStore } = await openSecond()
  const cannotRead = meddled(store, key => key === manifestKey(FIRST_VERSION), outage(store))
  const { app } = await createTestApp(cannotRead, privateStore)
  expect((await getData(app, LIST, DATA.versions)).map(each => each.is_removed)).toEqual([false, false])
})

test('the list of versions is empty if nothing was published', async () => {
  const { store, privateStore } = createMemoryStores()
  const { app } = await createTestApp(store, privateStore)
  expect(await getData(app, LIST, DATA.versions)).toEqual([])
})

test('the list of versions is 503 as long as the log could not be read', async () => {
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
  const { app } = await openSecond()
  const error = await errorOf(await app.request(`${LIST}?as_of=2024-02-29`))
  expect(error).toEqual({
    code: 'not_found',
    message: `no version was served on 2024-02-29 yet; the first was published ${FIRST_VERSION}`,
    details: null,
  })
  const twice = await app.request(`${LIST}?as_of=2024-03-01&as_of=2024-03-01`)
  expect((await errorOf(twice)).details).toMatchObject([{ reason: 'given more than once' }])
})

test.each(['', 'today', '2024-02-30', '20240301', FIRST_VERSION, 'x'.repeat(500)])(
  '`as_of` is 422 for the text %s, which is no day',
  async value => {
    const error = await errorOf(await (await openSecond()).app.request(`${LIST}?as_of=${value}`))
    const reason = 'must be a calendar date YYYY-MM-DD'
    const details = [{ param: 'as_of', value: value.slice(0, 80), reason }]
    expect(error).toEqual({ code: 'validation_error', message: 'invalid query parameters: as_of', details })
  },
)
