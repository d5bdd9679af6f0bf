// Live against replay: silent where they agree, and a sentence for everything that does not.
import { expect, test } from 'vitest'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { Signal, SignalContent } from '#core/contract/signal.ts'
import { type Bars, barAt, endOfBars } from '#core/replay/bars.ts'
import { decisionHash } from '#core/replay/held.ts'
import { startReplay } from '#core/replay/replay.ts'
import { step } from '#core/replay/step.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { createKnownBars } from '#signals/live/bars.ts'
import { compareLive, readFired, readLivePast } from '#signals/live/compare.ts'
import { halt, orderMode, resume } from '#signals/live/live-record.ts'
import { begin, runBar } from '#signals/live/run-market.ts'
import { closeOf, signalId } from '#signals/live/signals-of.ts'
import { commit } from '#signals/log/commit.ts'
import { liveKey } from '#signals/redis/keys.ts'
import { FREE } from '../../core/replay/hand.ts'
import { REFERENCE } from '../../core/replay/strategies.ts'
import { syntheticBars } from '../../core/replay/synthetic-bars.ts'
import { ORDERED, signalContent } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { barsFrom, firstBars, liveStrategy, logged, reportsOf, testWorld } from './live-kit.ts'

useRedis()

const BARS = syntheticBars(900)
const FIRST = 600
const [, STRATEGY] = REFERENCE.find(([name]) => name === 'rsi-reversion')!
const ALIAS = STRATEGY.id

/** The states at the ends of the days of a replay. */
function daysOf(strategy: Strategy<unknown>, bars: Bars) {
  const { engine, state } = startReplay({ strategy, bars, funding: null, costs: FREE })
  const days = new Map<number, { openMs: number; hash: string }>()
  for (let i = 0; i < bars.t.length; i++) {
    step(engine, state, barAt(bars, i))
    days.set(Math.floor(bars.t[i]! / DAY_MS), { openMs: bars.t[i]!, hash: decisionHash(state) })
  }
  return [...days.values()]
}

async function compare(bars: Bars = BARS, strategy = STRATEGY, flat: Partial<Signal> = {}) {
  const past = await readLivePast(redis, ALIAS, strategy.version)
  if (past === null) return ['never ran']
  const read = (await readFired(redis, new Map([[ALIAS, past]]))).get(ALIAS)!
  const fired = [...read].map(([id, one]) => [id, one.action === 'flat' ? { ...one, ...flat } : one] as const)
  return compareLive(past, new Map(fired), {
    alias: ALIAS,
    timeframeMs: bars.timeframeMs,
    baseRisk: strategy.baseRisk,
    tickSize: FREE.tick_size,
    reports: reportsOf({ strategy, bars }),
    days: daysOf(strategy, bars),
    endMs: endOfBars(bars),
  })
}

/** Runs live over the bars after the first, halted and late now and then. */
async function live({ delays = false, tickSize = FREE.tick_size } = {}): Promise<void> {
  const strategy = { ...liveStrategy({ strategy: STRATEGY, bars: BARS }), tickSize }
  const world = testWorld(redis)
  let standing = await begin(world, strategy, createKnownBars(firstBars(BARS, FIRST), []))
  await orderMode(redis, ALIAS, 'LIVE', ORDERED)
  for (const [i, bar] of barsFrom(BARS, FIRST).entries()) {
    if (delays && i % 50 === 0) await halt(redis, ALIAS, ORDERED)
    if (delays && i % 50 === 20) await resume(redis, ALIAS, ORDERED)
    world.nowMs = closeOf(bar, strategy) + (delays && i % 40 > 25 ? 400_000 : 1_000)
    standing = await runBar(world, strategy, standing, bar)
  }
}

test('live and replay agree after any halt and any delay, whichever of them has more bars', async () => {
  await live({ delays: true })
  const modes = (await logged(redis)).map(({ mode }) => mode)
  expect(new Set(modes).size).toBe(2)
  expect(await compare()).toEqual([])
  expect(await compare(firstBars(BARS, 800))).toEqual([])
})

