import { describeInstant } from '#core/replay/bars.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { isSameBar, type KnownBars } from './known-bars.ts'

/** What comes from a feed cannot be used, and what follows it cannot be trusted: the runner stops. */
export class FeedError extends Error {
  constructor(feed: string, why: string) {
    super(`the feed ${feed}: ${why}`)
    this.name = 'FeedError'
  }
}

/**
 * What a bar of a feed is beside the bars that are known: the next one; one that is known already; one that is known with
 * other prices; or one in a hole that was taken for a gap when the bar after it came.
 */
export type Admission = 'next' | 'repeated' | 'revised' | 'gap'

/** Says what a bar is. Throws a FeedError for one that is off the grid or impossible. */
export function admitBar(feed: string, known: KnownBars, bar: Bar): Admission {
  const fault = describeFault(bar, known.timeframeMs)
  if (fault !== null) throw new FeedError(feed, `the bar at ${describeInstant(bar.t)} ${fault}`)
  const last = known.last()
  if (last === null || bar.t > last.t) return 'next'
  const there = known.at(bar.t)
  if (there !== null) return isSameBar(there, bar) ? 'repeated' : 'revised'
  return bar.t < known.first()!.t ? 'repeated' : 'gap' // what is older than the history matters to nobody
}

function describeFault({ t, o, h, l, c }: Bar, timeframeMs: number): string | null {
  if (t % timeframeMs !== 0) return `must open on a multiple of ${timeframeMs} ms: mend the feed`
  if (l > 0 && l <= o && l <= c && o <= h && c <= h && h < Number.POSITIVE_INFINITY) return null
  return `must have 0 < low <= open, close <= high; it has o ${o}, h ${h}, l ${l}, c ${c}: mend the feed`
}
