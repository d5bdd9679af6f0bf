// Answers that are computed on demand: once for equal requests, kept, and never kept when they fail.
import { expect, inject, test } from 'vitest'
import { type ComputedAnswers, createComputedAnswers } from '#api/history/answers/computed-answers.ts'
import { createPublishedAnswers } from '#api/history/answers/published-answers.ts'
import type { ServedVersion } from '#api/history/versions/served-version.ts'
import type { ReadyAnswer } from '#api/service/content-coding.ts'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import { openStore } from '#storage/open-store.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import { limitsWith, longBook, longReturns, toServed } from '../../support/books/large-book.ts'
import { openHistoryApp } from '../../support/history/history-app.ts'
import { openTiny } from './answers.ts'

const served = (await openTiny()).source.current()!

const PARAMS = { ...DEFAULT_PARAMS, sid: 'ash', risk_pct: 0.013 }

test('an answer is computed once for all concurrent requests, and cached for later ones', async () => {
  const computed = createComputedAnswers()
  const ask = () => computed.compute(served, 'returns', PARAMS, 'gzip')
  const [first, ...others] = await Promise.all([ask(), ask(), ask()])
  for (const other of [...others, await ask()]) expect(other).toBe(first)
})

test('a computed answer is another one at another point, in another coding and of another version', async () => {
  const computed = createComputedAnswers()
  const later = { ...served, version: '2025-02-25T00:15:00Z' }
  const answers = await Promise.all([
    computed.compute(served, 'returns', PARAMS, 'gzip'),
    computed.compute(served, 'returns', PARAMS, 'br'),
    computed.compute(served, 'returns', { ...PARAMS, sid: 'elm' }, 'gzip'),
    computed.compute(served, 'returns', { ...PARAMS, risk_pct: 0.014 }, 'gzip'),
    computed.compute(served, 'returns', { ...PARAMS, format: 'csv' }, 'gzip'),
    computed.compute(served, 'curve', PARAMS, 'gzip'),
    computed.compute(later, 'returns', PARAMS, 'gzip'),
  ])
  expect(new Set(answers.map(({ etag }) => etag)).size).toBe(answers.length)
})

test('an answer that cannot be computed is an error for all waiting requests, and is tried again for the next', async () => {
  const computed = createComputedAnswers()
  let failures = 0
  const flaky: ServedVersion = {
    ...served,
    get snapshot() {
      if (failures++ === 0) throw new Error('out of memory')
      return served.snapshot
    },
  }
  const ask = () => computed.compute(flaky, 'returns', PARAMS, 'gzip')
  const outcomes = await Promise.allSettled([ask(), ask()])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const sound = await createComputedAnswers().compute(served, 'returns', PARAMS, 'gzip')
  expect(await ask()).toEqual(sound)
})

test('exports of a small book are never turned away', async () => {
  const computed = createComputedAnswers()
  const answers = levels(4).map(risk_pct =>
    computed.compute(served, 'export', { ...DEFAULT_PARAMS, risk_pct }, 'br'),
  )
  expect(new Set((await Promise.all(answers)).map(({ etag }) => etag)).size).toBe(4)
})

const long = handSnapshot([{ id: 'long', returns: new Float64Array(2000).fill(0.001) }])
const ask = async (computed: ComputedAnswers, risk_pct: number) => {
  const of = { ...served, version: long.dataset.version, snapshot: long }
  const params = { ...DEFAULT_PARAMS, sid: 'long', risk_pct }
  const answer = await computed.compute(of, 'curve', params, 'identity')
  if ('bytes' in answer) return answer
  throw new Error('a small answer is streamed')
}

test('a long uncompressed series is not kept, and is freed once it is sent, but not if two requests share it', async () => {
  const computed = createComputedAnswers()
  const answer = await ask(computed, 0.013)
  expect(computed.use().bytes).toBe(0)
  expect(answer.bytes.length).toBeGreaterThan(0)
  answer.release?.()
  expect(answer.bytes.length).toBe(0)
  const [one, two] = await Promise.all([ask(computed, 0.013), ask(computed, 0.013)])
  expect(one).toBe(two)
  expect(one.release).toBeUndefined()
})

/** What the answers hold: a body that is a part of a larger piece of memory holds all of it. */
const bytesIn = (answers: readonly (ReadyAnswer | null)[]): number =>
  answers.reduce((sum, answer) => sum + (answer?.bytes.buffer.byteLength ?? 0), 0)

/** Adds to a cache in turn: it never has more bytes than its bound, and gives the newest again. */
async function expectBounded(
  use: () => { readonly bytes: number; readonly hits: number },
  bound: number,
  adds: readonly (() => Promise<unknown>)[],
): Promise<void> {
  for (const add of adds) {
    await add()
    expect(use().bytes).toBeLessThanOrEqual(bound)
  }
  expect(use().bytes).toBeGreaterThan(bound / 2)
  const { hits } = use()
  await adds.at(-1)!()
  expect(use().hits).toBe(hits + 1)
}

const levels = (count: number) => Array.from({ length: count }, (_, i) => 0.01 + i / 1_000)

test('the cache of computed answers never has more bytes than its bound, and has the newest answers', async () => {
  const bound = 100_000
  const served = toServed(longBook(longReturns(400)))
  const computed = createComputedAnswers(undefined, bound)
  const adds = levels(30).map(risk_pct => async () => {
    const answer = await computed.compute(served, 'returns', { ...DEFAULT_PARAMS, sid: 's0', risk_pct }, '')
    expect('bytes' in answer && answer.bytes.length).toBeGreaterThan(bound / 10)
  })
  await expectBounded(computed.use, bound, adds)
})

test.each(['zstd', 'br', 'gzip', 'identity'])(
  'computed answers in %s hold no more memory than the cache counts',
  async coding => {
    const served = toServed(longBook(longReturns(400)))
    const computed = createComputedAnswers()
    for (const id of ['returns', 'stats'] as const) {
      const answer = await computed.compute(served, id, { ...PARAMS, sid: 's0' }, coding)
      expect(bytesIn(['bytes' in answer ? answer : null])).toBe('bytes' in answer && answer.bytes.length)
    }
  },
)

test('the cache never has more bytes than its bound while large answers are made', async () => {
  const bound = 250_000
  const served = toServed(longBook(longReturns(400)))
  const computed = createComputedAnswers(limitsWith({ largeCells: 1_000, mostLarge: 1 }), bound)
  const adds = levels(9).map(risk_pct => async () => {
    const answer = await computed.compute(served, 'export', { ...DEFAULT_PARAMS, risk_pct }, '')
    if ('bytes' in answer) return
    for await (const _ of answer.begin('').blocks) expect(computed.use().bytes).toBeLessThanOrEqual(bound)
  })
  await expectBounded(computed.use, bound, adds)
})

test('the cache of published files never has more bytes than its bound, and has the newest files', async () => {
  const stores = inject('tinyStore')
  const { source } = await openHistoryApp(stores)
  const artifacts = [...source.current()!.artifacts.values()]
  const bound = Math.ceil(artifacts.reduce((sum, { bytes }) => sum + bytes, 0) / 3)
  const published = createPublishedAnswers(await openStore(stores.url), () => {}, bound)
  const adds = artifacts.map(artifact => async () => published.read(artifact, ''))
  await expectBounded(published.use, bound, adds)
})
