// A market from its feed to the log: which bars of a feed count, what is stored before anything is fired, and how a
// runner goes on after it stopped anywhere. And who follows it: one runner at a time, and the next one as soon as the first is gone.
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { toIsoInstant } from '#core/calendar.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { createBarReader } from '#pipeline/book/read-bars.ts'
import { createKnownBars, type Feed, openBarStore, revisedBars } from '#signals/live/bars.ts'
import { orderMode, readStanding, readStatus } from '#signals/live/live-record.ts'
import { type Market, type MarketWorld, runMarket } from '#signals/live/run-market.ts'
import type { LiveStrategy } from '#signals/live/signals-of.ts'
import { liveLeaseKey } from '#signals/redis/keys.ts'
import { LEASE_MS, RENEW_MS, takeLease } from '#signals/redis/lease.ts'
import { readLive } from '#signals/views/overview.ts'
import type { Holder } from '#storage/lock.ts'
import { handBars, type Ohlc, scripted, slot, still } from '../../core/replay/hand.ts'
import { ownRedis } from '../../support/servers/use-redis.ts'
import { ORDERED } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { barsFrom, firstBars, gists, liveStrategy, logged, testWorld } from './live-kit.ts'

useRedis()

const newReader = () => createBarReader('4h')

const ROWS: Ohlc[] = Array(30).fill(still(100))
const BARS = handBars(ROWS)
const RULES = {
  strategy: scripted({ 10: { act: 'long', stop: 96 }, 12: { act: 'flat', why: 'signal' } }),
  bars: BARS,
}
const FIRST = 8

/** A feed of these bars; the clock of the world goes with them, so that each comes a second after its close. */
const feedOf = (world: { nowMs: number }, bars: readonly Bar[], repeats = false): Feed => ({
  name: 'hand',
  repeats,
  async *bars() {
    for (const bar of bars) {
      world.nowMs = Math.max(world.nowMs, bar.t + BARS.timeframeMs + 1_000)
      yield bar
    }
  },
})

/** The bars that the book does not have. */
const bars = barsFrom(BARS, FIRST)
const [one, two] = bars

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})

type Setting = {
  readonly feed: (world: { nowMs: number }) => Feed
  readonly strategies?: readonly LiveStrategy[]
  readonly bookBars?: number
  readonly change?: (world: MarketWorld) => MarketWorld
}

async function runOn(setting: Setting) {
  const { feed, strategies = [liveStrategy(RULES)], bookBars = FIRST, change = w => w } = setting
  const base = testWorld(redis, slot(bookBars))
  const world: MarketWorld & typeof base = Object.assign(base, {
    pause: () => Promise.resolve(),
    stop: new AbortController().signal,
  })
  const store = await openBarStore(join(folder, 'live/4h.csv'), newReader)
  const known = createKnownBars(firstBars(BARS, bookBars), store.bars)
  const market: Market = { strategies, known, store, feed: feed(world) }
  try {
    await runMarket(change(world), market)
  } finally {
    await store.close()
  }
  return world
}

const stored = () => readFile(join(folder, 'live/4h.csv'), 'utf8')

/** Begins with nothing in the middle of a test. */
async function beginAgain(): Promise<void> {
  await redis.flushall()
  folder = await temporaryFolder()
}

test('a live market stores every bar of its feed and fires what the strategies decide', async () => {
  await runOn({ feed: world => feedOf(world, bars) })
  expect(await gists(redis)).toEqual(['long DRY_RUN', 'flat DRY_RUN'])
  expect((await stored()).split('\n').slice(0, 2)).toEqual([
    't,o,h,l,c,v',
    `${toIsoInstant(slot(FIRST))},100,100,100,100,`,
  ])
})

test('a live market is listed from its start on, whether its strategies have fired or are published', async () => {
  await runOn({ feed: world => feedOf(world, []) })
  expect(await logged(redis)).toEqual([])
  expect((await readLive(redis, new Set(), slot(FIRST))).map(({ alias }) => alias)).toEqual(['alder'])
})

