import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import {
  PERFORMANCE_BENCHMARKS,
  programBasket,
  programDeploys,
  programManifest,
  programPerformance,
  programPreview,
  programSimulation,
} from '#core/contract/payloads/program.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import {
  renderBasket,
  renderDeploys,
  renderManifest,
  renderPerformance,
  renderPreview,
  renderSimulation,
} from '#core/dataset/resources/program/records.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import type { ProgramData } from '#core/program/program.ts'
import { simulate } from '#core/program/simulate.ts'
import { forAll } from '#test/support/for-all.ts'
import { arbitraryProgram, barsOf, CORE_ONLY, DAY_0, planOf } from './programs.ts'

const RUNS = 40
const VERSION = '2026-11-21T00:15:00Z'

const inputOf = (data: ProgramData, equity_usd = data.plan.reference_equity_usd) => ({
  equity_usd,
  contribution_cadence_bars: data.plan.contribution_cadence_bars,
})

const preview = (data: ProgramData) => renderPreview(data)
const basket = (data: ProgramData) => renderBasket(data, 'reference', inputOf(data))
const simulation = (data: ProgramData) => renderSimulation(data, inputOf(data))

/** Every record of a program with the schema that describes it. */
const recordsOf = (data: ProgramData): [z.ZodType, unknown][] => [
  [programPreview, preview(data)],
  [programManifest, renderManifest(data, VERSION)],
  [programBasket, basket(data)],
  [programDeploys, renderDeploys(data)],
  ...PERFORMANCE_BENCHMARKS.map((name): [z.ZodType, unknown] => [
    programPerformance,
    renderPerformance(data, name),
  ]),
  [programSimulation, simulation(data)],
]

const never = barsOf([100, 101])
const unbegun = prepareProgram(planOf(1, { window: { from: DAY_0 + 5, to: DAY_0 + 9 } }), never)
const empty = prepareProgram(planOf(5), barsOf([]))

/** `1.234567 x 100 = 123.4567`, on the digits, so that no floating point takes part. */
const inMillionths = (decimal: number): bigint => {
  const [whole, part = ''] = decimal.toFixed(6).replace('-', '').split('.')
  return BigInt(`${decimal < 0 ? '-' : ''}${whole}${part}`)
}

/** Both identities of the specification, on the numbers as they are published. */
function expectIdentities(
  average: number | null,
  value: number | null,
  cheaper: number | null,
  bps?: number | null,
) {
  if (average === null || value === null) {
    expect(cheaper).toBeNull()
    expect(bps ?? null).toBeNull()
    return
  }
  expect(Math.abs(cheaper! - (1 - average / value) * 100)).toBeLessThanOrEqual(5.001e-7)
  if (bps !== undefined) {
    expect(inMillionths(bps!)).toBe(inMillionths(cheaper!) * 100n)
    expect(Number(bps!.toFixed(4))).toBe(bps)
  }
}

const programs = fc.oneof(
  { arbitrary: arbitraryProgram.map(({ plan, bars }) => prepareProgram(plan, bars)), weight: 20 },
  fc.constantFrom(unbegun, empty),
)

test('every record of a program matches its schema, without further fields and without numbers that JSON cannot represent', () => {
  forAll(RUNS, programs, data => {
    for (const [schema, record] of recordsOf(data)) {
      expect(schema.safeParse(record).error).toBeUndefined()
      expect(JSON.parse(JSON.stringify(record))).toStrictEqual(record)
    }
  })
})

test('every record of a program keeps both identities of the published figures', () => {
  forAll(RUNS, programs, data => {
    const { avg_cost_basis, benchmarks } = preview(data)
    for (const { value, pct_cheaper, advantage_bps } of Object.values(benchmarks)) {
      expectIdentities(avg_cost_basis, value, pct_cheaper, advantage_bps)
    }
    for (const name of PERFORMANCE_BENCHMARKS) {
      const record = renderPerformance(data, name)
      const { avg_cost_basis: average, benchmark_value: value, btc_vs_benchmark_pct: more } = record
      expectIdentities(average, value, record.pct_cheaper, record.advantage_bps)
      if (more !== null) expect(Math.abs(more - (value! / average! - 1) * 100)).toBeLessThanOrEqual(5.001e-7)
    }
    const simulated = simulation(data)
    for (const { value, pct_cheaper } of Object.values(simulated.benchmarks)) {
      expectIdentities(simulated.avg_cost_basis, value, pct_cheaper)
    }
  })
})

