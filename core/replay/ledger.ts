import type { OpenPosition } from './state.ts'
import type { Trade } from './trade.ts'

type Span = Pick<Trade, 'entry_time' | 'exit_time'>

/** The time from which another trade may begin; an open trade has no end. */
export const endOf = ({ exit_time }: Span): number => exit_time ?? Number.POSITIVE_INFINITY

/**
 * Indices of the trades in order of time: by entry, then exit, then row (the sort is stable). So a trade of
 * duration 0 is over before the next one that enters at the same instant.
 */
export const byEntry = (trades: readonly Span[]): number[] =>
  Array.from(trades.keys()).sort((i, j) => {
    const [a, b] = [trades[i]!, trades[j]!]
    return a.entry_time - b.entry_time || (endOf(a) === endOf(b) ? 0 : endOf(a) - endOf(b))
  })

/** Trades that enter before an earlier one has ended, each with that one. An entry at its exit is allowed. */
export function findOverlaps(trades: readonly Trade[]) {
  const overlaps: Readonly<Record<'index' | 'other', number>>[] = []
  let longest = -1
  for (const index of byEntry(trades)) {
    const end = longest < 0 ? Number.NEGATIVE_INFINITY : endOf(trades[longest]!)
    if (trades[index]!.entry_time < end) overlaps.push({ index, other: longest })
    if (endOf(trades[index]!) > end) longest = index
  }
  return overlaps
}

/**
 * The trade as of `end`: null if it had not entered yet, without exit and outcome if it was open. So a
 * computation of the past cannot depend on later events.
 */
export function cutTrade(trade: Trade, end: number): Trade | null {
  if (trade.entry_time >= end) return null
  if (endOf(trade) < end) return trade
  return { ...trade, ...NO_OUTCOME }
}

const NO_OUTCOME = {
  ...{ exit_time: null, exit_price: null, exit_reason: null },
  ...{ account_return: null, fees: null, funding: null },
}

/** The trade of a position that is still open: null if the exit will be. */
export const openTrade = ({ position, leverage }: OpenPosition): Trade => ({
  ...position,
  leverage,
  ...NO_OUTCOME,
})
