// The headers of every kind of answer: caching, validators, deprecation, and that an error reveals nothing of its cause.
import { expect, inject, test } from 'vitest'
import { STATUS_OF } from '#core/contract/errors.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { errorOf, openTiny } from './answers.ts'
import { ask, createFaultySource, ERRORS, KINDS, type Kind, openApps, SECRET } from './kinds.ts'
import { ERROR_ENVELOPE } from './specification.ts'

const apps = await openApps(inject('tinyStore'))

const named = (kinds: readonly Kind[]) => kinds.map(kind => [kind.name, kind] as const)

test.each(named(KINDS))('%s has its status, its caching, its Vary, and no date', async (_name, kind) => {
  const { status, headers } = await ask(apps, kind)
  expect(status).toBe(kind.status)
  expect(headers.get('cache-control')).toBe(kind.caching)
  expect(headers.has('cdn-cache-control')).toBe(false)
  expect(headers.get('vary')).toBe(`Accept-Encoding, Origin${kind.isNegotiated ? ', Accept' : ''}`)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.has('last-modified')).toBe(false) // its ETag is its only validator
})

const DEPRECATED = { deprecatedAtMs: Date.UTC(2027, 0, 1), sunsetAtMs: Date.UTC(2027, 5, 1, 12) }
const answered = KINDS.filter(({ method }) => method !== 'OPTIONS')

test.each(named(answered))('the answer of %s has no deprecation if none is set', async (_name, kind) => {
  const { headers } = await ask(apps, kind)
  expect(headers.has('deprecation')).toBe(false)
  expect(headers.has('sunset')).toBe(false)
})

test('every kind of answer has the deprecation once it is set, and its sunset if there is one', async () => {
  const deprecated = await openApps(inject('tinyStore'), DEPRECATED)
  for (const kind of answered) {
    const { headers } = await ask(deprecated, kind)
    expect(headers.get('deprecation'), kind.name).toBe('@1798761600')
    expect(headers.get('sunset'), kind.name).toBe('Tue, 01 Jun 2027 12:00:00 GMT')
  }
  const open = await openApps(inject('tinyStore'), { ...DEPRECATED, sunsetAtMs: null })
  const { headers } = await ask(open, KINDS[0]!)
  expect(headers.get('deprecation')).toBe('@1798761600')
  expect(headers.has('sunset')).toBe(false)
})

test.each(named(ERRORS))(
  'the refusal of %s is enveloped, with a code of the table and no validator',
  async (_name, kind) => {
    const response = await ask(apps, kind)
    const { meta } = ERROR_ENVELOPE.parse(await response.clone().json())
    expect(Object.entries(STATUS_OF)).toContainEqual([(await errorOf(response)).code, kind.status])
    expect(meta.dataset_version).toBe(kind.state === undefined ? TINY_VERSION : null)
    expect(meta.generated_utc).toBe('2025-02-25T00:00:00Z')
    expect(meta.timing_ms).toBe(0)
    expect(response.headers.get('retry-after')).toBe(kind.status === 503 ? '5' : null)
    for (const held of ['*', '"x"', 'W/"x", "y"']) {
      const { status, headers } = await ask(apps, kind, { 'if-none-match': held })
      expect([status, headers.has('etag')]).toEqual([kind.status, false])
    }
  },
)

test('a fault of the service answers one fixed sentence and nothing of its cause', async () => {
  const response = await ask(apps, ERRORS.find(({ status }) => status === 500)!)
  const text = await response.clone().text()
  expect(await errorOf(response)).toEqual({
    code: 'internal_error',
    message: 'something went wrong on our side; the request was not at fault',
    details: null,
  })
  expect(text).not.toContain(SECRET)
  expect(text).not.toMatch(/\.ts:\d/) // no stack
})

test('a fault of the service is reported to the operator with its cause', async () => {
  const { store, privateStore } = createMemoryStores()
  const { app, errors } = await createTestApp(store, privateStore, { source: createFaultySource() })
  await app.request('/v1/summary')
  expect(errors).toEqual([new Error(SECRET)])
})

test('a refusal that the caller caused is not reported to the operator', async () => {
  const { app, errors } = await openTiny()
  for (const { path, method = 'GET' } of ERRORS.filter(({ state }) => state === undefined)) {
    await app.request(path, { method })
  }
  expect(errors).toEqual([])
})
