import { quantile } from '#core/figures/quantile.ts'
import type { Bars } from '#core/replay/bars.ts'
import { costFraction, type ProgramData } from './program.ts'
import { averageCost, type Deployment, runTier, termsOf } from './simulate.ts'

export const BENCHMARK_NAMES = ['dca', 'vwap', 'lump_sum', 'hodl'] as const
export type BenchmarkName = (typeof BENCHMARK_NAMES)[number]

/**
 * What one BTC would have cost in dollars by what anybody could have done instead, over what has happened of the window;
 * null before it begins:
 * - `dca` spends each contribution at once, on the cadence of the comparison, and is never paused;
 * - `vwap` is the volume-weighted mean of the typical price, (high + low + close) / 3, without costs;
 * - `lump_sum` buys everything at the first close, with costs;
 * - `hodl` has held from the first close on: no purchase, no costs.
 */
export function benchmarks(data: ProgramData, cadenceBars: number): Record<BenchmarkName, number | null> {
  const { plan, bars, first } = data
  const start = bars.c[first]
  if (start === undefined) return { dca: null, vwap: null, lump_sum: null, hodl: null }
  return {
    dca: dca(data, cadenceBars),
    vwap: vwap(bars, first),
    lump_sum: start / (1 - costFraction(plan.costs)),
    hodl: start,
  }
}

/**
 * The average cost of a single tier that always spends all its cash: a program of it alone equals it to the
 * last bit.
 */
export function dca(data: ProgramData, cadenceBars: number): number | null {
  const terms = termsOf(data, cadenceBars)
  const everything = { on_contributions: true, fraction: new Float64Array(terms.closes.length).fill(1) }
  return averageCost(runTier({ tier: 'core', weight: 1 }, everything, terms).holding)
}

/**
 * The average cost of a `dca` that spends each contribution at once until it has spent `deployed`, a fraction of the equity;
 * null if that is nothing. So the cash that the program keeps back is compared with no purchase at all.
 */
export function dcaUpTo(data: ProgramData, cadenceBars: number, deployed: number): number | null {
  const { closes, cadence_bars, contributions, cost } = termsOf(data, cadenceBars)
  let [left, btc] = [deployed, 0]
  for (let bar = 0; bar < closes.length && left > 0; bar += cadence_bars) {
    const spend = Math.min(left, 1 / contributions)
    btc += (spend * (1 - cost)) / closes[bar]!
    left -= spend
  }
  return averageCost({ deployed: deployed - left, btc })
}

/** From bar `first` on, where some volume must be above zero. */
function vwap({ h, l, c, v }: Bars, first: number): number {
  let [paid, volume] = [0, 0]
  for (let i = first; i < c.length; i++) {
    paid += ((h[i]! + l[i]! + c[i]!) / 3) * v[i]!
    volume += v[i]!
  }
  return paid / volume
}

/**
 * The fraction of the dollars that were spent at closes at or below the 25th percentile (type 7) of the past
 * closes of the window; null before the first purchase. Equal spending gives about 0.25. O(n log n).
 */
export function cheapestQuartileShare(
  { bars, first }: ProgramData,
  deployments: readonly Deployment[],
): number | null {
  if (deployments.length === 0) return null
  const closes = bars.c.subarray(first)
  const cheap = quantile(closes.toSorted(), 0.25)
  let [spent, spentCheaply] = [0, 0]
  for (const { bar, spend } of deployments) {
    spent += spend
    if (closes[bar]! <= cheap) spentCheaply += spend
  }
  return spentCheaply / spent
}
