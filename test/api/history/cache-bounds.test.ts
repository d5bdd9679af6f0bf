// Caches are bounded in bytes, whatever is asked for: what they keep never passes it, and it is what was asked for last.
import { expect, inject, test } from 'vitest'
import { createComputedAnswers } from '#api/history/answers/computed-answers.ts'
import { createPublishedAnswers } from '#api/history/answers/published-answers.ts'
import type { ReadyAnswer } from '#api/http/content-coding.ts'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import { openStore } from '#storage/open-store.ts'
import { limitsWith, longBook, longReturns, toServed } from '../../support/books/large-book.ts'
import { openHistoryApp } from '../../support/history/history-app.ts'

/** What the answers hold: a body that is a part of a larger piece of memory holds all of it. */
const bytesIn = (answers: readonly (ReadyAnswer | null)[]): number =>
  answers.reduce((sum, answer) => sum + (answer?.bytes.buffer.byteLength ?? 0), 0)

test('the cache of computed answers never has more bytes than its bound, and has the newest answers', async () => {
  const bound = 100_000
  const served = toServed(longBook(longReturns(400)))
  const computed = createComputedAnswers(undefined, bound)
  const points = Array.from({ length: 30 }, (_, i) => ({
    ...DEFAULT_PARAMS,
    sid: 's0',
    risk_pct: 0.01 + i / 1_000,
  }))
  let made = 0
  for (const point of points) {
    const answer = await computed.compute(served, 'returns', point, null)
    if (!('bytes' in answer)) throw new Error('the returns of a strategy are no large answer')
    made += answer.bytes.length
    expect(computed.use().bytes).toBeLessThanOrEqual(bound)
  }
  expect(made).toBeGreaterThan(3 * bound)
  expect(computed.use().bytes).toBeGreaterThan(bound / 2)
  const { hits } = computed.use()
  await computed.compute(served, 'returns', points.at(-1)!, null)
  expect(computed.use().hits).toBe(hits + 1)
})

test.each(['zstd', 'br', 'gzip', 'identity'])(
  'computed answers in %s hold no more memory than the cache counts',
  async coding => {
    const served = toServed(longBook(longReturns(400)))
    const computed = createComputedAnswers()
    for (const id of ['returns', 'stats'] as const) {
      const answer = await computed.compute(
        served,
        id,
        { ...DEFAULT_PARAMS, sid: 's0', risk_pct: 0.013 },
        coding,
      )
      expect(bytesIn(['bytes' in answer ? answer : null])).toBe('bytes' in answer && answer.bytes.length)
    }
  },
)

test('the cache never has more bytes than its bound while large answers are made', async () => {
  const bound = 250_000
  const served = toServed(longBook(longReturns(400)))
  const computed = createComputedAnswers(limitsWith({ largeCells: 1_000, mostLarge: 1 }), bound)
  const points = Array.from({ length: 9 }, (_, i) => ({ ...DEFAULT_PARAMS, risk_pct: 0.01 + i / 1_000 }))
  for (const point of points) {
    const answer = await computed.compute(served, 'export', point, null)
    if ('bytes' in answer) throw new Error('the export is a large answer')
    for await (const _ of answer.begin().blocks) expect(computed.use().bytes).toBeLessThanOrEqual(bound)
    expect(computed.use().bytes).toBeLessThanOrEqual(bound)
  }
  expect(computed.use().bytes).toBeGreaterThan(bound / 2)
  expect('bytes' in (await computed.compute(served, 'export', points.at(-1)!, null))).toBe(true)
})

test('the cache of published files never has more bytes than its bound, and has the newest files', async () => {
  const stores = inject('tinyStore')
  const { source } = await openHistoryApp(stores)
  const artifacts = [...source.current()!.artifacts.values()]
  const bound = Math.ceil(artifacts.reduce((sum, { bytes }) => sum + bytes, 0) / 3)
  const published = createPublishedAnswers(await openStore(stores.url), () => {}, bound)
  for (const artifact of artifacts) {
    await published.read(artifact, null)
    expect(published.use().bytes).toBeLessThanOrEqual(bound)
  }
  expect(published.use().bytes).toBeGreaterThan(bound / 2)
  const { hits } = published.use()
  await published.read(artifacts.at(-1)!, null)
  expect(published.use().hits).toBe(hits + 1)
})
