import { DAY_MS, type EpochDay, toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { lastDay } from '#core/numerics/series.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { Book } from '../book/book.ts'
import { BookError, type Problem } from '../book/problem.ts'

/** Bars older than this mean that a feed has stopped: a nightly book is at most a day and a few hours behind. */
export const STALE_MS = 36 * 3_600_000

export type WindowOptions = {
  readonly nowMs: number
  /** The last day of a build of the past; null for a build of now. */
  readonly asOf: EpochDay | null
  readonly allowStale: boolean
}

/**
 * The last day of the public window: the last UTC day that is complete in every set of bars (or, in a book without
 * bars, the latest day reported), no later than `asOf`, less the embargo. Throws a BookError for stale bars, which a
 * build of the past and `allowStale` permit, and for a window that ends before anything begins.
 */
export function lastPublicDay(book: Book, options: WindowOptions): EpochDay {
  const ends = [...book.bars.values()].map(({ bars }) => lastCompleteDay(bars))
  const complete = ends.length > 0 ? Math.min(...ends) : lastReportedDay(book)
  const last = Math.min(complete, options.asOf ?? complete) - book.service.embargo_days
  const problems = [...staleBars(book, options), ...emptyBars(book, last)]
  if (problems.length > 0) throw new BookError(book.dir, problems)
  return last
}

/** The last UTC day whose every hour the bars cover, gaps aside: the day before the one that the last bar ends in. */
export const lastCompleteDay = (bars: Bars): EpochDay => toEpochDay(endMs(bars)) - 1

const endMs = ({ t, timeframeMs }: Bars): number => t.at(-1)! + timeframeMs

function lastReportedDay({ strategies }: Book): EpochDay {
  const days = strategies.flatMap(({ source }) => (source.kind === 'returns' ? [lastDay(source.daily)] : []))
  return Math.max(...days)
}

function staleBars({ bars }: Book, { nowMs, asOf, allowStale }: WindowOptions): Problem[] {
  if (allowStale || asOf !== null) return []
  return [...bars.values()]
    .filter(file => nowMs - endMs(file.bars) > STALE_MS)
    .map(({ path, bars: stale }) => ({
      file: path,
      message:
        `the newest bar ends at ${toIsoInstant(endMs(stale))}, more than ${STALE_MS / 3_600_000} hours ago: bring ` +
        'newer bars, or build the past with --as-of DATE, or accept them with --allow-stale',
    }))
}

function emptyBars({ bars }: Book, last: EpochDay): Problem[] {
  return [...bars.values()]
    .filter(file => file.bars.t[0]! >= (last + 1) * DAY_MS)
    .map(({ path, bars: late }) => ({
      file: path,
      message: `the bars begin at ${toIsoInstant(late.t[0]!)}, after the last public day ${toIsoDate(last)}`,
    }))
}

/** The bars that had closed by the end of a day: views, not copies. */
export function cutBars(bars: Bars, last: EpochDay): Bars {
  const end = (last + 1) * DAY_MS
  let count = bars.t.length
  while (count > 0 && bars.t[count - 1]! + bars.timeframeMs > end) count--
  const { timeframeMs, t, o, h, l, c, v } = bars
  return {
    timeframeMs,
    t: t.subarray(0, count),
    o: o.subarray(0, count),
    h: h.subarray(0, count),
    l: l.subarray(0, count),
    c: c.subarray(0, count),
    v: v.subarray(0, count),
  }
}
