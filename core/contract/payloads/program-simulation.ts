// What both simulations of the program are asked, and what they answer.
import { z } from 'zod'
import {
  averageCostBasis,
  benchmarkValue,
  bitcoin,
  byBenchmark,
  dollars,
  pctCheaper,
  recordHead,
} from './program-field.ts'

export const simulationInput = z
  .looseObject({
    equity_usd: z.number().describe('What all contributions of the planned window sum to, US dollars.'),
    contribution_cadence_bars: z.int().min(1).describe('Bars from one contribution to the next.'),
  })
  .describe('What was simulated.')

export const programSimulation = z
  .looseObject({
    ...recordHead,
    input: simulationInput,
    total_usd_deployed: dollars('What was spent, costs in.'),
    total_btc_accumulated: bitcoin('What was bought.'),
    avg_cost_basis: averageCostBasis,
    benchmarks: byBenchmark(z.looseObject({ value: benchmarkValue, pct_cheaper: pctCheaper })).describe(
      'The same dollars by what anybody could have done instead; `dca` on the cadence of the input.',
    ),
  })
  .describe('The program on another equity and cadence, over what has happened of its window.')

export type SimulationInput = {
  readonly equity_usd: number
  readonly contribution_cadence_bars: number
}
export type ProgramSimulation = z.infer<typeof programSimulation>
