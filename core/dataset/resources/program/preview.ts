import type { ProgramManifest, ProgramPreview } from '#core/contract/payloads/program.ts'
import type { ProgramData } from '#core/program/program.ts'
import { deploymentState } from '#core/program/program-window.ts'
import { type Simulation, simulate } from '#core/program/simulate.ts'
import { type Comparisons, compare, eachBenchmark } from './comparison.ts'
import {
  asOf,
  pctDeployed,
  quartileShare,
  recordHead,
  rollingRecord,
  tierWeights,
  windowRecord,
} from './record-parts.ts'

/** `/v1/program/preview`: the program in one page. */
export function renderPreview(data: ProgramData): ProgramPreview {
  const { plan } = data
  const simulation = referenceSimulation(data)
  const comparisons = compare(data, simulation)
  return {
    ...recordHead(plan),
    deployment_state: deploymentState(data),
    instrument: plan.instrument,
    window: windowRecord(data),
    tiers: tierWeights(plan),
    avg_cost_basis: comparisons.avg_cost_basis,
    benchmarks: benchmarkRecords(comparisons),
    pct_capital_cheapest_quartile: quartileShare(data, simulation),
    pct_deployed: pctDeployed(simulation.totals),
    rolling: rollingRecord(data.rolling),
    as_of: asOf(data),
    tv_status: plan.tv_status,
  }
}

/** `/v1/program`: what the program is. */
export function renderManifest(data: ProgramData, datasetVersion: string): ProgramManifest {
  const { plan } = data
  const simulation = referenceSimulation(data)
  return {
    ...recordHead(plan),
    instrument: plan.instrument,
    deployment_state: deploymentState(data),
    tiers: tierWeights(plan),
    window: windowRecord(data),
    contribution_cadence_bars: plan.contribution_cadence_bars,
    reference_equity_usd: plan.reference_equity_usd,
    costs: { fee_bps: plan.costs.fee_bps, slippage_bps: plan.costs.slippage_bps },
    benchmarks: benchmarkRecords(compare(data, simulation)),
    last_deploy_seq: simulation.deployments.length,
    dataset_version: datasetVersion,
    tv_status: plan.tv_status,
  }
}

const referenceSimulation = (data: ProgramData): Simulation =>
  simulate(data, data.plan.contribution_cadence_bars)

const benchmarkRecords = ({ against }: Comparisons): ProgramPreview['benchmarks'] =>
  eachBenchmark(name => {
    const { value, advantage_bps, pct_cheaper } = against[name]
    return { value, advantage_bps, pct_cheaper }
  })
