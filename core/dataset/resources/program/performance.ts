import type { PerformanceBenchmark, ProgramPerformance } from '#core/contract/payloads/program.ts'
import type { ProgramData } from '#core/program/program.ts'
import { simulate } from '#core/program/simulate.ts'
import { compare } from './comparison.ts'
import { asOf, pctDeployed, quartileShare, recordHead, rollingRecord, windowRecord } from './record-parts.ts'

/** `/v1/program/performance`: the reference basket held against one benchmark. */
export function renderPerformance(data: ProgramData, benchmark: PerformanceBenchmark): ProgramPerformance {
  const simulation = simulate(data, data.plan.contribution_cadence_bars)
  const { avg_cost_basis, against } = compare(data, simulation)
  const { value, pct_cheaper, advantage_bps, btc_vs_benchmark_pct } = against[benchmark]
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
    rolling: rollingRecord(data.rolling),
  }
}
