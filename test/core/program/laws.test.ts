import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toEpochDay } from '#core/calendar.ts'
import { renderDeploys } from '#core/dataset/resources/program/deploys.ts'
import { appetite, dipAppetite, trailingMean } from '#core/program/appetite.ts'
import { benchmarks, dca } from '#core/program/benchmarks.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import { averageCost, simulate } from '#core/program/simulate.ts'
import { forAll } from '#test/support/for-all.ts'
import {
  ALWAYS,
  arbitraryProgram,
  barsOf,
  CORE_ONLY,
  DIPS,
  firstBars,
  MAYER,
  planOf,
  withCloses,
} from './programs.ts'

const RUNS = 60

/** Where a bar of the window stands among all bars of a prepared program. */
const indexOf = (first: number, bar: number) => first + bar

test('a program of the core tier alone without pauses costs exactly what dca costs', () => {
  forAll(RUNS, arbitraryProgram, ({ plan, bars, cadence }) => {
    const data = prepareProgram({ ...plan, tiers: CORE_ONLY, paused: [] }, bars)
    expect(averageCost(simulate(data, cadence).totals)).toBe(dca(data, cadence))
  })
})

test('dca is the harmonic mean of its closes over 1 - costs, never above their arithmetic mean before costs', () => {
  forAll(RUNS, arbitraryProgram, ({ plan, bars, cadence }) => {
    const free = prepareProgram({ ...plan, costs: { fee_bps: 0, slippage_bps: 0 } }, bars)
    const paid = [...free.bars.c.subarray(free.first)].filter((_, bar) => bar % cadence === 0)
    const mean = paid.reduce((sum, close) => sum + close, 0) / paid.length
    const harmonic = paid.length / paid.reduce((sum, close) => sum + 1 / close, 0)
    expect(dca(free, cadence)! / harmonic).toBeCloseTo(1, 12)
    expect(dca(free, cadence)!).toBeLessThanOrEqual(mean * (1 + 1e-12))
    const f = (plan.costs.fee_bps + plan.costs.slippage_bps) / 10_000
    expect(dca({ ...free, plan }, cadence)! / (harmonic / (1 - f))).toBeCloseTo(1, 12)
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

test('a cadence as long as the window, or longer, is one contribution at its first bar', () => {
  forAll(RUNS, arbitraryProgram, fc.integer({ min: 0, max: 500 }), ({ plan, bars }, longer) => {
    const data = prepareProgram({ ...plan, tiers: CORE_ONLY, paused: [] }, bars)
    const { totals, deployments } = simulate(data, data.bars_planned + longer)
    expect(deployments.map(({ bar, spend }) => [bar, spend])).toEqual([[0, 1]])
    expect(averageCost(totals)).toBe(dca(data, data.bars_planned))
    expect(averageCost(totals)! / benchmarks(data, 1).lump_sum!).toBeCloseTo(1, 12)
  })
})

test('an added bar changes no byte of earlier deployments of a program', () => {
  forAll(RUNS, arbitraryProgram, fc.double({ min: 0, max: 1, noNaN: true }), ({ plan, bars }, part) => {
    const all = renderDeploys(prepareProgram(plan, bars))
    const before = renderDeploys(prepareProgram(plan, firstBars(bars, Math.ceil(bars.t.length * part))))
    expect(JSON.stringify(all.slice(0, before.length))).toBe(JSON.stringify(before))
  })
})

test('no deployment of a program depends on a bar after its own', () => {
  forAll(
    RUNS,
    arbitraryProgram,
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(0.3, 0.9, 1.5, 4),
    ({ plan, bars, cadence }, part, factor) => {
      const cut = Math.floor(bars.t.length * part)
      const data = prepareProgram(plan, bars)
      const other = prepareProgram(
        plan,
        withCloses(bars, cut, close => close * factor),
      )
      const cutTime = bars.t[cut] ?? Number.POSITIVE_INFINITY
      const until = ({ bar }: { bar: number }) => data.bars.t[indexOf(data.first, bar)]! < cutTime
      expect(simulate(other, cadence).deployments.filter(until)).toEqual(
        simulate(data, cadence).deployments.filter(until),
      )
    },
  )
})

test('nothing is bought in a pause of a program, while contributions continue', () => {
  forAll(RUNS, arbitraryProgram, ({ plan, bars, cadence }) => {
    const data = prepareProgram(plan, bars)
    const { deployments, totals } = simulate(data, cadence)
    const unpaused = simulate({ ...data, plan: { ...plan, paused: [] } }, cadence)
    for (const { bar } of deployments) {
      const day = toEpochDay(data.bars.t[indexOf(data.first, bar)]!)
      expect(plan.paused.some(({ from, to }) => day >= from && day <= (to ?? day))).toBe(false)
    }
    expect(totals.contributed).toBe(unpaused.totals.contributed)
  })
})

test('deployments of a program are ordered by bar, then by tier, and each is at least a millionth of the equity', () => {
  const order = ['core', 'cyclical', 'tactical']
  forAll(RUNS, arbitraryProgram, ({ plan, bars, cadence }) => {
    const { deployments } = simulate(prepareProgram(plan, bars), cadence)
    const places = deployments.map(({ bar, tier }) => bar * order.length + order.indexOf(tier))
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
    for (const { spend } of deployments) expect(spend).toBeGreaterThanOrEqual(1e-6)
  })
})

type DipRule = Extract<typeof DIPS, { kind: 'dips' }>

const outlook = (closes: readonly number[], first = 0, pausedAt: readonly number[] = []) => ({
  closes: Float64Array.from(closes),
  first,
  bars_per_day: 1,
  paused: Uint8Array.from(closes.slice(first), (_, bar) => (pausedAt.includes(bar) ? 1 : 0)),
})

const dips = (...of: Parameters<typeof outlook>) => [...dipAppetite(DIPS as DipRule, outlook(...of))]

test.each([
  [
    'spends once at the first touch of each step, the touch itself included',
    dips([100, 80.01, 80, 79, 66, 65, 50, 36, 35, 10]),
    [0, 0, 0.25, 0, 0, 0.5, 0.75, 0, 1, 0],
  ],
  ['lets the deepest step decide that a bar touches', dips([100, 45, 70, 45, 30]), [0, 0.75, 0, 0, 1]],
  [
    'resets its steps at a new high, not before it, and not at the same high',
    dips([100, 80, 100, 80, 100.5, 80, 100.5]),
    [0, 0.25, 0, 0, 0, 0.25, 0],
  ],
  [
    'has all steps open when the window begins, below a high of the warm-up',
    dips([100, 60, 90, 60, 78], 3),
    [0.5, 0],
  ],
  ['counts no step as touched in a pause', dips([100, 60, 60, 60], 0, [1, 2]), [0, 0, 0, 0.5]],
  ['treats the first bar after a pause like any other', dips([100, 60, 90, 60], 0, [1]), [0, 0, 0, 0.5]],
  ['raises its high in a pause', dips([100, 80, 200, 150, 160], 0, [2]), [0, 0.25, 0, 0.25, 0]],
])('the dips rule of a program %s', (_, spent, expected) => {
  expect(spent).toEqual(expected)
})

const rule = { ...MAYER, mean_days: 2 } as typeof MAYER
const wants = (closes: readonly number[], first = 0) => [...appetite(rule, outlook(closes, first)).fraction]

test('the mayer rule spends by the first band that the multiple is strictly below', () => {
  // The multiples: 2/3, 0.8, 1, 1.2 and 1.01.
  expect(wants([400, 200])).toEqual([0, 1])
  expect(wants([600, 400])).toEqual([0, 0.5])
  expect(wants([400, 400])).toEqual([0, 0.25])
  expect(wants([400, 600])).toEqual([0, 0])
  expect(wants([396, 404])).toEqual([0, 0.25])
})

test('the mayer rule keeps its cash while there are too few bars for the mean, warm-up included', () => {
  expect(wants([300, 100])).toEqual([0, 1])
  expect(wants([300, 100], 1)).toEqual([1])
})

test('the mayer rule buys only on contribution bars, the dips rule on every bar', () => {
  expect(appetite(rule, outlook([1])).on_contributions).toBe(true)
  expect(appetite(ALWAYS, outlook([1])).on_contributions).toBe(true)
  expect(appetite(DIPS, outlook([1])).on_contributions).toBe(false)
})

test('the trailing mean of equal prices is exactly that price, whatever the history before', () => {
  const values = Float64Array.from({ length: 5000 }, (_, i) => (i < 4000 ? 10 ** (i % 9) + 0.1 : 1234.56))
  expect(
    trailingMean(values, 200)
      .subarray(4200)
      .every(mean => Math.abs(mean - 1234.56) < 1e-12),
  ).toBe(true)
})

test('the trailing mean does not exist before its length', () => {
  expect([...trailingMean(Float64Array.of(1, 2, 6), 2)]).toEqual([Number.NaN, 1.5, 4])
})

const spends = (weight: number) =>
  simulate(
    prepareProgram(
      planOf(10, {
        tiers: [
          { tier: 'core', weight: 1 - weight, rule: ALWAYS },
          { tier: 'cyclical', weight, rule: ALWAYS },
        ],
      }),
      barsOf([4, 5, 6, 7]),
    ),
    1,
  )
    .deployments.filter(({ tier }) => tier === 'cyclical')
    .map(({ bar, spend }) => [bar, spend])

test('a spend below a millionth of the equity is not made, and its cash is spent once it suffices', () => {
  const share = 6e-7
  expect(spends(share * 10)).toEqual([
    [1, expect.closeTo(2 * share, 15)],
    [3, expect.closeTo(2 * share, 15)],
  ])
})

test('a spend of a millionth of the equity and more is made at once', () => {
  expect(spends(1.01e-5).map(([bar]) => bar)).toEqual([0, 1, 2, 3])
})
