// What a halt keeps back, in the one step that writes signals: there is no moment between the look and the write.
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SignalContent } from '#core/contract/signal.ts'
import { halt, resume } from '#signals/live/control.ts'
import { commit, type NewSignal } from '#signals/log/commit.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import { NOW_MS, signalContent } from '../../support/signals/signals.ts'

const fire = (id: string, more: Partial<SignalContent> = {}, onlyFor: string | null = null): NewSignal => ({
  content: signalContent(id, more),
  onlyFor,
})

let server: TestRedis
let redis: Redis

beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
})
beforeEach(() => redis.flushall())
afterAll(() => server.stop())

const seqsOf = async (): Promise<number[]> => (await readAfter(redis, 0, 1_000)).map(({ seq }) => seq)

describe('a halt', () => {
  test.each([['alder'], ['*']])(
    'of %s keeps back every new entry, whole commits of them, and nothing else',
    async halted => {
      await commit(redis, [fire('a')], NOW_MS)
      await halt(redis, halted)
      const both = [fire('b', { action: 'flat' }), fire('c', { action: 'short' })]
      expect(await commit(redis, both, NOW_MS)).toEqual({ kind: 'halted', alias: 'alder' })
      expect(await seqsOf()).toEqual([1])
      expect(await commit(redis, [fire('a')], NOW_MS)).toMatchObject({
        signals: [{ seq: 1, isRepeat: true }],
      })
      expect(await commit(redis, both.slice(0, 1), NOW_MS)).toMatchObject({ signals: [{ seq: 2 }] })
      const test = fire('t', { is_test: true }, 'acme')
      expect(await commit(redis, [test], NOW_MS)).toMatchObject({ signals: [{ seq: 3 }] })
      await resume(redis, halted)
      expect(await commit(redis, both, NOW_MS)).toMatchObject({ signals: [{ seq: 2 }, { seq: 4 }] })
    },
  )

  test('of another alias keeps back none', async () => {
    await halt(redis, 'birch')
    expect(await commit(redis, [fire('a')], NOW_MS)).toMatchObject({ signals: [{ seq: 1 }] })
  })
})
