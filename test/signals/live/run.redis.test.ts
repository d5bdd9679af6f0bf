// The runner on a real Redis: killed anywhere, run again, late, halted, going live; nothing twice and nothing lost.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { Bar, Strategy } from '#core/replay/strategy.ts'
import { createKnownBars } from '#signals/live/bars.ts'
import {
  halt,
  isMissed,
  noteDivergence,
  orderMode,
  readStanding,
  readStatus,
  resume,
  type Standing,
} from '#signals/live/live-record.ts'
import { begin, endLive, runBar } from '#signals/live/run-market.ts'
import { closeOf, type LiveStrategy } from '#signals/live/signals-of.ts'
import { assertClock, ClockError } from '#signals/redis/clock.ts'
import { EVERY_ALIAS, HEAD, liveKey } from '#signals/redis/keys.ts'
import { handBars, type Ohlc, scripted, still } from '../../core/replay/hand.ts'
import { beforeScripts, meddledWith, ORDERED } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { barsFrom, firstBars, gists, liveStrategy, logged, type Rules, testWorld } from './live-kit.ts'

useRedis()

const known = (rules: Rules, count: number) => createKnownBars(firstBars(rules.bars, count), [])

/** Runs bars as they close, each on time. */
async function runAll(
  strategy: LiveStrategy,
  from: Standing,
  bars: readonly Bar[],
  delayMs = 1_000,
): Promise<Standing> {
  const world = testWorld(redis)
  let standing = from
  for (const bar of bars) {
    world.nowMs = closeOf(bar, strategy) + delayMs
    standing = await runBar(world, strategy, standing, bar)
  }
  return standing
}

const ROWS: Ohlc[] = [...Array(20).fill(still(100)), [100, 100, 90, 99], ...Array(6).fill(still(99))]
const DECISIONS = {
  10: { act: 'long', stop: 96 },
  12: { act: 'flat', why: 'signal' },
  14: { act: 'short', stop: 104 },
  16: { act: 'long', stop: 95 },
  22: { act: 'short', stop: 110 },
  24: { act: 'flat', why: 'time' },
}
const RULES: Rules = { strategy: scripted(DECISIONS), bars: handBars(ROWS) }
const FIRST = 8

/** What the script comes to: the long of slot 16 is stopped out in slot 20. */
const ALL_LIVE = ['long', 'flat', 'short', 'flat', 'long', 'flat', 'short', 'flat'].map(act => `${act} LIVE`)

async function goLive(rules: Rules = RULES, first = FIRST) {
  const strategy = liveStrategy(rules)
  const standing = await begin(testWorld(redis), strategy, known(rules, first))
  await orderMode(redis, strategy.alias, 'LIVE', ORDERED)
  return { strategy, standing, bars: barsFrom(rules.bars, first) }
}

/** A connection that dies at its n-th command: before Redis has it, or after Redis has done it. */
function dyingRedis(dies: { readonly at: number; readonly isDone: boolean }): Redis {
  let count = 0
  return meddledWith(redis, async run => {
    const isHit = count++ === dies.at
    if (isHit && !dies.isDone) throw new Error('killed')
    const reply = await run()
    if (isHit) throw new Error('killed')
    return reply
  })
}

/** Puts Redis back to what it holds now, as often as it is called. */
async function savedRedis(): Promise<() => Promise<void>> {
  const keys = await redis.keys('*')
  const values = await Promise.all(keys.map(key => redis.dumpBuffer(key)))
  return async () => {
    await redis.flushall()
    await Promise.all(keys.map((key, i) => redis.restore(key, 0, values[i]!)))
  }
}

const stored = async () => ({ signals: await logged(redis), standing: await readStanding(redis, 'alder') })

