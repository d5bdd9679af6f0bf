import { DAY_MS } from '#core/calendar.ts'
import { type Figure, percent, share, undefinedBecause } from './figure.ts'
import { lastDay, type Series } from './series.ts'
import type { TradeOutcome } from './trade-statistics.ts'

/**
 * The `exposure` block: the share of the window in which positions are open; the window is the days of the
 * series from midnight to midnight. Undefined without positions (`no_trades`), because a strategy that only
 * reports its returns has positions too. It does not depend on the equity, so it is the same at every risk
 * level.
 */
export function exposureFigures(daily: Series, positions: readonly Position[]) {
  const begin = daily.first * DAY_MS
  const end = (lastDay(daily) + 1) * DAY_MS
  const timeOf = (some: readonly Position[]) => positionTime(some, begin, end)
  const ofWindow = (value: number): Figure => {
    if (positions.length === 0) return undefinedBecause('no_trades')
    return end > begin ? value : undefinedBecause('too_few_points')
  }
  const marketPct = ({ unionMs }: { unionMs: number }): Figure => ofWindow(percent(unionMs / (end - begin)))
  const all = timeOf(positions)
  return {
    active_days_pct: share(daily.values.filter(value => value !== 0).length, daily.values.length),
    time_in_market_pct: marketPct(all),
    long_time_pct: marketPct(timeOf(positions.filter(({ side }) => side === 'long'))),
    short_time_pct: marketPct(timeOf(positions.filter(({ side }) => side === 'short'))),
    average_concurrent_positions: ofWindow(all.totalMs / (end - begin)),
    max_concurrent_positions: ofWindow(all.maxConcurrent),
  }
}

type Position = Pick<TradeOutcome, 'side' | 'entry_time' | 'exit_time'>
type Interval = Omit<Position, 'side'>

/**
 * The time in the window `[beginMs, endMs)` during which positions are open; the parts outside are cut off. A
 * position is open over `[entry, exit)`. At equal instants exits come before entries, so a reversal never
 * counts as two positions at once.
 */
export function positionTime(positions: readonly Interval[], beginMs: number, endMs: number) {
  const inside = positions.filter(p => Math.max(p.entry_time, beginMs) < Math.min(p.exit_time, endMs))
  const entries = Float64Array.from(inside, p => Math.max(p.entry_time, beginMs)).sort()
  const exits = Float64Array.from(inside, p => Math.min(p.exit_time, endMs)).sort()
  // The time with at least one position, and the sum of the times of all: two at once count twice.
  const result = { unionMs: 0, totalMs: 0, maxConcurrent: 0 }
  let open = 0
  let entered = 0
  let now = beginMs
  for (const exit of exits) {
    for (; entered < entries.length && entries[entered]! < exit; entered++) {
      advanceTo(entries[entered]!)
      open++
      result.maxConcurrent = Math.max(result.maxConcurrent, open)
    }
    advanceTo(exit)
    open--
  }
  return result

  function advanceTo(instant: number): void {
    if (open > 0) result.unionMs += instant - now
    result.totalMs += open * (instant - now)
    now = instant
  }
}
