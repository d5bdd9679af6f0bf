import type { PerformanceBenchmark, ProgramPerformance } from '#core/contract/payloads/program.ts'
import { toPercent } from '#core/contract/rounding.ts'
import { moneyWeightedReturn } from '#core/program/money-weighted.ts'
import type { ProgramData } from '#core/program/program.ts'
import { simulate } from '#core/program/simulate.ts'
import { compare, compareAtEqualCash } from './comparison.ts'
import { asOf, pctDeployed, quartileShare, recordHead, rollingRecord, windowRecord } from './record-parts.ts'

/** `/v1/program/performance`: the reference basket held against one benchmark. */
export function renderPerformance(data: ProgramData, benchmark: PerformanceBenchmark): ProgramPerformance {
  const simulation = simulate(data, data.plan.contribution_cadence_bars)
  const { avg_cost_basis, against } = compare(data, simulation)
  const { value, pct_cheaper, advantage_bps, btc_vs_benchmark_pct } = against[benchmark]
  const growth = moneyWeightedReturn(data, simulation.deployments)
  return {
    ...recordHead(data.plan),
    benchmark,
    as_of: asOf(data),
    window: windowRecord(data),
    avg_cost_basis,
    benchmark_value: value,
    pct_cheaper,
    advantage_bps,
    pct_capital_cheapest_quartile: quartileShare(data, simulation),
    pct_deployed: pctDeployed(simulation.totals),
    btc_vs_benchmark_pct,
    at_equal_cash: compareAtEqualCash(data, simulation, benchmark),
    money_weighted_return_pct: growth === null ? null : toPercent(growth * 100),
    rolling: rollingRecord(data.rolling),
  }
}
