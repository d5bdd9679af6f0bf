import { type Bars, type Funding, lastAtOrBefore } from './bars.ts'

/**
 * Funding as running sums of rate x price: what one unit of the base asset, held long, has paid up to each
 * event, in the quote currency.
 */
export type FundingSums = { readonly t: Float64Array; readonly paid: Float64Array }

const NO_FUNDING: FundingSums = { t: new Float64Array(0), paid: new Float64Array(0) }

/**
 * The sums for funding at the last close known at each event. Before the first close there is no price, and
 * nothing is charged: no position can have been carried in. O(events x log bars).
 */
export function sumFunding(bars: Bars, funding: Funding | null): FundingSums {
  if (funding === null) return NO_FUNDING
  const paid = new Float64Array(funding.t.length)
  let sum = 0
  for (let i = 0; i < paid.length; i++) {
    const known = lastAtOrBefore(bars.t, funding.t[i]! - bars.timeframeMs)
    if (known >= 0) sum += funding.rate[i]! * bars.c[known]!
    paid[i] = sum
  }
  return { t: funding.t, paid }
}

/** What a unit held long has paid up to and including `ms`. O(log events). */
export function paidUpTo({ t, paid }: FundingSums, ms: number): number {
  const i = lastAtOrBefore(t, ms)
  return i < 0 ? 0 : paid[i]!
}
