import type { Appetite } from './appetite.ts'
import type { Tier, TierName } from './program.ts'

/**
 * A spend below this fraction of the equity is not made, and the cash stays where it is. A fraction, never dollars, so that
 * every result is exactly linear in the equity.
 */
export const SMALLEST_SPEND = 1e-6

/** When money comes in, and what it costs to spend it. */
export type Terms = {
  /** Closes of the window that have happened. */
  readonly closes: Float64Array
  readonly cadence_bars: number
  /** Contributions of the whole window. */
  readonly contributions: number
  /** Fraction of a purchase that fee and slippage take. */
  readonly cost: number
}

/** A purchase: at which bar of the window, what it took with its costs, a fraction of the equity, and what it brought. */
export type Deployment = {
  readonly bar: number
  readonly tier: TierName
  readonly spend: number
  readonly btc: number
}

/** Where the money of a tier is. Fractions of the equity, and BTC for an equity of one dollar. */
export type Holding = {
  readonly contributed: number
  readonly deployed: number
  readonly reserve: number
  readonly btc: number
}

export type TierRun = { readonly holding: Holding; readonly deployments: readonly Deployment[] }

/**
 * A tier through what has happened of the window: on each contribution bar its share comes in, and then, where its appetite
 * is asked, it spends that fraction of its cash at the close: `btc = spend x (1 - cost) / close`. O(n).
 */
export function runTier(
  { tier, weight }: Pick<Tier, 'tier' | 'weight'>,
  { on_contributions, fraction }: Appetite,
  terms: Terms,
): TierRun {
  const { closes, cadence_bars, contributions, cost } = terms
  const deployments: Deployment[] = []
  let [cash, deployed, btc] = [0, 0, 0]
  const step = on_contributions ? cadence_bars : 1
  for (let bar = 0; bar < closes.length; bar += step) {
    if (bar % cadence_bars === 0) cash += weight / contributions
    const spend = cash * fraction[bar]!
    if (spend < SMALLEST_SPEND) continue
    const bought = (spend * (1 - cost)) / closes[bar]!
    deployments.push({ bar, tier, spend, btc: bought })
    cash -= spend
    deployed += spend
    btc += bought
  }
  // As one product, because a sum of many shares ends a rounding beside the weight: nothing shows more than its share.
  const contributed = weight * (Math.ceil(closes.length / cadence_bars) / contributions)
  return {
    holding: { contributed, deployed: Math.min(deployed, contributed), reserve: cash, btc },
    deployments,
  }
}
