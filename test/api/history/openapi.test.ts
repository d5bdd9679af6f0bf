// The published document describes the service that there is: the route table, no more and no less, and every status.
import { expect, inject, test } from 'vitest'
import { type HistoryRoute, ROUTES } from '#api/history/routes.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import { FIRST_VERSION, SECOND_VERSION } from '../../support/books/small-book.ts'
import { createTestApp, SETTINGS } from '../../support/history/history-app.ts'
import { openApi } from '../../support/http/openapi-documents.ts'
import { meddled, outage } from '../../support/stores/store-doubles.ts'
import { openServing } from './answers.ts'
import { openApps } from './kinds.ts'
import { DATA_ROUTES, pathOf } from './paths.ts'
import { ERROR_ENVELOPE } from './specification.ts'

const apps = await openApps(inject('tinyStore'))
const published = await apps.serving.request('/openapi.json')
const text = await published.text()
const document = openApi.parse(JSON.parse(text))

const operationOf = (route: HistoryRoute) => document.paths[route.path]!.get!

test('the document covers exactly the route table', () => {
  const pinned = DATA_ROUTES.map(({ path }) => path.replace('/v1', '/v1/snapshots/{version}'))
  const files = FILE_ROUTES.map(({ path }) => path)
  const tabled = ROUTES.map(({ path }) => path)
  expect(Object.keys(document.paths)).toEqual([...tabled, ...pinned, ...files])
  expect(new Set(Object.values(document.paths).flatMap(Object.keys))).toEqual(new Set(['get']))
  expect(ROUTES.map(route => operationOf(route).operationId)).toEqual(ROUTES.map(({ id }) => id))
})

test('the document names the public address, and the version of /version', async () => {
  expect(document.servers.map(({ url }) => url)).toEqual([SETTINGS.publicBaseUrl])
  const body = await (await apps.serving.request('/version')).text()
  expect(body).toContain(`"api_version":"${document.info.version}"`)
})

test('the document describes the request id that a client may send, and the service takes just those', async () => {
  expect(document.info.description).toContain('`X-Request-Id`, 8 to 64 hexadecimal digits and hyphens')
  for (const [name, isTaken] of [
    ['0aF-4567', true],
    ['0'.repeat(64), true],
    ['0aF-456', false],
    ['0'.repeat(65), false],
    ['request-1', false],
  ] as const) {
    const { headers } = await apps.serving.request('/nowhere', { headers: { 'x-request-id': name } })
    expect([name, headers.get('x-request-id') === name]).toEqual([name, isTaken])
  }
})

test('the document is the same without a dataset, under its own media type', async () => {
  expect(await (await apps.empty.request('/openapi.json')).text()).toBe(text)
  expect(published.headers.get('content-type')).toBe('application/openapi+json; charset=utf-8')
})

test.each(ROUTES)('the document has the parameters of $path, and no others', route => {
  const { parameters } = operationOf(route)
  const sid = route.group === 'strategy' ? ['sid'] : []
  const pin = route.group === 'infrastructure' ? [] : ['dataset_version']
  expect(parameters.map(({ name }) => name)).toEqual([...sid, ...Object.keys(route.query), ...pin])
  for (const { name, required, in: place } of parameters) {
    expect(required, name).toBe(name === 'sid')
    expect(place, name).toBe(name === 'sid' ? 'path' : 'query')
  }
})

test.each(ROUTES)('the document has the media types that $path answers', async route => {
  const described = Object.keys(operationOf(route).responses['200']?.content ?? {})
  expect(described).toHaveLength(route.formats.length)
  for (const format of route.formats) {
    const query = format === 'json' ? '' : `?format=${format}`
    const type = (await apps.serving.request(pathOf(route) + query)).headers.get('content-type')
    expect(described).toContain(format === 'json' ? type?.replace('; charset=utf-8', '') : type)
  }
})

test.each(ROUTES)('$path answers every status that is promised, its errors in the envelope', async route => {
  const byServer = [400, 431] // what is not a request that reaches the app
  const promised = Object.keys(operationOf(route).responses)
    .map(Number)
    .filter(status => !byServer.includes(status))
  for (const status of promised) {
    const response = await provoke(route, status)
    expect(response.status).toBe(status)
    const { headers = {} } = operationOf(route).responses[status]!
    expect([status, response.headers.has('x-request-id')]).toEqual([status, 'X-Request-Id' in headers])
    if (status < 400) continue
    expect(ERROR_ENVELOPE.safeParse(await response.json()).error, String(status)).toBeUndefined()
  }
})

/** The first of its two versions was removed. */
const { app: pruned, store } = await openServing(SECOND_VERSION)
await store.remove(manifestKey(FIRST_VERSION))

/** Its pointer log cannot be read. */
const nothing = createMemoryStores()
const down = meddled(nothing.store, () => true, outage(nothing.store))
const { app: unread } = await createTestApp(down, nothing.privateStore)

/** Brings a route to answer a status; throws where nobody has said how. */
function provoke(route: HistoryRoute, status: number): Response | Promise<Response> {
  const path = pathOf(route)
  const { serving, empty, faulty } = apps
  switch (status) {
    case 200:
      return serving.request(path)
    case 307:
      return serving.request(`${path}?as_of=2025-03-01`)
    case 304:
      return serving.request(path, { headers: { 'if-none-match': '*' } })
    case 404:
      return serving.request(route.group === 'strategy' ? pathOf(route, 'oak') : path + UNKNOWN)
    case 405:
      return serving.request(path, { method: 'DELETE' })
    case 410:
      return pruned.request(`${pathOf(route, 'alder')}?dataset_version=${FIRST_VERSION}`)
    case 414:
      return serving.request(`${path}?x=${'x'.repeat(8192)}`)
    case 422:
      return serving.request(`${path}?version=2025-02-24T00:15:00Z`)
    case 500:
      return faulty.request(path)
    case 503:
      return route.id === 'versions' ? unread.request(path) : empty.request(path)
    default:
      throw new Error(`${route.path} promises ${status}, and no test knows how to bring that about`)
  }
}

const UNKNOWN = '?dataset_version=2020-01-01T00:00:00Z&as_of=2020-01-01'
