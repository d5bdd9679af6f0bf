// Payload of `/v1/program/performance`.
import { z } from 'zod'
import { percent } from './field.ts'
import {
  advantageBps,
  asOf,
  averageCostBasis,
  benchmarkName,
  benchmarkValue,
  cheapestQuartile,
  pctCheaper,
  pctDeployed,
  programWindow,
  recordHead,
  rolling,
} from './program-field.ts'

/** What `?benchmark=` may name. */
export const PERFORMANCE_BENCHMARKS = ['dca', 'hodl', 'lump_sum'] as const
export type PerformanceBenchmark = (typeof PERFORMANCE_BENCHMARKS)[number]

export const programPerformance = z
  .looseObject({
    ...recordHead,
    benchmark: benchmarkName.extract(PERFORMANCE_BENCHMARKS).describe('What it is held against.'),
    as_of: asOf,
    window: programWindow,
    avg_cost_basis: averageCostBasis,
    benchmark_value: benchmarkValue,
    pct_cheaper: pctCheaper,
    advantage_bps: advantageBps,
    pct_capital_cheapest_quartile: cheapestQuartile,
    pct_deployed: pctDeployed,
    btc_vs_benchmark_pct: percent(
      '(benchmark_value / avg_cost_basis - 1) x 100: how much more BTC the same dollars bought; null where there is ' +
        'nothing to compare.',
    ).nullable(),
    rolling,
  })
  .describe('The program held against one benchmark.')

export type ProgramPerformance = z.infer<typeof programPerformance>
