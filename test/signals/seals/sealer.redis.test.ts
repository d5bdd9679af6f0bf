// The sealer on a real Redis: what it seals, when it refuses, and that kills, rivals and restored copies never give a number two
// contents, a hole, or a seal that cannot be opened.
import { beforeEach, expect, test } from 'vitest'
import { SEAL_HEAD_KEY, sealDayKey, sealKey } from '#core/contract/seals.ts'
import { halt, orderMode, resume } from '#signals/live/live-record.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { LOG, liveKey, SEAL_EVENTS, SEAL_STATE, SEALS } from '#signals/redis/keys.ts'
import { beginAnew } from '#signals/seals/begin-anew.ts'
import {
  assertMaySeal,
  publish,
  repairIndex,
  runSealer,
  type SealParts,
  SealRefusedError,
  toNextRecord,
} from '#signals/seals/sealer.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import { keyOfOrigin, recordKey, SEAL_MS, seqOf } from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import {
  BEGIN_MS,
  readAll,
  type Scene,
  sealScene,
  stepped,
  watchWrites,
} from '../../support/signals/seal-scene.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

useRedis()
let scene: Scene
beforeEach(() => {
  scene = sealScene(redis)
})

const ordered = (why: string | null = null) => ({ by: 'operator:jane', atMs: scene.clock.ms, why })

/** Six seals over a midnight: signals in the second and the fourth, events in the third and the fourth. */
async function sealSix(): Promise<void> {
  await redis.hset(liveKey('alder'), 'cursor', '1')
  for (const n of [1, 2, 3, 4, 5, 6]) {
    if (n === 2) for (const _ of [1, 2, 3]) await scene.fire()
    if (n === 3) await orderMode(redis, 'alder', 'LIVE', ordered())
    if (n === 4) await halt(redis, '*', ordered('a storm'))
    if (n === 4) await scene.fire({ action: 'flat' })
    scene.next()
    expect((await scene.seal())?.seal.n).toBe(n)
  }
}

const bodies = async (): Promise<string[]> => (await readAfter(redis, 0, 100)).map(({ body }) => body)

/** Everything in a store, to bring it back to. */
async function copyOf(store: ObjectStore) {
  const keys = await store.list('')
  const all = await Promise.all(keys.map(async key => [key, (await store.read(key))!] as const))
  return async (): Promise<void> => {
    for (const key of await store.list('')) await store.remove(key)
    for (const [key, bytes] of all) await store.create(key, bytes, { content_type: 'text/plain' })
  }
}

const begin = (changed: Partial<SealParts> = {}) =>
  beginAnew({ ...scene.parts, ...changed }, 'a disk was lost', 'operator:operator')

test('every ten minutes get a seal of one length in a sound chain, with signals before events, and each day that is over a file', async () => {
  const { store, privateStore } = scene.parts
  const headers = new Map<string, string | undefined>()
  watchWrites(store, (key, _, { cache_control }) => headers.set(key, cache_control))
  await sealSix()
  const { seals, faults, items, records } = await readAll(scene.parts)
  expect(faults).toEqual([])
  expect(new Set(seals.map(({ bytes }) => bytes.length)).size).toBe(1)
  expect(seals[0]!.seal).toMatchObject({ n: 1, fromMs: Date.parse('2026-11-20T23:30:00Z'), entrySeq: 0 })
  expect(seals.map(({ seal }) => seal.toMs - seal.fromMs)).toEqual(Array(6).fill(SEAL_MS))
  const [one, two, three, four] = await bodies()
  expect(items).toEqual([
    one,
    two,
    three,
    expect.stringMatching(/"live","alias":"alder"/),
    four,
    expect.stringMatching(/"halt".*a storm/),
  ])
  expect(records.map(record => record?.items.length)).toEqual([0, 3, 1, 2, 0, 0])
  expect(await redis.zrange(SEALS, '0', '-1', 'WITHSCORES')).toEqual(['2', '3', '4', '4'])
  const days = [sealDayKey('2026-11-20')]
  expect(await store.list('v1/seals/days/')).toEqual(days)
  const immutable = [...days, sealKey(3), keyOfOrigin(seals[0]!.seal.origin)].map(key => headers.get(key))
  expect(new Set(immutable)).toEqual(new Set(['max-age=31536000, immutable']))
  expect(headers.get(SEAL_HEAD_KEY)).toBe('max-age=30')
  expect(await store.read(SEAL_HEAD_KEY)).toEqual(seals[5]!.bytes)
  expect(await scene.seal()).toBeNull()
  await redis.del(SEALS)
  await repairIndex({ ...scene.parts, privateStore })
  expect(await redis.zrange(SEALS, '0', '-1')).toEqual(['2', '4'])
})

