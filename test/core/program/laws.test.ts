import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderDeploys } from '#core/dataset/resources/program/records.ts'
import { dca } from '#core/program/benchmarks.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import type { Tier } from '#core/program/program.ts'
import { dipAppetite, trailingMean } from '#core/program/rules.ts'
import { averageCost, simulate } from '#core/program/simulate.ts'
import { forAll } from '#test/support/for-all.ts'
import { ALWAYS, arbitraryProgram, barsOf, CORE_ONLY, DIPS, firstBars, planOf } from './programs.ts'

const RUNS = 60

test('a program of the core tier alone costs exactly what dca costs, and while it is paused buys nothing', () => {
  forAll(RUNS, arbitraryProgram, ({ plan, bars, cadence }) => {
    const data = prepareProgram({ ...plan, tiers: CORE_ONLY, paused: [] }, bars)
    expect(averageCost(simulate(data, cadence).totals)).toBe(dca(data, cadence))
    const paused = [{ from: plan.window.from, to: null }]
    expect(
      simulate(prepareProgram({ ...plan, tiers: CORE_ONLY, paused }, bars), cadence).deployments,
    ).toEqual([])
  })
})

test('no tier of a program spends more than it received or receives more than its share, and the sums are complete', () => {
  forAll(RUNS, arbitraryProgram, ({ plan, bars, cadence }) => {
    const data = prepareProgram(plan, bars)
    const { tiers, totals } = simulate(data, cadence)
    for (const { weight, contributed, deployed, reserve } of tiers) {
      expect(deployed).toBeLessThanOrEqual(contributed)
      expect(contributed).toBeLessThanOrEqual(weight)
      expect(reserve).toBeGreaterThanOrEqual(0)
      expect(deployed + reserve).toBeCloseTo(contributed, 12)
    }
    expect(totals.deployed).toBeLessThanOrEqual(totals.contributed)
    expect(totals.contributed).toBeLessThanOrEqual(1 + 1e-12)
    const happened = data.bars.t.length - data.first
    const share = Math.ceil(happened / cadence) / Math.ceil(data.bars_planned / cadence)
    expect(totals.contributed).toBeCloseTo(share, 12)
  })
})

test('an added bar changes no byte of earlier deployments of a program', () => {
  forAll(RUNS, arbitraryProgram, fc.double({ min: 0, max: 1, noNaN: true }), ({ plan, bars }, part) => {
    const all = renderDeploys(prepareProgram(plan, bars))
    const before = renderDeploys(prepareProgram(plan, firstBars(bars, Math.ceil(bars.t.length * part))))
    expect(JSON.stringify(all.slice(0, before.length))).toBe(JSON.stringify(before))
  })
})

/** What the default rule for dips spends at each of these closes. */
const dips = (...closes: readonly number[]) => [
  ...dipAppetite(DIPS as Extract<typeof DIPS, { kind: 'dips' }>, {
    closes: Float64Array.from(closes),
    first: 0,
    bars_per_day: 1,
    paused: new Uint8Array(closes.length),
  }),
]

test.each([
  ['spends at a close exactly on a step', [100, 80.01, 80, 79, 66, 65], [0, 0, 0.25, 0, 0, 0.5]],
  ['resets at a new high alone', [100, 80, 100, 80, 100.5, 80, 100.5], [0, 0.25, 0, 0, 0, 0.25, 0]],
])('the dips rule of a program %s', (_, closes, spent) => {
  expect(dips(...closes)).toEqual(spent)
})

test('the trailing mean of equal prices is exactly that price, whatever the history before', () => {
  const values = Float64Array.from({ length: 5000 }, (_, i) => (i < 4000 ? 10 ** (i % 9) + 0.1 : 1234.56))
  expect(
    trailingMean(values, 200)
      .subarray(4200)
      .every(mean => Math.abs(mean - 1234.56) < 1e-12),
  ).toBe(true)
})

const spends = (weight: number) => {
  const other: Tier = { tier: 'core', weight: 1 - weight, rule: ALWAYS }
  const plan = planOf(10, { tiers: [other, { tier: 'cyclical', weight, rule: ALWAYS }] })
  const { deployments } = simulate(prepareProgram(plan, barsOf([4, 5, 6, 7])), 1)
  return deployments.filter(({ tier }) => tier === 'cyclical').map(({ bar, spend }) => [bar, spend])
}

test('a spend below a millionth of the equity is made once its cash suffices, and one of a millionth and more at once', () => {
  const share = 6e-7
  expect(spends(share * 10)).toEqual([
    [1, expect.closeTo(2 * share, 15)],
    [3, expect.closeTo(2 * share, 15)],
  ])
  expect(spends(1.01e-5).map(([bar]) => bar)).toEqual([0, 1, 2, 3])
})
