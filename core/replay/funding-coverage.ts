import { DAY_MS } from '#core/calendar.ts'
import type { Funding } from './bars.ts'
import type { Trade } from './trade.ts'

/** Two payments with others missing between them: their times, epoch milliseconds. */
export type FundingGap = { readonly from: number; readonly to: number }

/** Intervals on each side that say which one is usual at a place: exchanges change the interval of a contract. */
const NEIGHBOURS = 10

/** Above this multiple of the usual interval, a payment is missing. Exchanges are late by seconds. */
const GAP_FACTOR = 1.5

/** No perpetual contract pays less often, so that a file with few rows is full of gaps instead of covering years. */
const LONGEST_INTERVAL_MS = DAY_MS

/** The gaps of a funding feed, in order of time. */
export function fundingGaps({ t }: Pick<Funding, 't'>): FundingGap[] {
  const intervals = intervalsOf(t)
  return Array.from(intervals.keys())
    .filter(i => intervals[i]! > GAP_FACTOR * usualInterval(intervals, i))
    .map(i => ({ from: t[i]!, to: t[i + 1]! }))
}

/** The times in which payments are unknown: before the feed begins, from -Infinity on, and its gaps. */
export function unfundedSpans(funding: Pick<Funding, 't'> | null): FundingGap[] {
  const first = funding?.t[0]
  if (funding === null || first === undefined) return []
  const begin = first - usualInterval(intervalsOf(funding.t), 0)
  return [{ from: Number.NEGATIVE_INFINITY, to: begin }, ...fundingGaps(funding)]
}

/** The first of the spans in which a trade has a position, or null. */
export const unfundedSpanOf = (
  { entry_time, exit_time }: Pick<Trade, 'entry_time' | 'exit_time'>,
  spans: readonly FundingGap[],
): FundingGap | null =>
  spans.find(({ from, to }) => entry_time < to && (exit_time ?? Number.POSITIVE_INFINITY) > from) ?? null

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
export const endOfFunding = ({ t }: Pick<Funding, 't'>): number =>
  t.at(-1)! + usualInterval(intervalsOf(t), t.length - 2)

const intervalsOf = (t: Float64Array): Float64Array => t.slice(1).map((ms, i) => ms - t[i]!)

/** The median of the intervals around the i-th, at most a day; a day if there is none. */
function usualInterval(intervals: Float64Array, i: number): number {
  const around = intervals.slice(Math.max(0, i - NEIGHBOURS), i + NEIGHBOURS + 1).sort()
  return Math.min(around[around.length >> 1] ?? LONGEST_INTERVAL_MS, LONGEST_INTERVAL_MS)
}
