// A live strategy in the process of the test, and a world with a clock that the test sets.
import type { Redis } from 'ioredis'
import { DAY_MS } from '#core/calendar.ts'
import type { Mode, Signal } from '#core/contract/signal.ts'
import { type Bars, barAt, sliceBars } from '#core/replay/bars.ts'
import { createEngine } from '#core/replay/engine.ts'
import { heldAfter, type StepReport } from '#core/replay/held.ts'
import { startReplay } from '#core/replay/replay.ts'
import { step } from '#core/replay/step.ts'
import type { Bar, Strategy } from '#core/replay/strategy.ts'
import type { Costs } from '#core/replay/trade.ts'
import type { LiveWorld } from '#signals/live/run-market.ts'
import type { LiveStrategy } from '#signals/live/signals-of.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { FREE } from '../../core/replay/hand.ts'

export type Rules = {
  readonly strategy: Strategy<unknown>
  /** The whole history: it says where orders begin. */
  readonly bars: Bars
  readonly costs?: Costs
  readonly catalogueMode?: Mode
}

export function liveStrategy({ strategy, bars, costs = FREE, catalogueMode = 'LIVE' }: Rules): LiveStrategy {
  const { from } = startReplay({ strategy, bars, funding: null, costs })
  const engine = createEngine({ strategy, costs, funding: null, ordersFromMs: from * DAY_MS })
  return {
    alias: strategy.id,
    version: strategy.version,
    timeframeMs: strategy.timeframeMs,
    baseRisk: strategy.baseRisk,
    tickSize: costs.tick_size,
    catalogueMode,
    replay: async known => {
      const { state } = startReplay({ strategy, bars: known, funding: null, costs })
      for (let i = 0; i < known.t.length; i++) step(engine, state, barAt(known, i))
      return structuredClone(state)
    },
    step: async (before, bar) => {
      const state: typeof before = JSON.parse(JSON.stringify(before)) // what a checkpoint does to it
      const held = heldAfter(state)
      return { report: { bar, before: held, events: step(engine, state, bar) }, state }
    },
  }
}

/** The reports of a replay at once. */
export function reportsOf({ strategy, bars, costs = FREE }: Rules): StepReport[] {
  const { engine, state } = startReplay({ strategy, bars, funding: null, costs })
  return Array.from({ length: bars.t.length }, (_, i) => {
    const bar = barAt(bars, i)
    const before = heldAfter(state)
    return { bar, before, events: step(engine, state, bar) }
  })
}

export const firstBars = (bars: Bars, count: number): Bars => sliceBars(bars, 0, count)

export const barsFrom = (bars: Bars, from: number): Bar[] =>
  Array.from({ length: bars.t.length - from }, (_, i) => barAt(bars, from + i))

type TestWorld = LiveWorld & { nowMs: number; readonly notes: string[] }

/** A world whose clock stands where the test puts it. */
export function testWorld(redis: Redis, nowMs = 0): TestWorld {
  const notes: string[] = []
  const world: TestWorld = {
    redis,
    nowMs,
    notes,
    now: () => world.nowMs,
    assertClock: () => Promise.resolve(),
    note: line => notes.push(line),
  }
  return world
}

/** The signals in the log, in order. */
export async function logged(redis: Redis): Promise<Signal[]> {
  const signals: Signal[] = []
  for (;;) {
    const block = await readAfter(redis, signals.at(-1)?.seq ?? 0, 1_000)
    if (block.length === 0) return signals
    signals.push(...block.map(({ body }): Signal => JSON.parse(body)))
  }
}

/** The same as `long LIVE`. */
export const gists = async (redis: Redis): Promise<string[]> =>
  (await logged(redis)).map(({ action, mode }) => `${action} ${mode}`)
