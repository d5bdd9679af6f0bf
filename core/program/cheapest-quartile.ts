import { quantile } from '#core/figures/quantile.ts'
import type { ProgramData } from './program.ts'
import type { Deployment } from './run-tier.ts'

/**
 * The fraction of the dollars that were spent at closes at or below the 25th percentile (type 7) of the closes that have
 * happened in the window; null until something is spent. Who spends the same on every bar has about 0.25. O(n log n).
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
