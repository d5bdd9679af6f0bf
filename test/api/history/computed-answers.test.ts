// Answers that are computed on demand: once for equal requests, kept, and never kept when they fail.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { createComputedAnswers } from '#api/history/computed-answers.ts'
import type { ReadyAnswer } from '#api/history/ready-answer.ts'
import type { ServedVersion } from '#api/history/served-version.ts'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import { handSnapshot } from '../../support/books/hand-snapshot.ts'
import { openHistoryApp } from '../../support/history/history-app.ts'

let served: ServedVersion

beforeAll(async () => {
  const { source } = await openHistoryApp(inject('tinyStore'))
  served = source.current()!
})

const PARAMS = { ...DEFAULT_PARAMS, sid: 'ash', risk_pct: 0.013 }

describe('a computed answer', () => {
  test('is computed once for all who ask at the same time, and kept for who asks later', async () => {
    const computed = createComputedAnswers()
    const ask = () => computed.compute(served, 'returns', PARAMS, 'gzip')
    const [first, ...others] = await Promise.all([ask(), ask(), ask()])
    for (const other of [...others, await ask()]) expect(other).toBe(first)
  })

  test('is another one at another point, in another coding and of another version', async () => {
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

  test('that fails is told to all who wait for it, and tried again for the next', async () => {
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
})

test('exports of a small book are never turned away', async () => {
  const computed = createComputedAnswers()
  const levels = [0.011, 0.012, 0.013, 0.014]
  const answers = levels.map(risk_pct =>
    computed.compute(served, 'export', { ...DEFAULT_PARAMS, risk_pct }, 'br'),
  )
  expect(new Set((await Promise.all(answers)).map(({ etag }) => etag)).size).toBe(levels.length)
})

describe('a long text that nobody wants compressed', () => {
  const long = handSnapshot([{ id: 'long', returns: new Float64Array(2000).fill(0.001) }])
  const book = { version: long.dataset.version, snapshot: long }
  const asked = { ...DEFAULT_PARAMS, sid: 'long', risk_pct: 0.013 }

  test('is made again for who asks a second time, and kept from then on', async () => {
    const computed = createComputedAnswers()
    const ask = () => computed.compute({ ...served, ...book }, 'curve', asked, 'identity')
    const [first, second] = [await ask(), await ask()]
    expect(second).not.toBe(first)
    expect([second.etag, 'bytes' in second && second.bytes]).toEqual([
      first.etag,
      'bytes' in first && first.bytes,
    ])
    expect(await ask()).toBe(second)
  })

  test('can be freed once it is sent where nobody else has it', async () => {
    const computed = createComputedAnswers()
    const ask = async (risk_pct: number): Promise<ReadyAnswer> => {
      const answer = await computed.compute(
        { ...served, ...book },
        'curve',
        { ...asked, risk_pct },
        'identity',
      )
      if ('bytes' in answer) return answer
      throw new Error('a small answer is streamed')
    }
    const [alone, first, other] = [await ask(0.011), ...(await Promise.all([ask(0.012), ask(0.012)]))]
    expect(alone.bytes.length).toBeGreaterThan(0)
    alone.release?.()
    expect(alone.bytes.length).toBe(0)
    expect(other).toBe(first)
    for (const answer of [first, await ask(0.011), await ask(0.011)]) expect(answer.release).toBeUndefined()
  })

  test('is kept at once where it is short, compressed, binary or of the whole book', async () => {
    const computed = createComputedAnswers()
    for (const [id, more, coding] of [
      ['returns', { period: 'weekly' }, 'identity'],
      ['returns', {}, 'zstd'],
      ['returns', { format: 'arrow' }, 'identity'],
      ['export', {}, 'identity'],
    ] as const) {
      const ask = () => computed.compute({ ...served, ...book }, id, { ...asked, ...more }, coding)
      expect(await ask()).toBe(await ask())
    }
  })
})
