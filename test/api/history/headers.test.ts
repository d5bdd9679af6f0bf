// The headers of every kind of answer: caching, validators, deprecation, and that an error reveals nothing of its cause.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { STATUS_OF } from '#core/contract/errors.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import { createTestApp, openHistoryApp } from '../../support/history/history-app.ts'
import { errorOf } from './answers.ts'
import { type Apps, ask, createFaultySource, ERRORS, KINDS, type Kind, openApps, SECRET } from './kinds.ts'
import { ERROR_ENVELOPE } from './specification.ts'

let apps: Apps

beforeAll(async () => {
  apps = await openApps(inject('tinyStore'))
})

const named = (kinds: readonly Kind[]) => kinds.map(kind => [kind.name, kind] as const)

describe.each(named(KINDS))('%s', (_name, kind) => {
  test('has its status, and its caching by the table', async () => {
    const { status, headers } = await ask(apps, kind)
    expect(status).toBe(kind.status)
    expect(headers.get('cache-control')).toBe(kind.caching)
    expect(headers.has('cdn-cache-control')).toBe(false)
  })

  test('varies by coding and origin, and must not be sniffed', async () => {
    const { headers } = await ask(apps, kind)
    expect(headers.get('vary')).toBe(`Accept-Encoding, Origin${kind.isNegotiated ? ', Accept' : ''}`)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('does not say when it was modified: its ETag is its only validator', async () => {
    expect((await ask(apps, kind)).headers.has('last-modified')).toBe(false)
  })
})

describe('deprecation', () => {
  const DEPRECATED = { deprecatedAtMs: Date.UTC(2027, 0, 1), sunsetAtMs: Date.UTC(2027, 5, 1, 12) }
  const answered = KINDS.filter(({ method }) => method !== 'OPTIONS')

  test.each(named(answered))('is not on %s if nothing is set', async (_name, kind) => {
    const { headers } = await ask(apps, kind)
    expect(headers.has('deprecation')).toBe(false)
    expect(headers.has('sunset')).toBe(false)
  })

  test('is on every kind of answer with its sunset once it is set', async () => {
    const deprecated = await openApps(inject('tinyStore'), DEPRECATED)
    for (const kind of answered) {
      const { headers } = await ask(deprecated, kind)
      expect(headers.get('deprecation'), kind.name).toBe('@1798761600')
      expect(headers.get('sunset'), kind.name).toBe('Tue, 01 Jun 2027 12:00:00 GMT')
    }
  })

  test('may stand without a sunset', async () => {
    const deprecated = await openApps(inject('tinyStore'), { ...DEPRECATED, sunsetAtMs: null })
    const { headers } = await ask(deprecated, KINDS[0]!)
    expect(headers.get('deprecation')).toBe('@1798761600')
    expect(headers.has('sunset')).toBe(false)
  })
})

describe('errors', () => {
  test.each(named(ERRORS))('%s is enveloped, with a code of the closed table', async (_name, kind) => {
    const response = await ask(apps, kind)
    const { code } = await errorOf(response)
    expect(Object.entries(STATUS_OF)).toContainEqual([code, kind.status])
  })

  test.each(named(ERRORS))(
    '%s has the dataset that is served, or none, and the time',
    async (_name, kind) => {
      const { meta } = ERROR_ENVELOPE.parse(await (await ask(apps, kind)).json())
      expect(meta.dataset_version).toBe(kind.state === undefined ? TINY_VERSION : null)
      expect(meta.generated_utc).toBe('2025-02-25T00:00:00Z')
      expect(meta.timing_ms).toBe(0)
    },
  )

  test.each(named(ERRORS))('%s has no validator, whatever the client has', async (_name, kind) => {
    for (const held of ['*', '"x"', 'W/"x", "y"']) {
      const { status, headers } = await ask(apps, kind, { 'if-none-match': held })
      expect(status).toBe(kind.status)
      expect(headers.has('etag')).toBe(false)
    }
  })

  test.each(named(ERRORS))('%s has Retry-After if it is temporary', async (_name, kind) => {
    const { headers } = await ask(apps, kind)
    expect(headers.get('retry-after')).toBe(kind.status === 503 ? '5' : null)
  })

  test('a fault answers one fixed sentence and nothing of its cause', async () => {
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

  test('a fault is reported to the operator with its cause', async () => {
    const { store, privateStore } = createMemoryStores()
    const { app, errors } = await createTestApp(store, privateStore, { source: createFaultySource() })
    await app.request('/v1/summary')
    expect(errors).toEqual([new Error(SECRET)])
  })

  test('a refusal is not: it is the business of the caller', async () => {
    const { app, errors } = await openHistoryApp(inject('tinyStore'))
    for (const { path, method = 'GET' } of ERRORS.filter(({ state }) => state === undefined)) {
      await app.request(path, { method })
    }
    expect(errors).toEqual([])
  })
})