test('a live market fires nothing twice if a feed repeats its bars, equal or revised', async () => {
  const revised = bars.map(bar => ({ ...bar, h: 101, c: 101 }))
  const world = await runOn({
    feed: w => feedOf(w, [...bars.slice(0, 6), ...barsFrom(BARS, 0), ...revised, ...revised]),
  })
  expect(await gists(redis)).toEqual(['long DRY_RUN', 'flat DRY_RUN'])
  expect(world.notes.filter(note => note.includes('was revised; the first one stays'))).toHaveLength(22)
  expect((await stored()).split('\n')).toHaveLength(bars.length + 2)
  expect(await stored()).not.toContain('101')
})

test('a live market goes on from what was stored and not committed, and from bars that the book got meanwhile', async () => {
  await runOn({ feed: w => feedOf(w, bars.slice(0, 2)) })
  const store = await openBarStore(join(folder, 'live/4h.csv'), newReader)
  await store.append(bars[2]!) // and killed here
  await store.close()
  await runOn({ feed: w => feedOf(w, []), bookBars: 14 })
  expect(await gists(redis)).toEqual(['long DRY_RUN', 'flat DRY_RUN'])
  expect((await readStanding(redis, 'alder'))?.cursor).toBe(String(slot(14)))
  expect((await stored()).split('\n')).toHaveLength(6 + 2)
})

test('a live market has a gap where a bar never came; in a feed that repeats, one that comes after all stays out', async () => {
  const holed = [...bars.slice(0, 1), ...bars.slice(2, 3), ...bars.slice(1, 3)]
  const world = await runOn({ feed: w => feedOf(w, holed, true) })
  expect(world.notes.at(-1)).toContain('came too late and stays a gap')
  expect(world.notes).toContain(
    `alder: a bar is missing before ${toIsoInstant(slot(FIRST + 2))}, and it goes on without`,
  )
  await beginAgain()
  const refused = runOn({ feed: w => feedOf(w, holed) })
  await expect(refused).rejects.toThrow('came after later ones')
  expect((await stored()).split('\n')).toHaveLength(2 + 2)
})

test('a live market reports and records the bars that its feed leaves out, and no gap if it has all of them', async () => {
  const whole = await runOn({ feed: w => feedOf(w, bars) })
  expect(whole.notes.join()).not.toContain('missing')
  expect(await readStatus(redis, 'alder', 0)).toMatchObject({ gap: null })
  await beginAgain()
  const holed = bars.toSpliced(10, 1).toSpliced(4, 3)
  const world = await runOn({ feed: w => feedOf(w, holed) })
  expect(world.notes.filter(note => note.includes('missing'))).toEqual([
    `alder: 3 bars are missing before ${toIsoInstant(bars[7]!.t)}, and it goes on without`,
    `alder: a bar is missing before ${toIsoInstant(bars[11]!.t)}, and it goes on without`,
  ])
  const found_ms = bars[11]!.t + BARS.timeframeMs + 1_000
  expect(await readStatus(redis, 'alder', 0)).toMatchObject({
    gap: { missing: 1, before_ms: bars[11]!.t, found_ms },
    missing_bars: 4,
  })
})

test('a live market finds a gap that came while it was stopped', async () => {
  await runOn({ feed: w => feedOf(w, bars.slice(0, 2)) })
  await runOn({ feed: w => feedOf(w, bars.slice(4)) })
  const { gap, missing_bars } = await readStatus(redis, 'alder', 0)
  expect([gap, missing_bars]).toMatchObject([{ missing: 2, before_ms: bars[4]!.t }, 2])
})

