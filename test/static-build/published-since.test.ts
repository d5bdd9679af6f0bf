// Since when the history of a strategy is published, and its figures before and after.

import { beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { withPublications } from '#core/dataset/publication.ts'
import { declareAll } from '#static-build/declarations.ts'
import { rollBack } from '#static-build/move-pointer.ts'
import { type HandStrategy, handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { dataIn, publishStrategies } from './hand-order.ts'

/** Published shortly after the end of the day before. */
const versionOf = (day: number): string => `2024-01-${String(day).padStart(2, '0')}T00:15:00Z`

const RETURNS = [0.01, -0.02, 0.03, 0.01, -0.01, 0.02, 0.04, -0.03, 0.01, 0.02]

/** The history from the first of January up to the eve of a day. */
const until = (day: number, changes: Partial<HandStrategy> = {}): HandStrategy => ({
  id: 'oak',
  returns: RETURNS.slice(0, day - 1),
  ...changes,
})

let stores: MemoryStores

beforeEach(() => {
  stores = createMemoryStores()
})

const publish = (day: number, ...strategies: HandStrategy[]) =>
  publishStrategies(stores, versionOf(day), strategies, { declared: declareAll('a test') })

const dataOf = (day: number, name: string) => dataIn(stores.store, versionOf(day), name)

const sinceIn = async (day: number, id = 'oak') =>
  z.looseObject({ published_since: z.string() }).parse(await dataOf(day, `strategies/${id}/meta`))
    .published_since

const statsSchema = z.looseObject({
  fund_dd: z.looseObject({ since_publication: z.looseObject({}) }),
  undefined: z.record(z.string(), z.string()),
})
const statsOf = async (day: number) => statsSchema.parse(await dataOf(day, 'strategies/oak/stats'))

const net = (returns: readonly number[]) =>
  expect.closeTo(100 * (returns.reduce((equity, value) => equity * (1 + value), 1) - 1), 6)

test('the first version of a history has all days before its publication, and none after', async () => {
  await publish(5, until(5))
  expect(await sinceIn(5)).toBe(versionOf(5))
  expect(await dataOf(5, 'strategies')).toMatchObject([{ id: 'oak', published_since: versionOf(5) }])
  const { fund_dd, undefined: reasons } = await statsOf(5)
  expect(fund_dd.since_publication).toMatchObject({
    published_since: versionOf(5),
    days_before: 4,
    days_after: 0,
    before: { net_return_pct: net(RETURNS.slice(0, 4)), cagr_pct: null },
    after: { net_return_pct: null },
  })
  expect(reasons['fund_dd/since_publication/after/net_return_pct']).toBe('not_published')
  expect(reasons['fund_dd/since_publication/before/cagr_pct']).toBe('less_than_one_year')
  expect(reasons['fund_dd/since_publication/before/net_return_pct']).toBeUndefined()
})

test('later versions keep the first publication of a history, and the days after it are out of sample', async () => {
  await publish(5, until(5))
  await publish(6, until(6))
  await publish(9, until(9), until(9, { id: 'elm' }))
  const since = [await sinceIn(6), await sinceIn(9), await sinceIn(9, 'elm')]
  expect(since).toEqual([5, 5, 9].map(versionOf))
  expect((await statsOf(6)).undefined['fund_dd/since_publication/after/net_return_pct']).toBe(
    'too_few_points',
  )
  expect((await statsOf(9)).fund_dd.since_publication).toMatchObject({
    days_before: 5,
    days_after: 3,
    before: { net_return_pct: net(RETURNS.slice(0, 5)) },
    after: { net_return_pct: net(RETURNS.slice(5, 8)) },
  })
})

test.each([
  ['a restated return', { returns: [0.011, ...RETURNS.slice(1, 5)] }],
  ['another base risk', { base_risk_pct: 0.01 }],
  ['another version of the module', { module_version: '2' }],
  ['no end any more', { ended: null }],
])('a strategy with %s begins a new history, and another strategy keeps its own', async (_what, changes) => {
  const elm = (day: number) => until(day, { id: 'elm' })
  await publish(5, until(5, { module_version: '1', ended: { on: '2024-01-04', reason: 'a pause' } }), elm(5))
  const kept = { module_version: '1', ended: { on: '2024-01-04', reason: 'a pause' } }
  await publish(6, until(6, { ...kept, ...changes }), elm(6))
  expect([await sinceIn(6), await sinceIn(6, 'elm')]).toEqual([versionOf(6), versionOf(5)])
})

test('a strategy that was removed and returns has a new history', async () => {
  await publish(5, until(5), until(5, { id: 'elm' }))
  await publish(6, until(6, { id: 'elm' }))
  await publish(7, until(7), until(7, { id: 'elm' }))
  expect([await sinceIn(7), await sinceIn(7, 'elm')]).toEqual([versionOf(7), versionOf(5)])
})

test('after a rollback the served version counts, and what only the other one published begins again', async () => {
  await publish(5, until(5))
  await publish(6, until(6), until(6, { id: 'elm' }))
  await rollBack(stores.store, versionOf(5), { nowMs: Date.parse(versionOf(6)) + 1000, signer: null })
  await publish(7, until(7), until(7, { id: 'elm' }))
  expect([await sinceIn(7), await sinceIn(7, 'elm')]).toEqual([versionOf(5), versionOf(7)])
})

const LATE = '2024-01-06T12:15:01Z'

test.each([
  ['the name of a version that the log bears out', versionOf(5), '2024-01-06T12:15:00Z', versionOf(5)],
  ['the time of the entry of a version that has an older name', versionOf(5), LATE, LATE],
  ['the version that did not record since when', null, versionOf(5), versionOf(5)],
])('a history of an older release is published since %s', (_what, published_since, at, expected) => {
  const before = handSnapshot([until(5)], { version: versionOf(5) })
  const dated = { ...before, strategies: [{ ...before.strategies[0]!, published_since }] }
  const after = handSnapshot([until(6)], { version: versionOf(7) })
  const changes = compareSnapshots(dated, after)
  const compared = { changes, before: dated, record: dated, gone: [] }
  const { strategies } = withPublications(after, compared, new Map([[versionOf(5), at]]))
  expect(strategies[0]?.published_since).toBe(expected)
})

test('the time at which a version was entered is kept by later ones, and a history that it began is published since then', async () => {
  const entered = '2024-01-08T10:00:00Z'
  const now = () => Date.parse(entered) + 1000
  await publishStrategies(stores, versionOf(5), [until(5)], { now, entered })
  await publish(9, until(9))
  await publish(10, until(10))
  expect([await sinceIn(5), await sinceIn(9), await sinceIn(10)]).toEqual([entered, entered, entered])
  expect((await statsOf(10)).fund_dd.since_publication).toMatchObject({ days_before: 8, days_after: 1 })
})
