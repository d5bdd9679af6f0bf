// What the service says while there is nothing to serve, and what it keeps when it cannot look for more.
import { expect, test } from 'vitest'
import { CURRENT_KEY, pointerKey } from '#core/contract/pointer.ts'
import { READINESS_CHECKS } from '#core/contract/readiness-checks.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { createMemoryStores, type MemoryStores, toBytes } from '../../support/books/publish-in-memory.ts'
import { JSON_HEADERS, openBothVersions, pointTo, SECOND_VERSION } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { isArtifact, meddled, outage } from '../../support/stores/store-doubles.ts'
import { errorOf, getEnvelope } from './answers.ts'
import { addressesOf, DATA_ROUTES } from './paths.ts'

const ALL = (holds: boolean) => Object.fromEntries(READINESS_CHECKS.map(name => [name, holds]))

const open = ({ store, privateStore }: MemoryStores) => createTestApp(store, privateStore)

const openEmpty = () => open(createMemoryStores())

test.each(DATA_ROUTES)(
  '$path answers 503 without a dataset, with the checks and Retry-After',
  async route => {
    const { app, errors } = await openEmpty()
    for (const address of [...addressesOf(route), `${addressesOf(route)[0]}?period=hourly&risk_pct=-1`]) {
      const response = await app.request(address)
      expect(response.status, address).toBe(503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await errorOf(response)).toMatchObject({ code: 'not_ready', details: { checks: ALL(false) } })
    }
    expect(errors).toEqual([])
  },
)

test('/readyz answers 503 with four false checks without a dataset', async () => {
  const response = await (await openEmpty()).app.request('/readyz')
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).not.toBeNull()
  expect(await errorOf(response)).toMatchObject({ code: 'not_ready', details: { checks: ALL(false) } })
})

test('/healthz answers 200 with a count of 0 without a dataset, because the process lives', async () => {
  const { response, data } = await getEnvelope((await openEmpty()).app, '/healthz')
  expect(response.status).toBe(200)
  expect(data).toEqual({ status: 'ok', strategy_count: 0 })
})

test('/version answers 200 with nulls without a dataset, and has a disclaimer all the same', async () => {
  const { response, data, meta } = await getEnvelope((await openEmpty()).app, '/version')
  expect(response.status).toBe(200)
  expect(data).toMatchObject({
    api_version: '1.0',
    stability: 'stable',
    dataset_version: null,
    generated_utc: null,
    window: { from: null, to: null },
    max_modelled_risk_pct: null,
  })
  expect(meta).toMatchObject({ dataset_version: null, disclaimer: expect.stringContaining('Not') })
})

test.each(['/', '/openapi.json'])('%s answers 200 without a dataset', async path => {
  expect((await (await openEmpty()).app.request(path)).status).toBe(200)
})

test('a draining process says so on /readyz, with checks that hold, and goes on answering everything else', async () => {
  const { store, privateStore } = await openBothVersions()
  const { app } = await createTestApp(store, privateStore, { isDraining: () => true })
  const response = await app.request('/readyz')
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).not.toBeNull()
  expect(await errorOf(response)).toMatchObject({ code: 'not_ready', details: { checks: ALL(true) } })
  expect((await app.request('/healthz')).status).toBe(200)
  expect((await app.request('/v1/summary')).status).toBe(200)
})

test('a malformed entry of the pointer log is reported with its store and key', async () => {
  const { store, privateStore } = createMemoryStores()
  await store.replace(pointerKey(1), new TextEncoder().encode('{"version": 7}'), JSON_HEADERS)
  const { source } = await createTestApp(store, privateStore)
  const message = `${store.url}/v1/pointer/0000000001.json is not a pointer entry: restore it from a copy`
  expect(await source.refresh()).toMatchObject({ kind: 'failed', error: { message } })
})

test('a file that is lost or damaged is reported once as long as its version is served, and again with the next', async () => {
  const stores = await openBothVersions()
  const lost = meddled(stores.store, isArtifact, () => null)
  const { app, source, damages } = await createTestApp(lost, stores.privateStore)
  const ask = async (path: string, coding = 'identity') => {
    expect((await app.request(path, { headers: { 'accept-encoding': coding } })).status).toBe(200)
  }
  for (let i = 0; i < 3; i++) await ask('/v1/summary')
  expect(damages).toHaveLength(1)
  await ask('/v1/summary', 'br') // another file
  await ask('/v1/dataset')
  expect(damages).toHaveLength(3)
  await pointTo(stores, SECOND_VERSION)
  await source.refresh()
  for (let i = 0; i < 3; i++) await ask('/v1/summary')
  expect(damages).toHaveLength(4)
  expect(damages.at(-1)).toContain('/summary')
})

const point = (store: ObjectStore, bytes: Uint8Array) => store.replace(CURRENT_KEY, bytes, JSON_HEADERS)
const append = (store: ObjectStore, bytes: Uint8Array) => store.replace(pointerKey(99), bytes, JSON_HEADERS)

test.each<[string, (store: ObjectStore) => Promise<void>, string]>([
  ['when the hint is gone', store => store.remove(CURRENT_KEY), 'unchanged'],
  ['when the hint is rubbish', store => point(store, toBytes([])), 'unchanged'],
  ['when the hint is no JSON', store => point(store, toBytes('cut off').subarray(1)), 'unchanged'],
  [
    'when the hint is lost and the newest entry is rubbish',
    store => store.remove(CURRENT_KEY).then(() => append(store, toBytes([]))),
    'failed',
  ],
])('the version that is served stays %s', async (_name, harm, kind) => {
  const stores = await openBothVersions()
  const { app, source } = await open(stores)
  await harm(stores.store)
  expect((await source.refresh()).kind).toBe(kind)
  expect((await app.request('/v1/summary')).status).toBe(200)
  expect((await app.request('/readyz')).status).toBe(200)
})

test('the version that is served stays when the store cannot be reached, and the answers that were not read yet are computed', async () => {
  const { store, privateStore } = await openBothVersions()
  let isDown = false
  const flaky = meddled(store, () => isDown, outage(store))
  const { app, source, errors } = await createTestApp(flaky, privateStore)
  isDown = true
  expect(await source.refresh()).toMatchObject({
    kind: 'failed',
    error: { message: expect.stringContaining('refused') },
  })
  for (const route of DATA_ROUTES) {
    const path = route.path.replace('{sid}', 'alder')
    expect((await app.request(path)).status, path).toBe(200)
  }
  expect(errors).toEqual([])
})
