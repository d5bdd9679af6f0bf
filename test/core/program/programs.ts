// Programs for tests: the plan of the defaults, bars by hand, and random ones of both.
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY_MS } from '#core/calendar.ts'
import type { ProgramPlan, Tier, TierRule } from '#core/program/program.ts'
import { type Bars, sliceBars } from '#core/replay/bars.ts'
import { sharedData } from '../../support/shared-data.ts'
import { readBars } from '../replay/real-bars.ts'

/** Day 0 of the bars of these tests. */
export const DAY_0 = 17_000

export const ALWAYS: TierRule = { kind: 'always' }

const MAYER: TierRule = {
  kind: 'mayer',
  mean_days: 200,
  bands: [
    { below: 0.8, spend: 1 },
    { below: 1, spend: 0.5 },
    { below: 1.2, spend: 0.25 },
  ],
}

export const DIPS: TierRule = {
  kind: 'dips',
  steps: [
    { drawdown: 0.2, spend: 0.25 },
    { drawdown: 0.35, spend: 0.5 },
    { drawdown: 0.5, spend: 0.75 },
    { drawdown: 0.65, spend: 1 },
  ],
}

export const CORE_ONLY: readonly Tier[] = [{ tier: 'core', weight: 1, rule: ALWAYS }]

/** The default tiers on a window of `days`, a contribution a week, 15 basis points of costs. */
export const planOf = (days: number, changed: Partial<ProgramPlan> = {}): ProgramPlan => ({
  alias: 'accumulation',
  instrument: 'BTCUSDT',
  timeframe: '1d',
  window: { from: DAY_0, to: DAY_0 + days - 1 },
  tiers: [
    { tier: 'core', weight: 0.5, rule: ALWAYS },
    { tier: 'cyclical', weight: 0.3, rule: MAYER },
    { tier: 'tactical', weight: 0.2, rule: DIPS },
  ],
  contribution_cadence_bars: 7,
  costs: { fee_bps: 10, slippage_bps: 5 },
  reference_equity_usd: 100_000,
  paused: [],
  tv_status: 'provisional',
  ...changed,
})

/** Bars with these closes from day 0 on, wicks of a tenth around them, volumes of 1, 2, 3, 1, ... */
export function barsOf(closes: readonly number[], timeframeMs = DAY_MS): Bars {
  const c = Float64Array.from(closes)
  return {
    timeframeMs,
    t: Float64Array.from(closes, (_, i) => DAY_0 * DAY_MS + i * timeframeMs),
    o: c.slice(),
    h: c.map(close => close * 1.1),
    l: c.map(close => close * 0.9),
    c,
    v: Float64Array.from(closes, (_, i) => 1 + (i % 3)),
  }
}

/** 300 days, and plans whose window begins and ends on such a day. */
export const DAYS = barsOf(Array.from({ length: 300 }, (_, i) => 100 + (i % 7)))
export const windowFrom = (day: number, to: number): Partial<ProgramPlan> => ({
  window: { from: DAY_0 + day, to: DAY_0 + to },
})
export const LAST_30 = planOf(1, windowFrom(270, 320))

export const firstBars = (bars: Bars, count: number): Bars => sliceBars(bars, 0, count)

// Quarters of a dollar, so that sums of closes are exact in any order, and a close on a band is on it for everybody.
const closes = fc
  .array(
    fc.oneof({ arbitrary: fc.integer({ min: -6, max: 6 }), weight: 8 }, fc.integer({ min: -45, max: 60 })),
    { minLength: 12, maxLength: 160, size: 'max' },
  )
  .map(moves => {
    let close = 400
    return moves.map(move => {
      close = Math.max(4, Math.round(close * (1 + move / 100) * 4) / 4)
      return close
    })
  })

const mayer = fc
  .integer({ min: 1, max: 12 })
  .map((mean_days): TierRule => ({ ...(MAYER as MayerRule), mean_days }))
type MayerRule = Extract<TierRule, { kind: 'mayer' }>

const tiers = fc
  .record({
    core: fc.integer({ min: 1, max: 10 }),
    cyclical: fc.integer({ min: 1, max: 10 }),
    tactical: fc.integer({ min: 1, max: 10 }),
    rule: mayer,
  })
  .map(({ core, cyclical, tactical, rule }): readonly Tier[] => {
    const all = core + cyclical + tactical
    return [
      { tier: 'core', weight: core / all, rule: ALWAYS },
      { tier: 'cyclical', weight: cyclical / all, rule },
      { tier: 'tactical', weight: tactical / all, rule: DIPS },
    ]
  })

const pauses = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 60 }), fc.option(fc.integer({ min: 0, max: 20 }))),
  { maxLength: 2 },
)

export type Program = { readonly plan: ProgramPlan; readonly bars: Bars; readonly cadence: number }

/** A program that has begun: bars of a day or of eight hours, a window that may have ended, is on, or has long to go. */
export const arbitraryProgram: fc.Arbitrary<Program> = fc
  .record({
    closes,
    tiers,
    hours: fc.constantFrom(24, 24, 8),
    start: fc.integer({ min: 0, max: 999 }),
    length: fc.integer({ min: 1, max: 200 }),
    cadence: fc.constantFrom(1, 2, 3, 5, 7, 10, 400),
    fee_bps: fc.integer({ min: 0, max: 300 }),
    pauses,
  })
  .map(({ closes, tiers, hours, start, length, cadence, fee_bps, pauses }) => {
    const bars = barsOf(closes, hours * 3_600_000)
    const from = DAY_0 + (start % Math.max(1, Math.floor((closes.length * hours) / 24) - 1))
    const paused = pauses.map(([after, days]) => ({
      from: from + after,
      to: days === null ? null : from + after + days,
    }))
    const plan = {
      window: { from, to: from + length - 1 },
      costs: { fee_bps, slippage_bps: 5 },
      tiers,
      paused,
    }
    return { bars, cadence, plan: planOf(1, { ...plan, contribution_cadence_bars: cadence }) }
  })

/** The real spot market's daily bars, or null on a machine without the shared data. */
export const realDays: Bars | null =
  sharedData === null ? null : readBars(join(sharedData, 'bars/binance-spot_BTCUSDT_1d.csv.gz'), DAY_MS)
