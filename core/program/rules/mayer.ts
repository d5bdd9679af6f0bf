import type { Outlook } from '../outlook.ts'
import type { TierRule } from '../program.ts'
import { trailingMean } from '../trailing-mean.ts'

type MayerRule = Extract<TierRule, { kind: 'mayer' }>

/**
 * The appetite by the Mayer multiple: the close over the mean of the last `mean_days` days of closes, the bar's own among
 * them. The first band that the multiple lies strictly below decides; above all of them, and where the bars are too few
 * for a mean, the answer is 0.
 *
 * Source: the ratio of the price to its 200-day moving average that Trace Mayer proposed for bitcoin.
 */
export function mayerAppetite(rule: MayerRule, { closes, first, bars_per_day }: Outlook): Float64Array {
  const means = trailingMean(closes, rule.mean_days * bars_per_day)
  const fraction = new Float64Array(closes.length - first)
  for (let bar = 0; bar < fraction.length; bar++) {
    fraction[bar] = spendAt(rule, closes[first + bar]! / means[first + bar]!)
  }
  return fraction
}

/** A multiple that is NaN, because there is no mean, lies below no band. */
function spendAt({ bands }: MayerRule, multiple: number): number {
  for (let i = 0; i < bands.length; i++) if (multiple < bands[i]!.below) return bands[i]!.spend
  return 0
}
