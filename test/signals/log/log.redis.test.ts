// The log on a real Redis: numbers without hole or repeat, bytes made once, commits that can be made again.
import { expect, test } from 'vitest'
import type { SignalContent } from '#core/contract/signal.ts'
import { digestOf } from '#signals/clients/token.ts'
import { halt, resume } from '#signals/live/live-record.ts'
import { commit, type NewSignal, SignalConflictError } from '#signals/log/commit.ts'
import { guardLog } from '#signals/log/guard.ts'
import { DamagedLogError, newestVisible, readAfter, readHead, readSignal } from '#signals/log/read-log.ts'
import { assertDurable, durabilityProblems } from '#signals/redis/boot-checks.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { HEAD, LOG, liveKey, SIGNAL_IDS } from '#signals/redis/keys.ts'
import { redis, server, useOwnRedis } from '../../support/signals/own-redis.ts'
import { NOW_MS, ORDERED, signalContent } from '../../support/signals/signals.ts'

const fire = (id: string, more: Partial<SignalContent> = {}, onlyFor: string | null = null): NewSignal => ({
  content: signalContent(id, more),
  onlyFor,
})

useOwnRedis()

const seqsOf = async (): Promise<number[]> => (await readAfter(redis, 0, 1_000)).map(({ seq }) => seq)

test('a commit numbers signals from 1 without a hole, and stores the bytes that the number was put into', async () => {
  const first = await commit(redis, [fire('a')], NOW_MS)
  const second = await commit(redis, [fire('b', { action: 'flat' }), fire('c')], NOW_MS)
  expect(first).toEqual({ kind: 'committed', signals: [{ seq: 1, isRepeat: false }] })
  expect(second).toMatchObject({ signals: [{ seq: 2 }, { seq: 3 }] })
  const [entry] = await readAfter(redis, 0, 1)
  const { signal_id, ...rest } = signalContent('a')
  expect(entry?.body).toBe(JSON.stringify({ schema_version: '1.0', signal_id, seq: 1, ...rest }))
  expect(entry).toMatchObject({ seq: 1, alias: 'alder', onlyFor: null, atMs: NOW_MS })
})

test('a commit that is made again, as after a lost reply and by another operator, gives the same numbers and writes nothing', async () => {
  const signals = [fire('a'), fire('b')]
  const once = await commit(redis, signals, NOW_MS)
  const again = await commit(redis, [fire('a', { by: 'operator:jane' }), fire('b')], NOW_MS + 5_000)
  const { by: _, signal_id, ...asked } = signalContent('a')
  const whole = JSON.stringify({ schema_version: '1.0', signal_id, seq: 0, ...asked })
  const digest = digestOf(whole.replace('"seq":0', '"seq":')) // as earlier releases have it
  expect(await redis.hget(SIGNAL_IDS, 'a')).toBe(`1 ${digest}`)
  expect(once).toMatchObject({ signals: [{ seq: 1 }, { seq: 2 }] })
  expect(again).toEqual({
    kind: 'committed',
    signals: [
      { seq: 1, isRepeat: true },
      { seq: 2, isRepeat: true },
    ],
  })
  expect(await seqsOf()).toEqual([1, 2])
})

test('a commit of another content under a known signal_id is refused whole', async () => {
  await commit(redis, [fire('a')], NOW_MS)
  const refused = commit(redis, [fire('b'), fire('a', { stop: 48_000 })], NOW_MS)
  await expect(refused).rejects.toThrow(SignalConflictError)
  await expect(refused).rejects.toThrow('the signal_id a is that of signal 1')
  expect(await seqsOf()).toEqual([1])
})

test('a commit continues above a head that was set on, as after a restore, and refuses to number above what a double can count', async () => {
  await commit(redis, [fire('a')], NOW_MS)
  await redis.hset(HEAD, 'seq', '1000')
  expect(await commit(redis, [fire('b')], NOW_MS)).toMatchObject({ signals: [{ seq: 1001 }] })
  await redis.hset(HEAD, 'seq', String(Number.MAX_SAFE_INTEGER))
  await expect(commit(redis, [fire('c')], NOW_MS)).rejects.toThrow('no numbers left')
})

// There is no moment between the check of a halt and the write: both are one step.

test.each([['alder'], ['*']])(
  'a halt of %s keeps back every new entry, whole commits of them, and nothing else',
  async halted => {
    await commit(redis, [fire('a')], NOW_MS)
    await halt(redis, halted, ORDERED)
    const both = [fire('b', { action: 'flat' }), fire('c', { action: 'short' })]
    expect(await commit(redis, both, NOW_MS)).toEqual({ kind: 'halted', alias: 'alder' })
    expect(await seqsOf()).toEqual([1])
    expect(await commit(redis, [fire('a')], NOW_MS)).toMatchObject({
      signals: [{ seq: 1, isRepeat: true }],
    })
    expect(await commit(redis, both.slice(0, 1), NOW_MS)).toMatchObject({ signals: [{ seq: 2 }] })
    const test = fire('t', { is_test: true }, 'acme')
    expect(await commit(redis, [test], NOW_MS)).toMatchObject({ signals: [{ seq: 3 }] })
    await resume(redis, halted, ORDERED)
    expect(await commit(redis, both, NOW_MS)).toMatchObject({ signals: [{ seq: 2 }, { seq: 4 }] })
  },
)

