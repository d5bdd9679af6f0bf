import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { moneyWeightedReturn } from '#core/dataset/resources/program/records.ts'
import { benchmarks } from '#core/program/benchmarks.ts'
import { prepareProgram, rollingFigures } from '#core/program/prepare-program.ts'
import {
  deploymentState,
  type ProgramData,
  type ProgramPlan,
  parseProgramDataFile,
  toProgramDataFile,
} from '#core/program/program.ts'
import { simulate } from '#core/program/simulate.ts'
import type { Bars } from '#core/replay/bars.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { forAll } from '#test/support/for-all.ts'
import {
  ALWAYS,
  arbitraryProgram,
  barsOf,
  CORE_ONLY,
  DAY_0,
  DAYS,
  DIPS,
  firstBars,
  LAST_30,
  planOf,
  windowFrom,
} from './programs.ts'

const HALVES = barsOf(Array<number>(900).fill(5), DAY_MS / 2)
const LONG_MEAN = { kind: 'mayer', mean_days: 250, bands: [{ below: 1, spend: 1 }] } as const
const OF_MEAN = {
  ...windowFrom(270, 280),
  tiers: [{ tier: 'cyclical', weight: 1, rule: LONG_MEAN }],
} as const

test.each(casesOf<[string, Partial<ProgramPlan>, Bars, object]>`
200 days before its window, and those of its past part -> ${windowFrom(250, 280)} -> ${DAYS} -> ${{ first: 200, length: 231, bars_planned: 31 }}
fewer days if the history is shorter -> ${windowFrom(10, 320)} -> ${DAYS} -> ${{ first: 10 }}
200 days at any timeframe -> ${windowFrom(300, 301)} -> ${HALVES} -> ${{ first: 400, bars_planned: 4 }}
as many days as the longest mean has -> ${OF_MEAN} -> ${DAYS} -> ${{ first: 250 }}`)(
  'a program has the bars of %s',
  (_, plan, market, expected) => {
    const { bars, first, bars_planned } = prepareProgram(planOf(1, plan), market)
    expect({ first, length: bars.t.length, bars_planned }).toMatchObject(expected)
    expect(bars.t[first]).toBe(plan.window!.from * DAY_MS)
  },
)

test('a program has no rolling figures if the history is too short for one window', () => {
  const bars = barsOf(Array.from({ length: 565 }, (_, i) => 100 + (i % 7)))
  expect(prepareProgram(LAST_30, firstBars(bars, 564)).rolling).toBeNull()
  expect(prepareProgram(LAST_30, bars).rolling?.windows).toBe(1)
})

const on = (count: number, changed: Partial<ProgramPlan> = {}) =>
  deploymentState(prepareProgram(planOf(1, { ...windowFrom(270, 280), ...changed }), firstBars(DAYS, count)))

test('the state of a program goes from the first close of its window to the last', () => {
  const states = [0, 270, 271, 280, 281, 300].map(count => on(count))
  expect(states.join()).toBe('not_started,not_started,accumulating,accumulating,complete,complete')
})

test('a program is paused while the newest bar is in a paused span, whose two days belong to it', () => {
  const states = (to: number | null, counts: readonly number[]) =>
    counts.map(count => on(count, { paused: [{ from: DAY_0 + 273, to }] })).join()
  expect(states(DAY_0 + 274, [273, 274, 275, 276])).toBe('accumulating,paused,paused,accumulating')
  expect(states(null, [274, 280, 281])).toBe('paused,paused,complete')
})

test('a program that has not begun has spent nothing and is compared with nothing', () => {
  const data = prepareProgram(planOf(1, windowFrom(310, 320)), DAYS)
  expect(simulate(data, 7).totals).toEqual({ contributed: 0, deployed: 0, reserve: 0, btc: 0 })
  expect(benchmarks(data, 7)).toEqual({ dca: null, vwap: null, lump_sum: null, hodl: null })
})