test('a signal is sealed by its time in the log, what an earlier chain or release had is not, and a standstill is one long seal', async () => {
  await scene.fire({}, 2 * SEAL_MS)
  await scene.seal()
  await scene.fire()
  scene.next()
  scene.clock.ms = Math.floor(scene.clock.ms / SEAL_MS) * SEAL_MS + 4_999
  expect(await scene.seal()).toBeNull() // a commit may be under way
  scene.clock.ms += 1
  await scene.fire({}, 5_001)
  await scene.fire()
  await scene.fire({}, 6_000) // its number is above one that is later
  await scene.seal()
  scene.next(5)
  await scene.seal()
  const { records, faults, seals, items } = await readAll(scene.parts)
  expect(faults).toEqual([])
  expect(records.map(record => record?.items.map(seqOf))).toEqual([[], [2, 3], [4, 5]])
  expect(items).toEqual((await bodies()).slice(1))
  expect(seals.map(({ seal }) => (seal.toMs - seal.fromMs) / SEAL_MS)).toEqual([1, 1, 5])
})

test('an order is an event only if it changes something or is a halt with a reason, and a new version or the catalogue ends what is LIVE', async () => {
  await redis.hset(liveKey('alder'), 'cursor', '1', 'mode', 'LIVE')
  await orderMode(redis, 'alder', 'LIVE', ordered())
  for (const why of [null, null, 'a storm']) await halt(redis, 'alder', { ...ordered(), why })
  for (const _ of [1, 2]) await resume(redis, 'alder', ordered('over'))
  for (const mode of ['DRY_RUN', 'DRY_RUN', 'LIVE'] as const) await orderMode(redis, 'alder', mode, ordered())
  const events = (await redis.lrange(SEAL_EVENTS, 0, -1)).map(event => JSON.parse(event))
  expect(events.map(({ event }) => event)).toEqual(['halt', 'halt', 'resume', 'ended', 'live'])
  expect(events[2]).toEqual({
    event: 'resume',
    alias: 'alder',
    by: 'operator:jane',
    why: 'over',
    at: '2026-11-20T23:30:07Z',
  })
})

const TEXT = { content_type: 'text/plain' }
const drop = (key: string) => scene.parts.store.remove(key)
const forget = (n: number) => scene.parts.privateStore.remove(recordKey(n))
const put = (n: number, bytes: Uint8Array) => scene.parts.store.replace(sealKey(n), bytes, TEXT)
const dropHead = () => drop(SEAL_HEAD_KEY)
const sealBytes = async (n: number) => Buffer.from((await scene.parts.store.read(sealKey(n)))!)
const alter = async (n: number) => {
  const bytes = await sealBytes(n)
  await put(n, bytes.fill('A', bytes.length - 20, bytes.length - 10))
}

/** Seals what another log of versions has, as one that was restored no longer does. */
async function nameLaterEntry(): Promise<void> {
  const { newest, record } = await assertMaySeal(scene.parts)
  const { n, toMs, origin } = newest!.seal
  const span = { n: n + 1, origin, fromMs: toMs, toMs: toMs + SEAL_MS }
  const next = { ...(await toNextRecord(scene.parts, span, record)), entry_seq: 9 }
  await scene.parts.privateStore.create(recordKey(n + 1), toJsonBytes(next), TEXT)
  await publish(scene.parts, next, newest)
  scene.next()
}

