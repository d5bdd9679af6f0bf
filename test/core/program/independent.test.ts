import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import { benchmarks, cheapestQuartileShare } from '#core/program/benchmarks.ts'
import { prepareProgram, rollingFigures } from '#core/program/prepare-program.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { averageCost, simulate } from '#core/program/simulate.ts'
import { type Bars, sliceBars } from '#core/replay/bars.ts'
import { rollByHand, runByHand } from './independent.ts'
import { arbitraryProgram, barsOf, planOf } from './programs.ts'
import { realDays } from './real-days.ts'

const EQUITY = 25_000

/** Every figure of the product and of the loops by hand, in the same shape. */
function bothWays(plan: ProgramPlan, bars: Bars, cadence: number) {
  const data = prepareProgram(plan, bars)
  const simulation = simulate(data, cadence)
  const hand = runByHand(plan, bars, EQUITY, cadence)
  return {
    ours: {
      ...benchmarks(data, cadence),
      average: averageCost(simulation.totals),
      quartile: cheapestQuartileShare(data, simulation.deployments),
      accounts: simulation.tiers.map(({ contributed, deployed, reserve, btc }) =>
        [contributed, deployed, reserve, btc].map(part => part * EQUITY),
      ),
      bought: simulation.deployments.map(({ bar, spend, btc }) => [bar, spend * EQUITY, btc * EQUITY]),
      buyers: simulation.deployments.map(({ tier }) => tier),
    },
    hand: {
      ...hand,
      accounts: hand.accounts.map(({ contributed, spent, cash, btc }) => [contributed, spent, cash, btc]),
      bought: hand.bought.map(({ bar, usd, btc }) => [bar, usd, btc]),
      buyers: hand.bought.map(({ tier }) => tier),
    },
  }
}

/** Whether all numbers agree to 1e-9 of themselves, and everything else exactly. */
function expectAgreement({ ours, hand }: ReturnType<typeof bothWays>) {
  expect(flat(ours).map(([path]) => path)).toEqual(flat(hand).map(([path]) => path))
  const expected = new Map(flat(hand))
  for (const [path, value] of flat(ours)) {
    const other = expected.get(path)
    if (typeof value !== 'number' || typeof other !== 'number') expect([path, value]).toEqual([path, other])
    else if (Math.abs(value - other) > 1e-9 * Math.max(1e-3, Math.abs(other)))
      expect([path, value]).toEqual([path, other])
  }
}

const flat = (value: unknown, path = ''): [string, unknown][] =>
  typeof value === 'object' && value !== null
    ? Object.keys(value)
        .sort()
        .flatMap(key => flat(Reflect.get(value, key), `${path}.${key}`))
    : [[path, value]]

describe('an independent computation from the definitions', () => {
  test('agrees on every figure of random programs', () => {
    fc.assert(
      fc.property(arbitraryProgram, ({ plan, bars, cadence }) => {
        expectAgreement(bothWays(plan, bars, cadence))
      }),
      { numRuns: 80 },
    )
  })

  test.each([
    ['days', 588, DAY_MS],
    ['half days', 2 * 588, DAY_MS / 2],
  ])('agrees on the rolling years of bars of %s', (_, bars, timeframeMs) => {
    const closes = Array.from(
      { length: bars },
      (_, i) => Math.round(400 * (2 + Math.sin(i / 37) + Math.sin(i / 5) / 3)) / 4,
    )
    const plan = planOf(30, { paused: [{ from: 0, to: null }] })
    const hand = rollByHand(plan, barsOf(closes, timeframeMs))
    const rolling = rollingFigures(plan, barsOf(closes, timeframeMs))
    expect(hand.windows).toBe(24)
    expect(rolling?.windows).toBe(hand.windows)
    expect(rolling?.win_rate).toBeCloseTo(hand.wins / hand.windows, 12)
    expect(rolling?.median_cheaper).toBeCloseTo(hand.median, 9)
    expect(hand.wins).toBeGreaterThan(0)
  })
})

const skip = realDays === null ? 'skipped: no real bars on this machine' : ''

describe.skipIf(realDays === null)(`on real bars ${skip}`, () => {
  const window = (from: string, to: string) => ({ from: parseIsoDate(from)!, to: parseIsoDate(to)! })

  test.each([
    ['2019-01-01', '2028-12-31', 7],
    // The history begins here, so there is no warm-up.
    ['2017-08-17', '2019-12-31', 1],
  ])('it agrees on the window %s to %s, a contribution every %i days', (from, to, cadence) => {
    const paused = [window('2020-03-01', '2020-04-15')]
    expectAgreement(bothWays(planOf(1, { window: window(from, to), paused }), realDays!, cadence))
  })

  test('it agrees on rolling years', () => {
    const days = sliceBars(realDays!, 900, 1480)
    const hand = rollByHand(planOf(1), days)
    const rolling = rollingFigures(planOf(1), days)
    expect(rolling?.windows).toBe(hand.windows)
    expect(rolling?.win_rate).toBeCloseTo(hand.wins / hand.windows, 12)
    expect(rolling?.median_cheaper).toBeCloseTo(hand.median, 9)
  })
})