const step = { alias: 'alder', from: '', to: '100', fields: { checkpoint: '{"a":1}' } }

test('a step of a live strategy writes signals, cursor and checkpoint together, without a signal the cursor alone, and nothing if it is repeated or another runner was first', async () => {
  await commit(redis, [fire('a')], NOW_MS, step)
  const second = await commit(redis, [fire('other')], NOW_MS, { ...step, fields: { checkpoint: 'wrong' } })
  expect(second).toEqual({ kind: 'moved', cursor: '100' })
  expect(await redis.hgetall(liveKey('alder'))).toEqual({ cursor: '100', checkpoint: '{"a":1}' })
  const third = await commit(redis, [], NOW_MS, { ...step, from: '100', to: '200' })
  expect(third).toEqual({ kind: 'committed', signals: [] })
  expect(await redis.hget(liveKey('alder'), 'cursor')).toBe('200')
  expect(await seqsOf()).toEqual([1])
})

test('the log is read from a number on, ascending, at most as many as asked for', async () => {
  for (const id of ['a', 'b', 'c', 'd']) await commit(redis, [fire(id)], NOW_MS)
  expect((await readAfter(redis, 1, 2)).map(({ seq }) => seq)).toEqual([2, 3])
  expect(await readAfter(redis, 4, 10)).toEqual([])
  expect((await readSignal(redis, 3))?.body).toContain('"signal_id":"c"')
  expect(await readSignal(redis, 5)).toBeNull()
})

test('the log finds the newest signal of some aliases, and of the tests of a client', async () => {
  await commit(redis, [fire('a'), fire('b', { alias: 'birch' })], NOW_MS)
  await commit(redis, [fire('t', { is_test: true }, 'acme')], NOW_MS)
  expect(await newestVisible(redis, { id: 'other', aliases: ['alder'] })).toBe(1)
  expect(await newestVisible(redis, { id: 'other', aliases: ['alder', 'birch'] })).toBe(2)
  expect(await newestVisible(redis, { id: 'acme', aliases: ['alder'] })).toBe(3)
  expect(await newestVisible(redis, { id: 'other', aliases: [] })).toBe(0)
  await commit(redis, [fire('u', { is_test: true }, 'acme/backup')], NOW_MS)
  expect(await newestVisible(redis, { id: 'acme', aliases: ['alder'] })).toBe(4)
  for (const [sentTo, newest] of [
    ['acme', 3],
    ['acme/backup', 4],
    ['acme/third', 1],
  ] as const)
    expect(await newestVisible(redis, { id: 'acme', aliases: ['alder'], sentTo })).toBe(newest)
})

test('the log has one epoch, whichever process is first', async () => {
  for (const name of ['first', 'second']) await guardLog(await server.connect(), 0, () => name)
  expect(await readHead(redis)).toEqual({ seq: 0, epoch: 'first' })
})

test('the log refuses an entry whose bytes are not those that were written', async () => {
  const fields = { body: '{"seq":1}', sha1: '0'.repeat(40), alias: 'alder', to: '', at: '1' }
  await redis.xadd(LOG, '1-0', ...Object.entries(fields).flat())
  await expect(readAfter(redis, 0, 10)).rejects.toThrow(DamagedLogError)
  await expect(readAfter(redis, 0, 10)).rejects.toThrow('signal 1 is not what was written')
})

test('Redis is durable as it is started, and each setting that could lose a signal is named', async () => {
  await expect(assertDurable(redis)).resolves.toBeUndefined()
  await redis.config('SET', 'appendfsync', 'everysec')
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  expect(await durabilityProblems(redis)).toEqual([
    'appendfsync is everysec and must be always',
    'maxmemory-policy is allkeys-lru and must be noeviction',
  ])
  await expect(assertDurable(redis)).rejects.toThrow('ALLOW_UNSAFE_REDIS=yes')
  await redis.config('SET', 'appendfsync', 'always')
  await redis.config('SET', 'maxmemory-policy', 'noeviction')
})

test('Redis that is killed under fire has every acknowledged signal after its restart, numbered 1..n without hole or repeat', async () => {
  const acknowledged: number[] = []
  let isKilled = false
  const shoot = async (lane: number) => {
    for (let i = 0; !isKilled; i++) {
      const outcome = await commit(redis, [fire(`l${lane}-${i}`)], NOW_MS).catch(error => {
        expect(error).toBeInstanceOf(RedisDownError)
        return null
      })
      if (outcome?.kind === 'committed') acknowledged.push(outcome.signals[0]!.seq)
    }
  }
  const lanes = Promise.all([0, 1, 2, 3].map(shoot))
  while (acknowledged.length < 100) await new Promise(resolve => setImmediate(resolve))
  const killed = server.kill() // at once: each lane waits for a reply
  isKilled = true // before anything is awaited: a connection that is down refuses so fast that nothing else would run
  await Promise.all([killed, lanes])
  await server.restart()
  await expect.poll(() => redis.status).toBe('ready')
  const there = await seqsOf()
  expect(there).toEqual(there.map((_, i) => i + 1))
  expect(there).toEqual(expect.arrayContaining(acknowledged))
})
