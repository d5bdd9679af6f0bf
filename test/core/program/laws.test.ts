import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toEpochDay } from '#core/calendar.ts'
import { renderDeploys } from '#core/dataset/resources/program/deploys.ts'
import { benchmarks, dca } from '#core/program/benchmarks.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import { averageCost, simulate } from '#core/program/simulate.ts'
import { forAll } from '#test/support/for-all.ts'
import { arbitraryProgram, CORE_ONLY, firstBars, withCloses } from './programs.ts'

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
