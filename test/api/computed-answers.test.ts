// Answers that are computed on demand: once for equal requests, kept, and never kept when they fail.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { createComputedAnswers } from '#api/history/computed-answers.ts'
import type { ServedVersion } from '#api/history/served-version.ts'
import type { VersionSource } from '#api/history/version-source.ts'
import { startServer } from '#api/http-server.ts'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import { handSnapshot } from '../setup/hand-snapshot.ts'
import { createTestApp, openHistoryApp } from '../setup/history-app.ts'
import { createMemoryStores } from '../setup/publish-in-memory.ts'
import { errorOf } from './answers.ts'

let served: ServedVersion

beforeAll(async () => {
  const { source } = await openHistoryApp(inject('tinyStore'))
  served = source.current()!
})

const sourceOf = (version: ServedVersion): VersionSource => ({
  current: () => version,
  history: () => null,
  checks: () => version.checks,
  unfitVersion: () => null,
  refresh: async () => ({ kind: 'unchanged' }),
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
    const { bytes } = await ask()
    expect(bytes).toEqual((await createComputedAnswers().compute(served, 'returns', PARAMS, 'gzip')).bytes)
  })
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
    expect([second.bytes, second.headers]).toEqual([first.bytes, first.headers])
    expect(await ask()).toBe(second)
  })

  test('frees its memory once it is sent, unless others have it, too', async () => {
    const computed = createComputedAnswers()
    const ask = (risk_pct: number) =>
      computed.compute({ ...served, ...book }, 'curve', { ...asked, risk_pct }, 'identity')
    const [alone, first, other] = [await ask(0.011), ...(await Promise.all([ask(0.012), ask(0.012)]))]
    expect(alone.bytes.length).toBeGreaterThan(0)
    alone.release?.()
    expect(alone.bytes.length).toBe(0)
    expect(other).toBe(first)
    for (const answer of [first, await ask(0.011), await ask(0.011)]) expect(answer.release).toBeUndefined()
  })

  test('is whole for each who asks a server, whether it is freed, shared or kept, and outside of a server', async () => {
    const { store, privateStore } = createMemoryStores()
    const source = sourceOf({ ...served, ...book })
    const { app, errors } = await createTestApp(store, privateStore, { source })
    const refuse = () => ({ status: 400, headers: {}, body: '' }) as const
    const server = await startServer(() => ({ fetch: app.fetch, answerError: refuse }), '127.0.0.1', 0)
    const path = '/v1/strategies/long/curve?risk_pct=0.01'
    const headers = { 'accept-encoding': 'identity' }
    const ask = async (more: string) => (await fetch(server.url + path + more, { headers })).text()
    const alone = await ask('3')
    const texts = [...(await Promise.all([ask('3'), ask('3')])), await ask('3')]
    const shared = await Promise.all([ask('4'), ask('4'), ask('4')])
    await server.close()
    expect(alone.length).toBeGreaterThan(50_000)
    expect(new Set([alone, ...texts])).toEqual(new Set([await (await app.request(`${path}3`)).text()]))
    expect(new Set(shared)).toEqual(new Set([await (await app.request(`${path}4`)).text()]))
    expect((await app.request(`${path}5`)).status).toBe(200)
    expect(errors).toEqual([])
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

describe('an export of a large book', () => {
  const days = Float64Array.from({ length: 10_000 }, (_, i) => ((i * 7919) % 101) / 5000 - 0.01)
  const ids = Array.from({ length: 10 }, (_, i) => `s${i}`)
  const large = handSnapshot(ids.map(id => ({ id, returns: days })))
  const book: ServedVersion = {
    version: large.dataset.version,
    snapshot: large,
    artifacts: new Map(),
    checks: { manifest_loaded: true, count_matches: true, per_strategy_loaded: true, correlation_dims: true },
  }
  const at = (risk_pct: number) => ({ ...DEFAULT_PARAMS, risk_pct })
  const OVERLOADED = { code: 'overloaded' }

  test('is made beside one other at the most: a third is turned away, and is made once one of them is done', async () => {
    const computed = createComputedAnswers()
    const ask = (risk_pct: number) => computed.compute(book, 'export', at(risk_pct), 'zstd')
    const [one, two] = [ask(0.011), ask(0.012)]
    await expect(ask(0.013)).rejects.toMatchObject(OVERLOADED)
    const { bytes } = await one
    expect((await ask(0.013)).bytes).not.toEqual(bytes)
    await two
  })

  test('is one for any number of those who ask for the same, and what was made is given out of turn', async () => {
    const computed = createComputedAnswers()
    const ask = (risk_pct: number) => computed.compute(book, 'export', at(risk_pct), 'zstd')
    const kept = await ask(0.01)
    const answers = [ask(0.011), ask(0.012), ask(0.011), ask(0.012), ask(0.011)]
    expect(await ask(0.01)).toBe(kept)
    const [one, two, ...others] = await Promise.all(answers)
    expect(new Set(others)).toEqual(new Set([one, two]))
  })

  test('keeps nobody waiting who wants less, whichever came first', async () => {
    const computed = createComputedAnswers()
    const order: string[] = []
    const told = (name: string, answer: Promise<unknown>) => answer.then(() => order.push(name))
    await Promise.all([
      told('export', computed.compute(book, 'export', at(0.011), 'zstd')),
      told('export', computed.compute(book, 'export', at(0.012), 'zstd')),
      told('returns', computed.compute(book, 'returns', { ...at(0.011), sid: 's0' }, 'identity')),
    ])
    expect(order).toEqual(['returns', 'export', 'export'])
  })

  test('that fails gives its place back', async () => {
    const computed = createComputedAnswers()
    const broken = { ...book, snapshot: { ...large, correlation: { daily: null, weekly: null } } }
    const fail = () => computed.compute(broken as never, 'export', at(0.011), 'zstd') // no such snapshot is legal
    for (let i = 0; i < 4; i++) await expect(fail()).rejects.toThrow(TypeError)
    expect((await computed.compute(book, 'export', at(0.011), 'zstd')).bytes.length).toBeGreaterThan(0)
  })

  test('that is turned away is told so in the envelope, with when to come back', async () => {
    const { store, privateStore } = createMemoryStores()
    const source = sourceOf(book)
    const { app, errors } = await createTestApp(store, privateStore, { source })
    const answers = await Promise.all(
      [1, 2, 3].map(i =>
        app.request(`/v1/export?risk_pct=0.01${i}`, { headers: { 'accept-encoding': 'zstd' } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503])
    expect(answers[2]?.headers.get('retry-after')).toBe('5')
    expect(answers[2]?.headers.get('cache-control')).toBe('no-store')
    expect(await errorOf(answers[2]!)).toMatchObject(OVERLOADED)
    expect(errors).toEqual([])
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
