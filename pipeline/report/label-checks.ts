import { sampleCorrelation } from 'simple-statistics'
import { type Bars, endOfBars, lastAtOrBefore } from '#core/replay/bars.ts'
import type { Found } from './finding.ts'
import { spellShift } from './trade-checks.ts'

/** The newest bars are enough to find a shift, and all of them would cost as many look-ups for each of them. */
const COMPARED_BARS = 2000

/** Fewer returns correlate by chance. */
const LEAST_RETURNS = 100

/** Two markets that move together correlate at least so much where their labels agree, and so much less elsewhere. */
const TOGETHER = { rho: 0.6, betterBy: 0.4 }

/** A bar of an hour hardly moves the returns of days; of one market, what is left unexplained shows it. */
const SAME_MARKET = { betterBy: 0.02, lessUnexplained: 4 }

const HOUR_MS = 3_600_000
const ZONE_HOURS = 14

/**
 * Compares two sets of bars whose prices move together: if their returns agree only where one is moved by some hours or
 * by a bar, the labels of one are of another zone, or name the close of the bar.
 */
export function compareLabels(bars: Bars, other: Bars, otherName: string): Found[] {
  const coarse = bars.timeframeMs >= other.timeframeMs ? bars : other
  const fine = coarse === bars ? other : bars
  const now = correlate(coarse, fine, 0)
  if (now === null) return []
  const best = shiftsOf(coarse, fine)
    .map(shift => ({ shift, rho: correlate(coarse, fine, shift) ?? 0 }))
    .reduce((a, b) => (b.rho > a.rho ? b : a), { shift: 0, rho: now })
  if (!isBetter(best.rho, now)) return []
  const shift = coarse === bars ? best.shift : -best.shift
  const what =
    `expected the returns of the same times as ${otherName}, got those that it has ` +
    `${spellShift(shift, bars.timeframeMs)} (correlation ${best.rho.toFixed(2)}, and ${now.toFixed(2)} at the same times)`
  const fix = 'correct the zone of the times of one of them; a bar has the time of its open'
  const span = { from: bars.t[0]!, to: bars.t.at(-1)!, at: [], count: bars.t.length }
  return [{ code: 'shifted_labels', severity: 'serious', ...span, what, fix }]
}

const isBetter = (best: number, now: number): boolean =>
  (best >= TOGETHER.rho && best - now >= TOGETHER.betterBy) ||
  (best - now >= SAME_MARKET.betterBy && 1 - now > SAME_MARKET.lessUnexplained * (1 - best))

const shiftsOf = (coarse: Bars, fine: Bars): number[] => {
  const step = Math.max(fine.timeframeMs, HOUR_MS)
  const count = Math.floor((ZONE_HOURS * HOUR_MS) / step)
  const zones = Array.from({ length: 2 * count + 1 }, (_, i) => (i - count) * step)
  return [...zones, -coarse.timeframeMs, coarse.timeframeMs].filter(shift => shift !== 0)
}

/** The correlation of the returns of `coarse` with those of `fine` that are later by a shift; null if too few. */
function correlate(coarse: Bars, fine: Bars, shift: number): number | null {
  const start = Math.max(1, lastAtOrBefore(coarse.t, endOfBars(fine)) - COMPARED_BARS)
  const [a, b]: [number[], number[]] = [[], []]
  for (let i = start; i < coarse.t.length && a.length < COMPARED_BARS; i++) {
    const begin = coarse.t[i]! + shift
    const ratio = closeAt(fine, begin + coarse.timeframeMs) / closeAt(fine, begin)
    if (Number.isNaN(ratio) || coarse.t[i]! - coarse.t[i - 1]! !== coarse.timeframeMs) continue
    a.push(Math.log(coarse.c[i]! / coarse.c[i - 1]!))
    b.push(Math.log(ratio))
  }
  const rho = a.length < LEAST_RETURNS ? Number.NaN : sampleCorrelation(a, b)
  return Number.isNaN(rho) ? null : rho
}

/** The close of the bar that ends at an instant; NaN without one. */
function closeAt({ t, c, timeframeMs }: Bars, end: number): number {
  const i = lastAtOrBefore(t, end - timeframeMs)
  return t[i] === end - timeframeMs ? c[i]! : Number.NaN
}