test.each([
  [{ t: slot(FIRST) + 1 }, 'must open on a multiple of 14400000 ms'],
  [{ l: 0 }, 'must have 0 < low'],
  [{ h: 99 }, 'must have 0 < low'],
  [{ c: Number.NaN }, 'must have 0 < low'],
  [{ h: Number.POSITIVE_INFINITY }, 'must have 0 < low'],
])('a live market stops at an impossible bar (%j) before anything is stored', async (change, sentence) => {
  const bar = { ...bars[0]!, ...change }
  await expect(runOn({ feed: w => feedOf(w, [bar]) })).rejects.toThrow(sentence)
  expect(await stored()).toBe('t,o,h,l,c,v\n')
  expect((await readStanding(redis, 'alder'))?.cursor).toBe(String(slot(FIRST)))
})

test('a live market waits for the close of a bar that comes a little early, and refuses one from the future', async () => {
  const closeMs = one!.t + BARS.timeframeMs
  const early = (aheadMs: number) => (world: { nowMs: number }) => ({
    ...feedOf(world, []),
    async *bars() {
      world.nowMs = closeMs - aheadMs
      yield one!
    },
  })
  const waits: number[] = []
  const change = (world: MarketWorld): MarketWorld =>
    Object.assign(world, {
      pause: async (ms: number) => {
        waits.push(ms)
        Object.assign(world, { nowMs: world.now() + ms })
      },
    })
  await runOn({ feed: early(1_500), change })
  expect(waits).toEqual([1_500])
  await beginAgain()
  await expect(runOn({ feed: early(2_001) })).rejects.toThrow('set the clocks')
})

test('a live market loses no strategy to another one that fails, and reports it at the end', async () => {
  const broken = liveStrategy({
    ...RULES,
    strategy: scripted({ 9: { act: 'sideways' } }, { id: 'birch' }),
  })
  const strategies = [broken, liveStrategy(RULES)]
  const refused = runOn({ strategies, feed: w => feedOf(w, bars) })
  await expect(refused).rejects.toThrow('strategy birch: at the bar of 2020-01-02T12:00:00Z')
  expect((await logged(redis)).map(({ alias }) => alias)).toEqual(['alder', 'alder'])
})

test('a live market waits for a Redis that is away; what grew old meanwhile is late', async () => {
  const own = await ownRedis()
  const there = await own.connect()
  let isDead = false
  const change = (world: MarketWorld): MarketWorld =>
    Object.assign(world, {
      redis: there,
      pause: async () => {
        Object.assign(world, { nowMs: world.now() + 300_000 })
        if (!isDead) return
        isDead = false
        const isBack = new Promise(resolve => there.once('ready', resolve))
        await own.restart()
        await isBack
      },
    })
  await runOn({ feed: w => feedOf(w, []), change })
  await orderMode(there, 'alder', 'LIVE', ORDERED)
  const feed = (w: { nowMs: number }): Feed => ({
    ...feedOf(w, []),
    async *bars(stop) {
      yield* feedOf(w, bars.slice(0, 2)).bars(stop)
      await own.kill()
      isDead = true
      yield* feedOf(w, bars.slice(2)).bars(stop)
    },
  })
  const world = await runOn({ feed, change })
  expect(world.notes[0]).toMatch(/^Redis does not answer: .*; waiting for it$/)
  expect(world.notes).toContain('Redis answers again')
  expect(await gists(there)).toEqual(['long DRY_RUN', 'flat DRY_RUN'])
})

test('the bar store cuts off the half line that a crash left, and keeps the rest', async () => {
  const path = join(folder, 'a/b.csv')
  const store = await openBarStore(path, newReader)
  await store.append(one!)
  await store.close()
  await appendFile(path, '2020-01-02T12:00')
  const again = await openBarStore(path, newReader)
  expect(again.bars).toEqual([one])
  await again.append(two!)
  await again.append(two!)
  await again.close()
  const last = await openBarStore(path, newReader)
  expect(last.bars).toEqual([one, two])
  await last.close()
})

test('the bar store skips a bar that was written again by a runner that had stood still while another went on', async () => {
  const path = join(folder, 'twice.csv')
  const late = await openBarStore(path, newReader)
  await late.append(one!)
  const other = await openBarStore(path, newReader)
  await other.append(two!)
  await late.append({ ...two!, c: two!.o })
  await late.close()
  await other.close()
  const last = await openBarStore(path, newReader)
  expect(last.bars).toEqual([one, two])
  await last.close()
})

