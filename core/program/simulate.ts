import { costFraction, type ProgramData, type Tier, type TierName } from './program.ts'
import { type Appetite, appetite, outlookOf } from './rules.ts'

type TierHolding = Holding & { readonly tier: TierName; readonly weight: number }

/** The result of the program for an equity of one dollar; multiply it by an equity for dollars and BTC. */
export type Simulation = {
  readonly cadence_bars: number
  /** In the order of the plan. */
  readonly tiers: readonly TierHolding[]
  readonly totals: Holding
  /** By bar, then in the order of the tiers. */
  readonly deployments: readonly Deployment[]
}

/**
 * Simulates the program over the past part of its window, with a contribution every `cadenceBars` bars.
 * Everything published about a program is computed here: the reference basket, its deployments, the personal
 * basket and both simulations.
 *
 * A rule sees only the bars up to the current one, and the contributions are those of the planned window: an
 * added bar changes nothing before it. O(n) per tier.
 *
 * @param cadenceBars an integer from 1 on; if it is longer than the window, there is one contribution
 */
export function simulate(data: ProgramData, cadenceBars: number): Simulation {
  const outlook = outlookOf(data)
  const terms = termsOf(data, cadenceBars)
  const runs = data.plan.tiers.map(tier => runTier(tier, appetite(tier.rule, outlook), terms))
  const tiers = data.plan.tiers.map(({ tier, weight }, i) => ({ tier, weight, ...runs[i]!.holding }))
  return {
    cadence_bars: cadenceBars,
    tiers,
    totals: totalOf(tiers),
    // The sort is stable: tiers that buy at the same bar keep their order.
    deployments: runs.flatMap(({ deployments }) => deployments).sort((a, b) => a.bar - b.bar),
  }
}

export function termsOf({ plan, bars, first, bars_planned }: ProgramData, cadenceBars: number) {
  if (!Number.isInteger(cadenceBars) || cadenceBars < 1) {
    throw new Error(`a contribution cadence must be a whole number of bars from 1 on, not ${cadenceBars}`)
  }
  return {
    closes: bars.c.subarray(first),
    cadence_bars: cadenceBars,
    // One at bar 0 and at each multiple of the cadence; only the one at bar 0 if it is longer than the window.
    contributions: Math.ceil(bars_planned / cadenceBars),
    cost: costFraction(plan.costs), // the fraction of a purchase that fee and slippage take
  }
}

function totalOf(tiers: readonly Holding[]): Holding {
  const sum = (part: keyof Holding) => tiers.reduce((total, tier) => total + tier[part], 0)
  return {
    contributed: sum('contributed'),
    deployed: sum('deployed'),
    reserve: sum('reserve'),
    btc: sum('btc'),
  }
}

/** Dollars spent per BTC, costs included; null before the first purchase. */
export const averageCost = ({ deployed, btc }: Pick<Holding, 'deployed' | 'btc'>): number | null =>
  btc === 0 ? null : deployed / btc

/**
 * A purchase below this fraction of the equity is not made, and the cash is kept. It is a fraction and not
 * dollars, so that every result is exactly linear in the equity.
 */
const SMALLEST_SPEND = 1e-6

type Terms = ReturnType<typeof termsOf>

/** A purchase: the bar of the window, the fraction of the equity spent with costs, and the BTC bought. */
export type Deployment = {
  readonly bar: number
  readonly tier: TierName
  readonly spend: number
  readonly btc: number
}

/** The money of a tier: fractions of the equity, and BTC for an equity of one dollar. */
export type Holding = {
  readonly contributed: number
  readonly deployed: number
  readonly reserve: number
  readonly btc: number
}

type TierRun = { readonly holding: Holding; readonly deployments: readonly Deployment[] }

/**
 * Simulates one tier over the past part of the window: on each contribution bar it receives its share, and
 * then, on the bars of its rule, it spends a fraction of its cash: `btc = spend x (1 - cost) / close`. O(n).
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
  // One product, because a sum of many shares differs from the weight by rounding.
  const contributed = weight * (Math.ceil(closes.length / cadence_bars) / contributions)
  return {
    holding: { contributed, deployed: Math.min(deployed, contributed), reserve: cash, btc },
    deployments,
  }
}
