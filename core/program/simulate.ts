import { appetite } from './appetite.ts'
import { outlookOf } from './outlook.ts'
import { contributionCount } from './planned-bars.ts'
import { costFraction, type ProgramData, type TierName } from './program.ts'
import { type Deployment, type Holding, runTier, type Terms } from './run-tier.ts'

export type TierHolding = Holding & { readonly tier: TierName; readonly weight: number }

/** What the program has done on an equity of one dollar; multiply by an equity for dollars and BTC. */
export type Simulation = {
  readonly cadence_bars: number
  /** In the order of the plan. */
  readonly tiers: readonly TierHolding[]
  readonly totals: Holding
  /** By bar, then in the order of the tiers. */
  readonly deployments: readonly Deployment[]
}

/**
 * Runs the program over what has happened of its window, with a contribution every `cadenceBars` bars. Everything that is
 * published of a program comes from here: the reference basket, its deployments, the personal basket and both simulations.
 *
 * A rule sees the bars up to its own alone, and the contributions are those of the planned window: a bar that is added
 * changes nothing before it. O(n) a tier.
 *
 * @param cadenceBars a whole number from 1 on; longer than the window it leaves one contribution
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
    // A stable sort: tiers that buy at the same bar keep their order.
    deployments: runs.flatMap(({ deployments }) => deployments).sort((a, b) => a.bar - b.bar),
  }
}

/** When money comes in and what spending costs, over what has happened of the window. */
export function termsOf({ plan, bars, first, bars_planned }: ProgramData, cadenceBars: number): Terms {
  if (!Number.isInteger(cadenceBars) || cadenceBars < 1) {
    throw new Error(`a contribution cadence must be a whole number of bars from 1 on, not ${cadenceBars}`)
  }
  return {
    closes: bars.c.subarray(first),
    cadence_bars: cadenceBars,
    contributions: contributionCount(bars_planned, cadenceBars),
    cost: costFraction(plan.costs),
  }
}

function totalOf(tiers: readonly Holding[]): Holding {
  const total = { contributed: 0, deployed: 0, reserve: 0, btc: 0 }
  for (const { contributed, deployed, reserve, btc } of tiers) {
    total.contributed += contributed
    total.deployed += deployed
    total.reserve += reserve
    total.btc += btc
  }
  return total
}

/** Dollars spent for one BTC, costs in; null until something is bought. */
export const averageCost = ({ deployed, btc }: Pick<Holding, 'deployed' | 'btc'>): number | null =>
  btc === 0 ? null : deployed / btc