test('the bar store refuses a file that holds anything else, naming the line', async () => {
  const path = join(folder, 'b.csv')
  await writeFile(path, 't,o,h,l,c,v\n2020-01-02T12:00:00Z,1,1,1,1,\n2020-01-02T08:00:00Z,1,1,1,1,\n')
  await expect(openBarStore(path, newReader)).rejects.toThrow('b.csv:3: expected a bar later than')
  await writeFile(path, 't,o,h,l,c,v\n2020-01-02T12:00:00Z,1,1,2,1,\n')
  await expect(openBarStore(path, newReader)).rejects.toThrow('b.csv:2: h: expected a high')
})

test('the bar store wins over the book where they differ, and the difference is known', () => {
  const stored = { ...one!, c: 100.5, h: 101 }
  const known = createKnownBars(BARS, [stored])
  expect(known.at(one!.t)).toEqual(stored)
  expect(Array.from(known.columns().t)).toEqual(Array.from(BARS.t))
  expect(known.columns().c[FIRST]).toBe(100.5)
  expect(revisedBars(BARS, [stored, two!])).toEqual([stored])
})

const holder = (pid: number): Holder => ({ pid, host: 'here', started: '2026-11-21T00:00:00Z' })
const nobodyIsGone = () => false
const KEY = liveLeaseKey('BTC/4h')

/** Plays a scene, again if it was so slow that Redis may have ended a lease meanwhile. It gives what happened and checks nothing. */
async function withinLease<Seen>(scene: () => Promise<Seen>): Promise<Seen> {
  for (;;) {
    const beganMs = performance.now()
    const seen = await scene()
    if (performance.now() - beganMs < RENEW_MS) return seen
    await redis.flushall()
  }
}

test('the lease of a market is held by one runner at a time, with its name and since when', async () => {
  const outcomes = await withinLease(async () => {
    const first = await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
    const others = await Promise.allSettled([
      takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone),
      takeLease(redis, 'ETH/4h', holder(2), nobodyIsGone),
    ])
    await first.release()
    return [...others, ...(await Promise.allSettled([takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone)]))]
  })
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(String(outcomes.flatMap(outcome => ('reason' in outcome ? outcome.reason : [])))).toContain(
    'another runner follows BTC/4h: process 1 on here, since 2026-11-21T00:00:00Z',
  )
})

test('the lease of a market expires, also after the clock was set back, and is renewed by its holder alone', async () => {
  const { taken, renewed, late, left } = await withinLease(async () => {
    const lease = await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
    const taken = await redis.pttl(KEY)
    await redis.pexpire(KEY, RENEW_MS)
    const [late] = await Promise.allSettled([lease.renew()])
    const renewed = await redis.pttl(KEY)
    await redis.pexpire(KEY, 3_600_000) // the clock was set back
    await takeLease(redis, 'BTC/4h', holder(2), nobodyIsGone)
    const [refused] = await Promise.allSettled([lease.renew()])
    await lease.release()
    return { taken, renewed, late: [late, refused], left: await redis.exists(KEY) }
  })
  for (const ms of [taken, renewed]) {
    expect(ms).toBeLessThanOrEqual(LEASE_MS)
    expect(ms).toBeGreaterThan(RENEW_MS)
  }
  expect(late).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { message: expect.stringContaining('process 2 on here') } },
  ])
  expect(left).toBe(1)
})

test('the lease of a market of a process that has ended is taken over at once, by one of many', async () => {
  const isGone = ({ pid }: Holder) => pid === 1
  const outcomes = await withinLease(async () => {
    await takeLease(redis, 'BTC/4h', holder(1), nobodyIsGone)
    return Promise.allSettled([2, 3, 4, 5].map(pid => takeLease(redis, 'BTC/4h', holder(pid), isGone)))
  })
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
