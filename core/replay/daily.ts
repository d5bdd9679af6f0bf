import { DAY_MS, type EpochDay, toEpochDay } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import { type Bars, describeInstant } from './bars.ts'

/** Equity at the close of each UTC day, and the daily returns that follow from it. */
export type DailyMarks = {
  readonly daily: Series
  /** Equity at the close of each day of `daily`. */
  readonly equity: Float64Array
  /** Days of `daily` on which no bar opened: return 0; the next day with a bar catches up. */
  readonly days_without_bars: EpochDay[]
}

/**
 * For each UTC day from the first bar on: `equity` at its last close, NaN on a day without bars, and `growth`, the factor
 * since the last day with bars (0, and unused, on a day without).
 */
export type DailyCloses = { readonly first: EpochDay } & Readonly<Record<'equity' | 'growth', Float64Array>>

export function createDailyCloses({ t }: Bars): DailyCloses {
  const first = toEpochDay(t[0]!)
  const days = toEpochDay(t.at(-1)!) - first + 1
  return { first, equity: new Float64Array(days).fill(Number.NaN), growth: new Float64Array(days) }
}

/** The first UTC day that the bars cover from its midnight on. */
export const firstCompleteDay = ({ t }: Bars): EpochDay => toEpochDay(t[0]! - 1) + 1

/**
 * Daily returns from the day `from` on: the growth of each day since the last one with bars, less 1. The baseline
 * is the last known equity before it, or 1; an equity of 0 stays 0 and returns 0.
 */
export function toDailyMarks(closes: DailyCloses, from: EpochDay): DailyMarks {
  const offset = from - closes.first
  const equity = closes.equity.slice(offset)
  const returns = new Float64Array(equity.length)
  const daysWithoutBars: EpochDay[] = []
  let before = closes.equity.subarray(0, offset).findLast(known => !Number.isNaN(known)) ?? 1
  for (let i = 0; i < equity.length; i++) {
    if (Number.isNaN(equity[i])) {
      daysWithoutBars.push(from + i)
      equity[i] = before
    } else returns[i] = closes.growth[offset + i]! - 1
    before = equity[i]!
  }
  return {
    daily: { period: 'daily', first: from, values: returns },
    equity,
    days_without_bars: daysWithoutBars,
  }
}

/**
 * The first day of a series over these bars: `from` or, if it is not given, the first that they cover from its midnight. Throws
 * unless there are bars from that day on, of which none straddles midnight, because a close is booked on the UTC day of its open.
 * `subject` names the strategy.
 */
export function inceptionOf(subject: string, bars: Bars, from: EpochDay | undefined): EpochDay {
  const { t, timeframeMs } = bars
  if (t.length === 0) throw new Error(`${subject}: there are no bars; provide at least one`)
  if (!(timeframeMs > 0) || DAY_MS % timeframeMs !== 0) {
    throw new Error(
      `${subject}: a timeframe must divide the day (${DAY_MS} ms) so that no bar straddles midnight; ` +
        `this one is ${timeframeMs} ms: provide bars of 1d or of a part of it`,
    )
  }
  const [first, last] = [firstCompleteDay(bars), toEpochDay(t.at(-1)!)]
  const day = from ?? first
  if (Number.isInteger(day) && day >= first && day <= last) return day
  throw new Error(
    `${subject}: the inception must be a day that the bars cover from its midnight, ${describeDay(first)} to ` +
      `${describeDay(last)}; it is ${describeDay(day)}: change the inception or provide more bars`,
  )
}

// An invalid epoch day (a fraction, NaN) must not cause another error here.
const describeDay = (day: EpochDay): string => describeInstant(day * DAY_MS)
