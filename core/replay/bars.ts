import { toEpochDay, toIsoInstant } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import type { Bar } from './strategy.ts'

/**
 * Bars of one instrument and timeframe, one column each, ascending. `t` is the bar's OPEN in epoch
 * milliseconds, `v` the volume, NaN if the source left it blank. The columns may share memory, so that worker threads read
 * them without a copy.
 */
export type Bars = { readonly timeframeMs: number } & Readonly<Record<keyof Bar, Float64Array>>

/** Funding payments of an instrument, ascending. `rate` is a fraction of notional; if positive, longs pay. */
export type Funding = {
  readonly t: Float64Array
  readonly rate: Float64Array
  /** As the catalogue states them, ascending, the first from -Infinity on; without them they are inferred. */
  readonly intervals?: readonly FundingInterval[]
}

/** How often payments come after the one at `from`, epoch milliseconds. */
export type FundingInterval = { readonly from: number; readonly everyMs: number }

/** Bar `i` as a strategy sees it; `i` must be an index of the columns. */
export const barAt = (bars: Bars, i: number): Bar => ({
  t: bars.t[i]!,
  o: bars.o[i]!,
  h: bars.h[i]!,
  l: bars.l[i]!,
  c: bars.c[i]!,
  v: bars.v[i]!,
})

/**
 * Why a bar cannot be one of this timeframe, as the end of a sentence, or null: it must open on the grid, and its prices be `0 < l <=
 * min(o, c) <= max(o, c) <= h`, all finite.
 */
export function describeBarFault({ t, o, h, l, c }: Bar, timeframeMs: number): string | null {
  if (t % timeframeMs !== 0) return `must open on a multiple of ${timeframeMs} ms`
  if (l > 0 && l <= o && l <= c && o <= h && c <= h && h < Number.POSITIVE_INFINITY) return null
  return `must have 0 < low <= open, close <= high; it has o ${o}, h ${h}, l ${l}, c ${c}`
}

export const toBars = (timeframeMs: number, make: (name: keyof Bar) => Float64Array): Bars => ({
  timeframeMs,
  t: make('t'),
  o: make('o'),
  h: make('h'),
  l: make('l'),
  c: make('c'),
  v: make('v'),
})

/** The values on a SharedArrayBuffer, so that worker threads read them without a copy. */
export function toShared(values: ArrayLike<number>): Float64Array {
  const shared = new Float64Array(new SharedArrayBuffer(values.length * Float64Array.BYTES_PER_ELEMENT))
  shared.set(values)
  return shared
}

/** The bars from index `from` up to, not including, `to`: views on the same columns, no copy. */
export const sliceBars = (bars: Bars, from: number, to: number): Bars =>
  toBars(bars.timeframeMs, name => bars[name].subarray(from, to))

/** The index of the last time at or before `ms` in an ascending column, or -1 if all are later. O(log n). */
export function lastAtOrBefore(times: Float64Array, ms: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! <= ms) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The index of the bar that contains the instant (`t <= ms < t + timeframe`), or -1 if there is none. */
export function barHolding(bars: Bars, ms: number): number {
  const i = lastAtOrBefore(bars.t, ms)
  return i >= 0 && ms < bars.t[i]! + bars.timeframeMs ? i : -1
}

/**
 * Daily returns of holding the instrument of these bars, without costs: the last close of a day over the last close
 * before it, and of the first day over its first open. A day without bars returns 0, and the next day with bars catches
 * up. There must be at least one bar.
 */
export function buyAndHold({ t, o, c }: Bars): Series {
  const first = toEpochDay(t[0]!)
  const values = new Float64Array(toEpochDay(t.at(-1)!) - first + 1)
  let before = o[0]!
  for (let i = 0; i < t.length; i++) {
    const day = toEpochDay(t[i]!)
    if (!isLastOfDay({ t }, i, day)) continue
    values[day - first] = c[i]! / before - 1
    before = c[i]!
  }
  return { period: 'daily', first, values }
}

/** Whether no later bar opens on the day of bar `i`. */
export const isLastOfDay = ({ t }: Pick<Bars, 't'>, i: number, day = toEpochDay(t[i]!)): boolean =>
  i + 1 === t.length || toEpochDay(t[i + 1]!) !== day

/** The close of the last bar, epoch milliseconds. */
export const endOfBars = ({ t, timeframeMs }: Bars): number => t.at(-1)! + timeframeMs

// The largest time value of a Date; a time in nanoseconds exceeds it.
const LATEST_DATE_MS = 8.64e15

/** An instant for an error message: ISO if it is valid, otherwise the number; never throws. */
export const describeInstant = (ms: number): string =>
  Math.abs(ms) <= LATEST_DATE_MS ? toIsoInstant(ms) : `${ms} ms`
