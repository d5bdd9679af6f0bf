import type { ProgramSimulation, SimulationInput } from '#core/contract/payloads/program.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import type { ProgramData } from '#core/program/program.ts'
import { simulate } from '#core/program/simulate.ts'
import { type Comparisons, compare, eachBenchmark } from './comparison.ts'
import { recordHead } from './record-parts.ts'

/** The part of a simulation that costs time. It depends on the cadence alone: one serves every equity. */
export type PreparedSimulation = ReturnType<typeof prepareSimulation>

export function prepareSimulation(data: ProgramData, cadenceBars: number) {
  const simulation = simulate(data, cadenceBars)
  return { simulation, comparisons: compare(data, simulation) }
}

/** `/v1/program/simulate` and `/v1/program/preview/simulate`: the same answer for the same input. */
export function renderSimulation(
  data: ProgramData,
  input: SimulationInput,
  prepared = prepareSimulation(data, input.contribution_cadence_bars),
): ProgramSimulation {
  const { simulation, comparisons } = prepared
  const { equity_usd, contribution_cadence_bars } = input
  return {
    ...recordHead(data.plan),
    input: { equity_usd, contribution_cadence_bars },
    total_usd_deployed: toSignificant(simulation.totals.deployed * equity_usd),
    total_btc_accumulated: toSignificant(simulation.totals.btc * equity_usd),
    avg_cost_basis: comparisons.avg_cost_basis,
    benchmarks: benchmarkRecords(comparisons),
  }
}

const benchmarkRecords = ({ against }: Comparisons): ProgramSimulation['benchmarks'] =>
  eachBenchmark(name => {
    const { value, pct_cheaper } = against[name]
    return { value, pct_cheaper }
  })
