import { type Bars, type Funding, lastAtOrBefore } from './bars.ts'

/**
 * Funding as running sums of rate x price: what one unit of the base asset, held long, has paid up to each event, in
 * the quote currency.
 */
export type FundingSums = { readonly t: Float64Array; readonly paid: Float64Array }

const NO_FUNDING: FundingSums = { t: new Float64Array(0), paid: new Float64Array(0) }

/**
 * The sums for funding at the last close known at each event. Before the first close there is no price and nothing is
 * charged, because no position can be open. O(events + bars): both ascend.
 */
export function sumFunding(bars: Bars, funding: Funding | null): FundingSums {
  if (funding === null) return NO_FUNDING
  const paid = new Float64Array(funding.t.length)
  let sum = 0
  let closed = 0 // bars that had closed by the event
  for (let i = 0; i < paid.length; i++) {
    while (closed < bars.t.length && bars.t[closed]! + bars.timeframeMs <= funding.t[i]!) closed++
    if (closed > 0) sum += funding.rate[i]! * bars.c[closed - 1]!
    paid[i] = sum
  }
  return { t: funding.t, paid }
}

/** What one unit, held long, has paid up to and including `ms`. O(log events). */
export function paidUpTo({ t, paid }: FundingSums, ms: number): number {
  const i = lastAtOrBefore(t, ms)
  return i < 0 ? 0 : paid[i]!
}