test('the records of equal programs are equal', () => {
  forAll(RUNS, programs, data => {
    const open = preview(data)
    const manifest = renderManifest(data, VERSION)
    const held = basket(data)
    const deploys = renderDeploys(data)
    expect(manifest.benchmarks).toEqual(open.benchmarks)
    expect(held.totals.avg_cost_basis).toBe(open.avg_cost_basis)
    expect(held.totals.pct_deployed).toBe(open.pct_deployed)
    expect([held.last_deploy_seq, manifest.last_deploy_seq]).toEqual([deploys.length, deploys.length])
    expect(deploys.map(({ seq }) => seq)).toEqual(deploys.map((_, i) => i + 1))
    const { benchmarks, total_usd_deployed, total_btc_accumulated } = simulation(data)
    expect([total_usd_deployed, total_btc_accumulated]).toEqual([held.totals.deployed_usd, held.totals.btc])
    for (const name of PERFORMANCE_BENCHMARKS) {
      const { benchmark_value, pct_cheaper, advantage_bps } = renderPerformance(data, name)
      expect(open.benchmarks[name]).toEqual({ value: benchmark_value, advantage_bps, pct_cheaper })
      expect(benchmarks[name]).toEqual({ value: benchmark_value, pct_cheaper })
    }
  })
})

test('every record of a program is linear in the equity: prices stay, amounts are the same fractions of it', () => {
  forAll(RUNS, programs, fc.integer({ min: 1, max: 1_000_000_000 }), (data, equity) => {
    const base = renderSimulation(data, inputOf(data, 1))
    const scaled = renderSimulation(data, inputOf(data, equity))
    expect(scaled.avg_cost_basis).toBe(base.avg_cost_basis)
    expect(scaled.benchmarks).toEqual(base.benchmarks)
    const { totals } = simulate(data, data.plan.contribution_cadence_bars)
    expect(scaled.total_usd_deployed).toBe(toSignificant(totals.deployed * equity))
    expect(scaled.total_btc_accumulated).toBe(toSignificant(totals.btc * equity))
    const personal = renderBasket(data, 'personal', inputOf(data, equity)).totals
    expect(personal.pct_deployed).toBe(basket(data).totals.pct_deployed)
    expect(personal.unrealized_pct).toBe(basket(data).totals.unrealized_pct)
    expect(personal.deployed_usd).toBeLessThanOrEqual(personal.contributed_usd)
    expect(personal.contributed_usd).toBeLessThanOrEqual(equity)
  })
})

test('the deployments of a program add up to its basket', () => {
  forAll(RUNS, arbitraryProgram, ({ plan, bars }) => {
    const data = prepareProgram(plan, bars)
    const deploys = renderDeploys(data)
    const { totals } = basket(data)
    const sum = (of: (deploy: (typeof deploys)[number]) => number) =>
      deploys.reduce((total, deploy) => total + of(deploy), 0)
    expect(sum(({ usd }) => usd) / (totals.deployed_usd || 1)).toBeCloseTo(deploys.length > 0 ? 1 : 0, 8)
    expect(sum(({ btc }) => btc) / (totals.btc || 1)).toBeCloseTo(deploys.length > 0 ? 1 : 0, 8)
    const last = deploys.at(-1)
    expect((last?.avg_cost_basis ?? 1) / (totals.avg_cost_basis ?? 1)).toBeCloseTo(1, 9)
    const { totals: fractions } = simulate(data, plan.contribution_cadence_bars)
    expect(last?.cum_weight ?? 0).toBeCloseTo(fractions.deployed, 9)
  })
})

// A cost of 1 % and closes of 100, 200 and 80.
const costs = { fee_bps: 100, slippage_bps: 0 }

test('a basket whose window is over is marked at the newest close, and nothing else of it changes', () => {
  const plan = planOf(3, { tiers: CORE_ONLY, contribution_cadence_bars: 1, costs })
  const input = { equity_usd: 1000, contribution_cadence_bars: 1 }
  const basketOf = (closes: readonly number[]) =>
    renderBasket(prepareProgram(plan, barsOf(closes)), 'personal', input)
  const atEnd = basketOf([100, 100, 100])
  const later = basketOf([100, 100, 100, 150, 200])
  expect(later).toMatchObject({
    deployment_state: 'complete',
    as_of: '2016-07-23T00:00:00Z',
    mark_price: 200,
    tiers: atEnd.tiers,
    totals: { ...atEnd.totals, market_value_usd: 2 * atEnd.totals.market_value_usd, unrealized_pct: 98 },
  })
  expect(preview(prepareProgram(plan, barsOf([100, 100, 100, 150, 200])))).toEqual(
    preview(prepareProgram(plan, barsOf([100, 100, 100]))),
  )
})

test('the share of the capital in the cheapest quartile is a fraction of what was spent, and null before that', () => {
  const plan = planOf(4, { tiers: CORE_ONLY, contribution_cadence_bars: 1 })
  const shareOf = (data: ProgramData) => preview(data).pct_capital_cheapest_quartile
  expect([unbegun, prepareProgram(plan, barsOf([80, 100, 120, 140]))].map(shareOf)).toEqual([null, 0.25])
})