const OTHER_EVENT = '{"event":"halt","alias":"oak","by":"x","why":null,"at":"2026-11-20T23:59:59Z"}'
const NO_EVENT = /Redis has not the event 2/
const NO_RECORD = /000000006.json is not the record/
const loseNewest = () => Promise.all([drop(sealKey(6)), dropHead(), forget(6)])
const restoreRedis = () => redis.hset(SEAL_STATE, 'restored', '2026-11-19T00:00:00Z')
const setBack = () => Object.assign(scene.clock, { ms: BEGIN_MS })
const EARLY = /seal 6 ends at 2026-11-21T00:30:00Z, and it is 2026-11-20/
const BEFORE = /seal 6 is not signed, or does not continue seal 5/
const exchangeRecord = async () => scene.parts.privateStore.replace(recordKey(6), await recordBytes(5), TEXT)
const recordBytes = async (n: number) => (await scene.parts.privateStore.read(recordKey(n)))!
const changeKey = () => Object.assign(scene.parts, { signer: createSigner(newPrivateKeyPem()) })
const SHORTER = /the log of versions ends with entry 0, before that of seal 7/

type Refusal = [title: string, breaks: () => unknown, says: RegExp, then: 'anew' | 'restored' | 'waits']

const REFUSALS: Refusal[] = [
  ['both stores are an older copy', loseNewest, /ends with seal 5, and seal 6 was published/, 'anew'],
  ['Redis was restored', restoreRedis, /Redis is a backup of 2026-11-19/, 'anew'],
  ['its clock is before the newest seal', setBack, EARLY, 'waits'],
  ['the newest seal has another signature', () => alter(6).then(dropHead), /seal 6 is not signed/, 'anew'],
  ['the newest seal is damaged', () => put(6, toJsonBytes({})).then(dropHead), /is not a seal/, 'restored'],
  ['the seal before was altered', () => alter(5), BEFORE, 'restored'],
  ['the newest record is missing', () => forget(6), NO_RECORD, 'anew'],
  ['the newest record is another one', exchangeRecord, NO_RECORD, 'anew'],
  ['the log lost its last signal', () => redis.xdel(LOG, '4-0'), /Redis has not the signal 4/, 'anew'],
  ['the list of events is shorter', () => redis.rpop(SEAL_EVENTS), NO_EVENT, 'anew'],
  ['the list of events is another one', () => redis.lset(SEAL_EVENTS, 1, OTHER_EVENT), NO_EVENT, 'anew'],
  ['the log of versions is shorter', nameLaterEntry, SHORTER, 'anew'],
  ['it has another key', changeKey, /the key of the chain is \w{16}, and that of SEAL_KEY_FILE/, 'anew'],
  ['another seal has the next number', async () => put(7, await sealBytes(6)), /07 holds seal 6/, 'restored'],
]

test.each(REFUSALS)(
  'the sealer refuses with the fault and the remedy if %s, writes nothing, and goes on once that is resolved',
  async (_, break_, says, how) => {
    await sealSix()
    const whole = await copyOf(scene.parts.store)
    const now = scene.clock.ms
    await break_()
    const left = async () =>
      (await scene.parts.store.list('')).length + (await scene.parts.privateStore.list('')).length
    const before = await left()
    if (how !== 'waits') scene.next()
    const refused = scene.seal()
    await expect(refused).rejects.toThrow(SealRefusedError)
    await expect(refused).rejects.toThrow(says)
    expect(await left()).toBe(before)
    if (how === 'waits') scene.clock.ms = now
    else if (how === 'restored') await whole()
    else await begin()
    scene.next()
    expect(await scene.seal()).not.toBeNull()
    scene.next()
    await scene.fire({ action: 'flat' })
    scene.next()
    await scene.seal()
    const { faults, items } = await readAll(scene.parts)
    expect(
      faults.filter(fault => !/^seal (?:6 is not signed|8 names entry 0 of the log)/.test(fault)),
    ).toEqual([])
    expect(items).toContain((await bodies()).at(-1))
  },
)