test('a runner that is killed before or after any of its commands, and started again, fires everything once', async () => {
  const { strategy, bars, ...begun } = await goLive()
  let { standing } = begun
  let kills = 0
  for (const bar of bars) {
    const putBack = await savedRedis()
    const worldOf = (connection: Redis) => testWorld(connection, closeOf(bar, strategy) + 1_000)
    standing = await runBar(worldOf(redis), strategy, standing, bar)
    const expected = await stored() // and so the bars after it do what they would have done
    for (let at = 0, before = -1; kills > before; at++) {
      before = kills
      for (const isDone of [false, true]) {
        await putBack()
        for (const connection of [dyingRedis({ at, isDone }), redis]) {
          try {
            const found = (await readStanding(connection, 'alder'))!
            if (bar.t >= Number(found.cursor)) await runBar(worldOf(connection), strategy, found, bar)
          } catch (error) {
            expect(String(error)).toContain('killed')
            kills++
          }
        }
        expect(await stored(), `killed at ${at} of the bar of ${bar.t}, ${isDone}`).toEqual(expected)
      }
    }
  }
  expect(await gists(redis)).toEqual(ALL_LIVE)
  expect(kills).toBeGreaterThan(100)
})

test('a runner that runs a bar again, even a revised one, fires nothing and goes on from what was committed', async () => {
  const { strategy, standing, bars } = await goLive()
  const before = await runAll(strategy, standing, bars.slice(0, 2))
  const entered = await runAll(strategy, before, bars.slice(2, 3))
  const again = await runAll(strategy, before, [{ ...bars[2]!, o: 99, h: 120, l: 97, c: 98 }])
  expect(again).toEqual(entered)
  expect(await logged(redis)).toHaveLength(1)
  await runAll(strategy, again, bars.slice(3))
  expect(await gists(redis)).toEqual(ALL_LIVE)
})

test('a runner whose cursor was lost and is behind its log cannot fire a bar a second time', async () => {
  const { strategy, standing, bars } = await goLive()
  await runAll(strategy, standing, bars)
  const before = await logged(redis)
  await redis.hset(liveKey('alder'), 'cursor', standing.cursor)
  await runAll(strategy, standing, bars)
  expect(await logged(redis)).toEqual(before)
})

test('a runner stops with a sentence if Redis was wiped while it ran', async () => {
  const { strategy, standing, bars } = await goLive()
  const later = await runAll(strategy, standing, bars.slice(0, 4))
  await redis.flushall()
  await expect(runAll(strategy, later, bars.slice(4, 5))).rejects.toThrow('it was wiped or restored')
  expect(await redis.hget(HEAD, 'seq')).toBeNull()
})

test('a runner goes on from a checkpoint of a release that did not write the unit of its account', async () => {
  const { strategy, standing, bars } = await goLive()
  await runAll(strategy, standing, bars.slice(0, 4))
  const text = (await redis.hget(liveKey('alder'), 'checkpoint'))!
  expect(text).toContain('"unit":1,')
  await redis.hset(liveKey('alder'), 'checkpoint', text.replace('"unit":1,', ''))
  const read = await readStanding(redis, 'alder')
  expect(read?.state.unit).toBe(1)
  await runAll(strategy, read!, bars.slice(4))
  expect(await gists(redis)).toEqual(ALL_LIVE)
})

test('a runner refuses a checkpoint that is not what was written', async () => {
  await goLive()
  const text = (await redis.hget(liveKey('alder'), 'checkpoint'))!
  await redis.hset(liveKey('alder'), 'checkpoint', text.replace('"last_close":100', '"last_close":101'))
  await expect(readStanding(redis, 'alder')).rejects.toThrow(
    'its checkpoint in Redis is not what was written',
  )
  await redis.hset(liveKey('alder'), 'checkpoint', '{')
  await expect(readStanding(redis, 'alder')).rejects.toThrow('alder: its checkpoint in Redis is not one that')
})

test('a late entry is DRY_RUN and so is its flat; a flat of a LIVE one stays LIVE however late', async () => {
  const { strategy, standing, bars } = await goLive()
  const late = 300_001
  const entered = await runAll(strategy, standing, bars.slice(0, 3), late)
  const left = await runAll(strategy, entered, bars.slice(3, 5))
  const short = await runAll(strategy, left, bars.slice(5, 7), 300_000)
  await runAll(strategy, short, bars.slice(7, 9), late)
  expect(await gists(redis)).toEqual([
    'long DRY_RUN',
    'flat DRY_RUN',
    'short LIVE',
    'flat LIVE',
    'long DRY_RUN',
  ])
})

