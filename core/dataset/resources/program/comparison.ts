// The program beside a benchmark. Everything is computed from the numbers as they are published, so that a
// client that computes it again from the answer gets the same.
import { toPercent, toSignificant } from '#core/contract/rounding.ts'
import { type BenchmarkName, benchmarks, dcaUpTo } from '#core/program/benchmarks.ts'
import type { ProgramData } from '#core/program/program.ts'
import { averageCost, type Simulation } from '#core/program/simulate.ts'

export type Comparisons = ReturnType<typeof compare>

export function compare(data: ProgramData, simulation: Simulation) {
  const average = published(averageCost(simulation.totals))
  const values = benchmarks(data, simulation.cadence_bars)
  return {
    avg_cost_basis: average,
    against: eachBenchmark(name => compareWith(average, published(values[name]))),
  }
}

/**
 * The comparison with a benchmark that has spent as much cash as the program, not as much as it was given. The price of the
 * others does not depend on the amount.
 */
export function compareAtEqualCash(
  data: ProgramData,
  { cadence_bars, totals }: Simulation,
  name: BenchmarkName,
) {
  const value =
    name === 'dca' ? dcaUpTo(data, cadence_bars, totals.deployed) : benchmarks(data, cadence_bars)[name]
  const { advantage_bps: _, ...compared } = compareWith(published(averageCost(totals)), published(value))
  return compared
}

/** Something of every benchmark, in their order. */
export const eachBenchmark = <Value>(of: (name: BenchmarkName) => Value): Record<BenchmarkName, Value> => ({
  dca: of('dca'),
  vwap: of('vwap'),
  lump_sum: of('lump_sum'),
  hodl: of('hodl'),
})

/** A figure of 10 significant digits that may not exist. */
export const published = (value: number | null): number | null =>
  value === null ? null : toSignificant(value)

function compareWith(average: number | null, value: number | null) {
  if (average === null || value === null) {
    return { value, pct_cheaper: null, advantage_bps: null, btc_vs_benchmark_pct: null }
  }
  const pctCheaper = toPercent((1 - average / value) * 100)
  return {
    value,
    pct_cheaper: pctCheaper,
    advantage_bps: toBasisPoints(pctCheaper),
    btc_vs_benchmark_pct: toPercent((value / average - 1) * 100),
  }
}

/** A percent of 6 decimals times 100, as a decimal: in binary 1.234567 x 100 is 123.45670000000001. */
const toBasisPoints = (percent: number): number => Number((percent * 100).toFixed(4))