test('a new chain keeps numbers and digests, says what is lost and why, and names another key', async () => {
  await sealSix()
  const { privateStore } = scene.parts
  for (const n of [3, 5, 6]) await privateStore.remove(recordKey(n))
  const signer = createSigner(newPrivateKeyPem())
  await redis.set('{hw}:relay:lease', 'a service')
  await expect(begin({ signer })).rejects.toThrow('a service is running')
  await redis.del('{hw}:relay:lease')
  expect(await begin({ signer })).toMatchObject({
    n: 7,
    lost: [{ lost_from: 5, lost_to: 6 }, { lost_from: 3 }],
  })
  await expect(begin({ signer })).rejects.toThrow('seal 7 begins the chain anew already')
  await expect(scene.seal()).rejects.toThrow('the key of the chain is')
  expect(await scene.seal({ signer })).toBeNull()
  scene.next()
  expect((await scene.seal({ signer }))?.seal).toMatchObject({
    n: 7,
    fromMs: Date.parse('2026-11-21T00:30:00Z'),
  })
  const { seals, faults, opened, items } = await readAll(scene.parts)
  expect(faults).toEqual([])
  expect(opened.lost.map(({ n }) => n)).toEqual([3, 5, 6])
  const events = items.slice(-3).map(item => JSON.parse(item))
  const of = { origin: seals[0]!.seal.origin, n: 6, digest: seals[5]!.digest, lost_from: 5, lost_to: 6 }
  expect(events[0]).toMatchObject({
    event: 'begin_anew',
    by: 'operator:operator',
    why: 'a disk was lost',
    of,
  })
  expect(events[2]).toMatchObject({ event: 'key', of: { id: signer.keyId } })
})

test('a restored Redis is sealed again after a new beginning: what it lost stays in its seals, and what it has is sealed once', async () => {
  await sealSix()
  await redis.xdel(LOG, '4-0')
  await redis.lset(SEAL_EVENTS, 1, OTHER_EVENT)
  await begin()
  await redis.hset('{hw}:log:head', 'seq', 1_000_004)
  await scene.fire({ action: 'flat' })
  scene.next(2)
  await scene.seal()
  scene.next()
  await scene.seal()
  const { faults, opened, records } = await readAll(scene.parts)
  expect(faults).toEqual([])
  expect(opened.skipped).toEqual([{ from: 5, to: 1_000_004 }])
  expect(
    records.slice(6).map(record => record?.items.map(item => seqOf(item) ?? JSON.parse(item).event)),
  ).toEqual([['begin_anew', 'halt'], [1_000_005]])
})

test('a public store that lost its newest seals gets the same bytes again from the private one', async () => {
  await sealSix()
  const { store } = scene.parts
  const whole = await Promise.all([4, 5, 6].map(n => store.read(sealKey(n))))
  for (const key of [4, 5, 6].map(sealKey).concat(SEAL_HEAD_KEY)) await drop(key)
  scene.next()
  for (const n of [4, 5, 6, 7]) expect((await scene.seal())?.seal.n).toBe(n)
  expect(await Promise.all([4, 5, 6].map(n => store.read(sealKey(n))))).toEqual(whole)
  expect((await readAll(scene.parts)).faults).toEqual([])
})

/** The first seals of two days, each of which is sealed by `seal`, with signals and events between. */
async function playTwo(seal: () => Promise<unknown>): Promise<void> {
  scene.next()
  for (const order of [halt, resume]) {
    await scene.fire({ action: 'flat' })
    await order(redis, '*', ordered())
    scene.next()
    await seal()
  }
}

