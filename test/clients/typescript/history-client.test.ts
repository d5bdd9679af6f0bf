// The client of the history beside a service that publishes meanwhile: pins, the cache, columns, refusals.
import { expect, test } from 'vitest'
import { toCompactInstant } from '#core/calendar.ts'
import { Highwater } from '../../../clients/typescript/src/index.ts'
import { FIRST_VERSION, SECOND_VERSION } from '../../support/books/small-book.ts'
import { rejection, watchedService } from './watched-service.ts'

const PINNED = `/v1/snapshots/${toCompactInstant(FIRST_VERSION)}`

/** Every answer of a book, without the cache of another client. */
async function everything(book: Highwater) {
  const alder = book.strategy('alder')
  const ofBook = ['strategies', 'summary', 'dataset', 'correlation', 'export', 'benchmark'] as const
  const ofStrategy = ['meta', 'stats', 'risk', 'live', 'returns', 'curve', 'trades', 'rolling'] as const
  return Promise.all([...ofBook.map(name => book[name]()), ...ofStrategy.map(name => alder[name]())])
}

test('a book of the client is answered from the version that was the newest when it was opened, whatever is published later', async () => {
  const { url, serve } = await watchedService()
  const book = await Highwater.open(url)
  const pinned = { version: book.version, cachedCharacters: 0 } as const
  const before = await everything(await Highwater.open(url, pinned))
  await serve(SECOND_VERSION)
  expect(await everything(book)).toEqual(before)
  expect(book.version).toBe(FIRST_VERSION)
  expect(await book.newestVersion()).toBe(SECOND_VERSION)
  const next = await everything(await Highwater.open(url))
  expect(next.map(({ meta }) => meta.dataset_version)).toEqual(before.map(() => SECOND_VERSION))
  const changed = before.filter(({ data }, i) => JSON.stringify(data) !== JSON.stringify(next[i]?.data))
  expect(changed.length).toBeGreaterThan(8) // what stays is the matrix, and what does not depend on the returns
})

test('a book of the client is opened at a version, and at that of a day', async () => {
  const { url, serve } = await watchedService()
  await serve(SECOND_VERSION)
  for (const version of [FIRST_VERSION, toCompactInstant(FIRST_VERSION)])
    expect((await Highwater.open(url, { version })).version).toBe(FIRST_VERSION)
  const onFirstDay = await Highwater.open(`${url}/`, { asOf: FIRST_VERSION.slice(0, 10) })
  expect(onFirstDay.version).toBe(FIRST_VERSION)
  expect((await onFirstDay.summary()).meta.dataset_version).toBe(FIRST_VERSION)
})

test('a book of the client sends the parameters that are given, sorted; ids are a list or a text with commas, in the order wanted', async () => {
  const { url, requests } = await watchedService()
  const book = await Highwater.open(url, { version: FIRST_VERSION })
  requests.length = 0
  const returns = await book
    .strategy('alder')
    .returns({ to: '2024-01-09', risk_pct: 0.01, from: '2024-01-08' })
  const matrix = await book.correlation({ ids: ['birch', 'alder'], period: 'weekly' })
  expect(requests).toEqual([
    `200 ${PINNED}/strategies/alder/returns?from=2024-01-08&risk_pct=0.01&to=2024-01-09`,
    `200 ${PINNED}/correlation?ids=birch%2Calder&period=weekly`,
  ])
  expect(returns.meta).toMatchObject({ modelled: true, risk_pct: 0.01, risk_pct_clamped: false })
  expect(matrix.data.ids).toEqual(['birch', 'alder'])
  const { rows } = (await book.export({ from: '2024-01-08' })).data
  for (const ids of [['birch', 'alder'], 'birch, alder']) {
    const some = (await book.export({ ids, from: '2024-01-08' })).data
    expect(some).toEqual({ ids: matrix.data.ids, rows, correlation: (await book.correlation({ ids })).data })
  }
})

test('a book of the client has returns and the curve as columns, equal to the rows', async () => {
  const { url } = await watchedService()
  const alder = (await Highwater.open(url)).strategy('alder')
  const [returns, curve] = await Promise.all([alder.returns({ period: 'weekly' }), alder.curve()])
  expect(returns.data.length).toBeGreaterThan(50)
  expect([...returns.t].map(t => new Date(t).toISOString().slice(0, 10))).toEqual(
    returns.data.map(({ t }) => t),
  )
  expect([...returns.values]).toEqual(returns.data.map(({ ret }) => ret))
  expect([...curve.values]).toEqual(curve.data.map(({ equity }) => equity))
  expect(curve.t).toHaveLength(curve.data.length)
})

test('the cache of the client gives a pinned answer again without a request, as a copy that the caller may change', async () => {
  const { url, requests } = await watchedService()
  const book = await Highwater.open(url)
  const first = await book.strategy('alder').stats({ risk_pct: 0.01 })
  const expected = structuredClone(first)
  first.data.n_days = -1
  requests.length = 0
  expect(await book.strategy('alder').stats({ risk_pct: 0.01 })).toEqual(expected)
  expect(requests).toEqual([])
})

test('the cache of the client revalidates any other answer, and uses it again if it did not change', async () => {
  const { url, requests, serve } = await watchedService()
  const book = await Highwater.open(url)
  expect([await book.newestVersion(), requests.at(-1)]).toEqual([FIRST_VERSION, '304 /version'])
  await serve(SECOND_VERSION)
  expect([await book.newestVersion(), requests.at(-1)]).toEqual([SECOND_VERSION, '200 /version'])
  expect([await book.newestVersion(), requests.at(-1)]).toEqual([SECOND_VERSION, '304 /version'])
})

test('a refusal reaches the caller with its status, its details and the id of the request', async () => {
  const { url } = await watchedService({ newRequestId: () => '0123456789abcdef' })
  const error = await rejection((await Highwater.open(url)).strategy('alder').curve({ risk_pct: -1 }))
  const details = [expect.objectContaining({ param: 'risk_pct', value: '-1' })]
  expect(error).toMatchObject({ status: 422, details, requestId: '0123456789abcdef' })
  const unknown = await rejection(Highwater.open(url, { version: '2001-01-01T00:00:00Z' }))
  expect(unknown).toMatchObject({ details: { available: expect.arrayContaining([FIRST_VERSION]) } })
})