test.each([0, -1, 1.5, Number.NaN])('a program with a cadence of %d bars is refused', cadence => {
  expect(() => simulate(prepareProgram(LAST_30, DAYS), cadence)).toThrow('a whole number of bars from 1 on')
})

test('a rolling program of tiers that all equal dca never wins by rounding, nor one that never buys', () => {
  const bars = barsOf(Array.from({ length: 600 }, (_, i) => 100.1 + (i % 13) / 7))
  const names = ['core', 'cyclical', 'tactical'] as const
  const tiers = names.map(tier => ({ tier, weight: 1 / 3, rule: ALWAYS }))
  const never = [{ tier: 'tactical', weight: 1, rule: DIPS }] as const // no close is a fifth below another
  for (const each of [tiers, never])
    expect(rollingFigures(planOf(1, { tiers: each }), bars)).toMatchObject({ win_rate: 0, median_cheaper: 0 })
  expect(rollingFigures(planOf(1, { tiers }), bars)?.windows).toBe(36)
})

const data = prepareProgram(planOf(1, windowFrom(10, 20)), DAYS)
const file: object = JSON.parse(JSON.stringify(toProgramDataFile(data)))

test('the data of a program is read back from JSON as it was', () => {
  expect(parseProgramDataFile(file)).toEqual(data)
  expect(data.mark?.at).toBe((DAY_0 + DAYS.t.length) * DAY_MS)
})

const rateOf = (data: ProgramData) =>
  moneyWeightedReturn(data, simulate(data, data.plan.contribution_cadence_bars).deployments)

/** A program that buys once, at the first close, and again after `cadence` bars. */
const bought = (closes: readonly number[], cadence: number): ProgramData => {
  const plan = planOf(closes.length, {
    tiers: CORE_ONLY,
    contribution_cadence_bars: cadence,
    costs: { fee_bps: 0, slippage_bps: 0 },
  })
  return prepareProgram(plan, barsOf(closes))
}

const flat = (days: number, price: number, last: number) => [...Array<number>(days).fill(price), last]

test('the money-weighted return of two purchases, a year and half a year old, solves its quadratic equation', () => {
  // x + x^2 = 2.6 with x = (1 + g)^(1 / 2): 200 days and 400 days, so that g = x^(365 / 200) - 1.
  const closes = flat(400, 100, 130)
  const x = (-1 + Math.sqrt(1 + 4 * 2.6)) / 2
  const twice = bought(closes, 200)
  const [first, second] = simulate(twice, 200).deployments
  expect([first?.bar, second?.bar]).toEqual([0, 200])
  expect(moneyWeightedReturn(twice, [first!, second!])).toBeCloseTo(x ** (365 / 200) - 1, 12)
})

test('the money-weighted return is null before a purchase, in its first month, and if the price is nothing beside it', () => {
  expect(moneyWeightedReturn(bought(flat(60, 100, 100), 1000), [])).toBeNull()
  expect(rateOf(bought(flat(29, 100, 130), 1000))).toBeNull()
  expect(rateOf(bought(flat(30, 100, 130), 1000))).not.toBeNull()
  expect(rateOf(bought(flat(30, 1e30, 1), 1000))).toBeNull()
})

test('the money-weighted return makes all purchases grow to the value of the BTC', () => {
  forAll(500, arbitraryProgram, ({ plan, bars: market }) => {
    const data = prepareProgram(plan, market)
    const { deployments } = simulate(data, data.plan.contribution_cadence_bars)
    const rate = moneyWeightedReturn(data, deployments)
    if (rate === null || rate < -0.9999) return // nearer to a total loss a rate has too few digits
    const { bars, first, mark } = data
    const grown = deployments.reduce((sum, { bar, spend }) => {
      const days = (mark!.at - bars.t[first + bar]! - bars.timeframeMs) / DAY_MS
      return sum + spend * (1 + rate) ** (days / 365)
    }, 0)
    const value = deployments.reduce((sum, { btc }) => sum + btc * mark!.price, 0)
    expect(grown / value).toBeCloseTo(1, 9)
  })
})