test('an entry is kept back by a halt of its alias or of all, and its flat with it; a flat goes out', async () => {
  const { strategy, standing, bars } = await goLive()
  await halt(redis, EVERY_ALIAS, ORDERED)
  const left = await runAll(strategy, standing, bars.slice(0, 5))
  expect(await logged(redis)).toEqual([])
  await resume(redis, EVERY_ALIAS, ORDERED)
  const short = await runAll(strategy, left, bars.slice(5, 7))
  await halt(redis, 'alder', ORDERED)
  expect(await readStatus(redis, 'alder', 0)).toMatchObject({ halted: true, mode: 'LIVE' })
  const stopped = await runAll(strategy, short, bars.slice(7, 13))
  await resume(redis, 'alder', ORDERED)
  await runAll(strategy, stopped, bars.slice(13))
  expect(await gists(redis)).toEqual(['short LIVE', 'flat LIVE', 'short LIVE', 'flat LIVE'])
})

test('an entry in flight when a halt is acknowledged does not go out; the flat of its bar does', async () => {
  const { strategy, standing, bars } = await goLive()
  const long = await runAll(strategy, standing, bars.slice(0, 3))
  const reversal = { ...RULES.strategy, onBar: scripted({ 11: { act: 'short', stop: 104 } }).onBar }
  const reversing = liveStrategy({ ...RULES, strategy: reversal })
  const meanwhile = beforeScripts(redis, () => halt(redis, EVERY_ALIAS, ORDERED))
  const world = testWorld(meanwhile, closeOf(bars[3]!, reversing) + 1_000)
  const next = await runBar(world, reversing, long, bars[3]!)
  expect(await gists(redis)).toEqual(['long LIVE', 'flat LIVE'])
  expect(next.announced).toBeNull()
  expect(await readStanding(redis, 'alder')).toEqual(next)
  expect(world.notes).toContain('alder: an entry is kept back, because it is halted')
})

test('an entry is DRY_RUN until the operator orders LIVE, and in a strategy whose catalogue does not allow it', async () => {
  const dry = liveStrategy({ ...RULES, catalogueMode: 'DRY_RUN' })
  const free = liveStrategy(RULES)
  const bars = barsFrom(RULES.bars, FIRST)
  const standing = await begin(testWorld(redis), free, known(RULES, FIRST))
  const first = await runAll(free, standing, bars.slice(0, 5))
  await orderMode(redis, 'alder', 'LIVE', ORDERED)
  const second = await runAll(dry, first, bars.slice(5, 7))
  await runAll(free, second, bars.slice(7))
  expect(await gists(redis)).toEqual([
    'long DRY_RUN',
    'flat DRY_RUN',
    'short DRY_RUN',
    'flat DRY_RUN',
    'long LIVE',
    'flat LIVE',
    'short LIVE',
    'flat LIVE',
  ])
  await expect(orderMode(redis, 'birch', 'LIVE', ORDERED)).rejects.toThrow('birch has never run')
})

test('a silent runner is behind from when an entry on its next bar would be late, and is missed if it is LIVE or announced a position', async () => {
  const { strategy, standing, bars } = await goLive()
  const statusAt = (left: Standing, ms: number) =>
    readStatus(redis, 'alder', Number(left.cursor) + strategy.timeframeMs + ms)
  expect(await statusAt(standing, 300_000)).toMatchObject({ behind_seconds: 0 })
  expect(await statusAt(standing, 300_001)).toMatchObject({ behind_seconds: 300, announced: null })
  expect(isMissed(await statusAt(standing, 300_000))).toBe(false)
  expect(isMissed(await statusAt(standing, 300_001))).toBe(true)
  await orderMode(redis, 'alder', 'DRY_RUN', ORDERED)
  expect(isMissed(await statusAt(standing, 300_001))).toBe(false)
  const left = await runAll(strategy, standing, bars.slice(0, 3))
  expect(left.announced?.action).toBe('long')
  expect(await statusAt(left, 300_001)).toMatchObject({ announced: 'long' })
  expect(isMissed(await statusAt(left, 300_001))).toBe(true)
})