test('live and replay agree whatever an operator fired by hand, and whatever was fired as a test', async () => {
  await live()
  const [one] = await logged(redis)
  const { seq, schema_version, ...content } = one!
  const byHand: SignalContent = { ...content, signal_id: 'by-hand', by: 'operator:jane' }
  await commit(redis, [{ content: byHand, onlyFor: null }], 1)
  await commit(redis, [{ content: { ...byHand, signal_id: 't', is_test: true }, onlyFor: 'acme' }], 1)
  const closeMs = Date.parse(content.timestamp) + 60_000 // no bar closes then, though the id is one as the runner has them
  const posing = {
    ...byHand,
    timestamp: toIsoInstant(closeMs),
    signal_id: signalId(ALIAS, closeMs, content.action),
  }
  await commit(redis, [{ content: posing, onlyFor: null }], 1)
  expect(await compare()).toEqual([])
})

test('live and replay differ if a bar was revised after it was traded on, and the sentence names it', async () => {
  await live()
  const first = (await logged(redis)).find(({ action }) => action !== 'flat')!
  const i = BARS.t.indexOf(Date.parse(first.timestamp) - BARS.timeframeMs)
  const faults = await compare({ ...BARS, c: BARS.c.with(i, (BARS.c[i]! + BARS.l[i]!) / 2) })
  expect(faults[0]).toContain(`${ALIAS}, bar that closed at ${first.timestamp}: stored is ${first.action} at`)
  expect(faults.at(-1)).toContain('stored is the state')
  const [ofLastDay] = await compare({ ...BARS, c: BARS.c.with(-1, BARS.l.at(-1)!) })
  expect(ofLastDay).toContain('stored is the state')
})

test('live and replay agree on signals of an earlier release, which did not round prices to the tick and gave no cause', async () => {
  await live({ tickSize: 0 })
  expect((await logged(redis)).some(({ stop }) => !Number.isInteger(stop))).toBe(true)
  expect(await compare(BARS, STRATEGY, { by: undefined, why: undefined })).toEqual([])
})

test('live and replay differ if a signal is stored that no replay gives, if one is not, and if the cause of a flat is another', async () => {
  await live()
  const other = { ...STRATEGY, onBar: () => null }
  const stored = (await logged(redis)).length
  const faults = await compare(BARS, other)
  expect(faults.filter(fault => fault.endsWith('the replay has nothing'))).toHaveLength(stored)
  const [cause] = await compare(BARS, STRATEGY, { why: 'operator' })
  expect(cause).toMatch(/stored is flat \(operator\) at .* the replay has flat \((?:stop|signal|time)\) at/)
  const eager = { ...STRATEGY, onBar: STRATEGY.onBar }
  await redis.hset(liveKey(ALIAS), 'live_from', String(BARS.t[FIRST - 200]!))
  expect((await compare(BARS, eager)).some(fault => fault.includes('stored is nothing'))).toBe(true)
})

test('live and replay of many strategies are compared by one reading of the log, each with its own signals of its own time', async () => {
  const closeMs = Date.parse('2026-11-21T00:00:00Z')
  const past = { version: '1', fromMs: closeMs - 1, cursorMs: closeMs, record: {} }
  const idOf = (alias: string) => signalId(alias, closeMs, 'long')
  for (const alias of ['oak', 'elm', 'ash'])
    await commit(redis, [{ content: signalContent(idOf(alias), { alias }), onlyFor: null }], 1)
  const readSince = async (elmFromMs: number) => {
    const pasts = { oak: past, elm: { ...past, fromMs: elmFromMs }, fir: past }
    const fired = await readFired(redis, new Map(Object.entries(pasts)))
    return Object.fromEntries([...fired].map(([alias, found]) => [alias, [...found.keys()]]))
  }
  await redis.config('RESETSTAT')
  expect(await readSince(closeMs - 1)).toEqual({ oak: [idOf('oak')], elm: [idOf('elm')], fir: [] })
  expect(await redis.info('commandstats')).toMatch(/^cmdstat_xrange:calls=1,/m)
  expect(await readSince(closeMs)).toEqual({ oak: [idOf('oak')], elm: [], fir: [] })
})

test('live and replay are not compared for a strategy that never ran, or not in this version', async () => {
  expect(await compare()).toEqual(['never ran'])
  await live()
  expect(await readLivePast(redis, ALIAS, '2')).toBeNull()
})