async function expectWhole(): Promise<void> {
  scene.next()
  await scene.seal()
  const { faults, items, seals } = await readAll(scene.parts)
  expect(faults).toEqual([])
  expect(seals.length).toBe(3)
  expect(await scene.parts.store.read(SEAL_HEAD_KEY)).toEqual(seals[2]!.bytes)
  expect(items.filter(item => seqOf(item) !== null)).toEqual(await bodies())
  expect(items.filter(item => seqOf(item) === null)).toEqual(await redis.lrange(SEAL_EVENTS, 0, -1))
}

/** Plays it on a new scene for each operation of the two seals, and expects that all was sealed; `at` counts over both. */
async function atEachStep(play: (at: number) => Promise<void>): Promise<void> {
  let steps = 0
  const counting = stepped(scene.parts, async run => {
    steps++
    return run()
  })
  await playTwo(() => scene.seal(counting))
  expect(await scene.parts.store.list('v1/seals/days/')).toHaveLength(1)
  expect(steps).toBeGreaterThan(40)
  for (let at = 0; at < steps; at++) {
    await redis.flushall()
    scene = sealScene(redis)
    await play(at)
    await expectWhole()
  }
}

test('a sealer that is killed before or after any of its operations, and started again, leaves no hole and no second content', async () => {
  await atEachStep(async at => {
    let count = 0 // right after an operation is right before the next one
    const dying = stepped(scene.parts, async run => {
      if (count++ >= at) throw new Error('killed')
      return run()
    })
    const killed: string[] = []
    const startAgain = async (error: Error): Promise<void> => {
      killed.push(error.message)
      await scene.fire({ action: 'flat' }, 20_000) // may not change a record that was made
      await scene.seal()
    }
    await playTwo(() =>
      killed.length > 0 ? scene.seal() : scene.seal(dying).catch((error: Error) => startAgain(error)),
    )
    expect(killed, `at ${at}`).toEqual([expect.stringMatching(/killed$/)])
  })
})

test('two sealers at once, of which one does all its work inside any operation of the other, write one chain', async () => {
  await atEachStep(async at => {
    let count = 0
    const slow = stepped(scene.parts, async run => {
      if (count++ === at) {
        await scene.fire({ action: 'flat' }, 30_000) // the second sees more than the first
        await scene.seal()
      }
      return run()
    })
    await playTwo(() => scene.seal(slow))
  })
})

test('the sealer seals while the lease is its own, goes on after a failure that the operator then sees, and has the wanted seals stamped', async () => {
  const stopped = new AbortController()
  const { parts, clock } = scene
  const endMs = clock.ms + 7 * SEAL_MS
  let isRefusing = false
  const create: ObjectStore['create'] = (key, ...rest) =>
    isRefusing
      ? Promise.reject(new StoreError('create', 'memory:public', key, 'full'))
      : parts.store.create(key, ...rest)
  const seen = new Set<string>()
  const anchored: number[] = []
  await runSealer({
    ...{ ...parts, store: { ...parts.store, create }, stop: stopped.signal, onError: () => {} },
    hasLease: async () => clock.ms > BEGIN_MS + 2 * SEAL_MS,
    assertClock: async () => {},
    anchor: async n => void anchored.push(n),
    pause: async ms => {
      clock.ms += Math.max(ms, 1)
      isRefusing = clock.ms > BEGIN_MS + 4 * SEAL_MS && clock.ms < BEGIN_MS + 6 * SEAL_MS
      seen.add((await redis.hget(SEAL_STATE, 'refused')) ?? '')
      if (clock.ms > endMs) stopped.abort()
    },
  })
  const { seals, faults } = await readAll(parts)
  expect(faults).toEqual([])
  expect(seals.map(({ seal }) => (seal.toMs - BEGIN_MS + 7_000) / SEAL_MS)).toEqual([2, 3, 4, 6])
  expect(anchored).toEqual(seals.map(({ seal }) => seal.n))
  expect([...seen]).toEqual(['', expect.stringContaining('cannot create memory:public/v1/seals/')])
  expect(await redis.hgetall(SEAL_STATE)).toMatchObject({ n: '4', refused: '' })
})