test('going live emits nothing, and closes no position that was never announced', async () => {
  const { strategy, standing, bars } = await goLive(RULES, 18)
  expect(await logged(redis)).toEqual([])
  expect(standing.state.open?.position.side).toBe('long')
  expect((await readStatus(redis, 'alder', 0)).live_from).toBe(toIsoInstant(Number(standing.cursor)))
  await runAll(strategy, standing, bars)
  expect(await gists(redis)).toEqual(['short LIVE', 'flat LIVE'])
})

test('a strategy that the catalogue has ended sends a last flat for what it announced, is missed no more, and no runner of before goes on', async () => {
  const { strategy, standing, bars } = await goLive()
  const left = await runAll(strategy, standing, bars.slice(0, 3))
  await noteDivergence(redis, 'alder', 'it differs')
  const world = testWorld(redis)
  for (let start = 0; start < 2; start++) await endLive(world, 'alder')
  expect(world.notes).toEqual(['alder has ended: what was announced is closed'])
  expect(await gists(redis)).toEqual(['long LIVE', 'flat LIVE'])
  expect((await logged(redis))[1]).toMatchObject({ by: 'strategy', why: 'end', signal_price: 100 })
  const status = await readStatus(redis, 'alder', Number(left.cursor) + 9 * DAY_MS)
  expect(status).toMatchObject({ behind_seconds: 0, mode: 'DRY_RUN', announced: null, diverges: null })
  await expect(runAll(strategy, left, bars.slice(3))).rejects.toThrow('another runner replaced the strategy')
  await begin(world, strategy, known(RULES, 27)) // not ended any more: nothing is announced again
  expect(await gists(redis)).toHaveLength(2)
})

test('going live again with a new version closes what the old one announced, and is DRY_RUN again', async () => {
  const { strategy, standing, bars } = await goLive()
  await runAll(strategy, standing, bars.slice(0, 9))
  const newRules = { ...RULES, strategy: { ...RULES.strategy, version: '2' } satisfies Strategy<unknown> }
  const next = liveStrategy(newRules)
  const again = await begin(testWorld(redis), next, known(newRules, 18))
  expect(again).toMatchObject({ version: '2', announced: null })
  await runAll(next, again, barsFrom(newRules.bars, 18))
  expect((await gists(redis)).slice(4)).toEqual(['long LIVE', 'flat LIVE', 'short DRY_RUN', 'flat DRY_RUN'])
  expect((await logged(redis))[5]).toMatchObject({ by: 'strategy', why: 'end' })
  expect(await begin(testWorld(redis), next, known(newRules, 27))).toMatchObject({ version: '2' })
})

test('going live with a new version needs the bars up to where the old one stood', async () => {
  const { strategy, standing, bars } = await goLive()
  await runAll(strategy, standing, bars.slice(0, 9))
  const next = liveStrategy({ ...RULES, strategy: { ...RULES.strategy, version: '2' } })
  await expect(begin(testWorld(redis), next, known(RULES, 12))).rejects.toThrow('bring the bars up to there')
})

test('a clock that differs from that of Redis by more than two seconds refuses to fire', async () => {
  const [seconds] = await redis.time()
  const there = Number(seconds) * 1_000
  await expect(assertClock(redis, () => there)).resolves.toBeUndefined()
  await expect(assertClock(redis, () => there - 60_000)).rejects.toThrow(ClockError)
  await expect(assertClock(redis, () => there + 60_000)).rejects.toThrow('set the clocks by NTP')
  const { strategy, standing, bars } = await goLive()
  const world = { ...testWorld(redis), assertClock: () => assertClock(redis, () => there + 60_000) }
  await expect(runBar(world, strategy, standing, bars[0]!)).rejects.toThrow(ClockError)
  expect((await readStanding(redis, 'alder'))?.cursor).toBe(standing.cursor)
})
