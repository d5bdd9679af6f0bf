import type { Funding, FundingInterval } from './bars.ts'
import type { Trade } from './trade.ts'

/** The payments of a feed, and how often they come if that is stated. */
type Feed = Pick<Funding, 't' | 'intervals'>

/** Two payments with others missing between them: their times, epoch milliseconds. */
export type FundingGap = { readonly from: number; readonly to: number }

/** Above this multiple of the interval a payment is missing; below its inverse one is too many. */
export const GAP_FACTOR = 1.25

/** A payment comes a little early or late. */
export const FUNDING_JITTER_MS = 60_000

/** How often the perpetual contracts of most exchanges pay. Other intervals have to be stated. */
const USUAL_INTERVALS_MS = [8, 4, 2, 1].map(hours => hours * 3_600_000)

/** Intervals in a row that show that payments come so often: one extra payment makes two short ones at most. */
const CONFIRMING = 3

/**
 * The intervals of a feed: as stated or, without a statement, the finest that it shows anywhere. Nothing in a feed
 * distinguishes a contract that began to pay less often from a feed that lost every second payment, so a change of the
 * interval must be stated.
 */
export const fundingIntervals = ({ t, intervals }: Feed): readonly FundingInterval[] =>
  intervals ?? [{ from: Number.NEGATIVE_INFINITY, everyMs: finestInterval(t) }]

/**
 * The finest interval that payments keep for a while, as the nearest usual one that is not longer. Rows that are closer
 * than any two payments are copies with other milliseconds, or no payments.
 */
function finestInterval(t: Float64Array): number {
  const spans = t.slice(1).map((ms, i) => ms - t[i]!)
  const kept = Math.min(CONFIRMING, spans.length)
  let finest = USUAL_INTERVALS_MS[0]!
  for (let i = 0; kept > 0 && i + kept <= spans.length; i++) {
    finest = Math.min(finest, Math.max(...spans.subarray(i, i + kept)))
  }
  return USUAL_INTERVALS_MS.find(usual => usual <= finest * GAP_FACTOR) ?? USUAL_INTERVALS_MS.at(-1)!
}

/** How long after an instant the next payment is due. */
export const intervalAt = (intervals: readonly FundingInterval[], ms: number): number =>
  intervals.findLast(({ from }) => from <= ms + FUNDING_JITTER_MS)!.everyMs

/** The gaps of a funding feed, in order of time. O(payments x intervals). */
export function fundingGaps(feed: Feed): FundingGap[] {
  const { t } = feed
  const intervals = fundingIntervals(feed)
  const gaps: FundingGap[] = []
  for (let i = 1; i < t.length; i++) {
    const [from, to] = [t[i - 1]!, t[i]!]
    if (to - from > GAP_FACTOR * intervalAt(intervals, from)) gaps.push({ from, to })
  }
  return gaps
}

/** The payments that are missing in a gap, at least one. */
export function missingPayments({ from, to }: FundingGap, intervals: readonly FundingInterval[]): number {
  let missing = 0
  let due = from + intervalAt(intervals, from)
  for (; due < to - intervalAt(intervals, due) / 2; due += intervalAt(intervals, due)) missing++
  return Math.max(missing, 1)
}

/** The times in which payments are unknown: before the feed begins, from -Infinity on, and its gaps. */
export function unfundedSpans(funding: Feed | null): FundingGap[] {
  const first = funding?.t[0]
  if (funding === null || first === undefined) return []
  const begin = first - intervalAt(fundingIntervals(funding), first)
  return [{ from: Number.NEGATIVE_INFINITY, to: begin }, ...fundingGaps(funding)]
}

/** The first of the spans in which a trade has a position, or null; null, too, if the ledger states its funding. */
export const unfundedSpanOf = (
  { entry_time, exit_time, funding }: Pick<Trade, 'entry_time' | 'exit_time' | 'funding'>,
  spans: readonly FundingGap[],
): FundingGap | null =>
  funding === null
    ? (spans.find(({ from, to }) => entry_time < to && (exit_time ?? Number.POSITIVE_INFINITY) > from) ??
      null)
    : null

/** The share of the time with a position, up to `endMs`, in which payments are unknown. O(trades x spans). */
export function unfundedShare(
  trades: readonly Pick<Trade, 'entry_time' | 'exit_time'>[],
  spans: readonly FundingGap[],
  endMs: number,
): number {
  let [held, unfunded] = [0, 0]
  for (const { entry_time, exit_time } of trades) {
    const exit = exit_time ?? endMs
    held += exit - entry_time
    for (const { from, to } of spans) unfunded += Math.max(0, Math.min(exit, to) - Math.max(entry_time, from))
  }
  return held === 0 ? 0 : unfunded / held
}

/** The instant up to which a feed is known to be whole: when its next payment is due. */
export function endOfFunding(feed: Feed): number {
  const last = feed.t.at(-1)!
  return last + intervalAt(fundingIntervals(feed), last)
}
