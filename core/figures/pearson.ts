import { type Figure, undefinedBecause } from './figure.ts'
import { isFlat } from './moments.ts'
import { type Period, type Series, STEP_DAYS } from './series.ts'

/**
 * Pearson correlation of `count` values of `x` from `xFrom` on with as many of `y` from `yFrom` on; NaN if
 * either is flat over them (`max - min <= 1e-12`). Two passes, clamped to [-1, 1], and bit for bit the same
 * if `x` and `y` are swapped. It takes offsets instead of views, because a matrix has half a million pairs.
 */
export function pearson(
  x: Float64Array,
  xFrom: number,
  y: Float64Array,
  yFrom: number,
  count: number,
): number {
  if (isFlat(x, xFrom, xFrom + count) || isFlat(y, yFrom, yFrom + count)) return Number.NaN
  let xSum = 0
  let ySum = 0
  for (let i = 0; i < count; i++) {
    xSum += x[xFrom + i]!
    ySum += y[yFrom + i]!
  }
  const xMean = xSum / count
  const yMean = ySum / count
  let xx = 0
  let yy = 0
  let xy = 0
  for (let i = 0; i < count; i++) {
    const dx = x[xFrom + i]! - xMean
    const dy = y[yFrom + i]! - yMean
    xx += dx * dx
    yy += dy * dy
    xy += dx * dy
  }
  return clampCorrelation(xy / (Math.sqrt(xx) * Math.sqrt(yy)))
}

/** Rounding may put a perfect correlation a few units in the last place above 1. */
export const clampCorrelation = (rho: number): number => Math.min(Math.max(rho, -1), 1)

/** Fewest common points of a defined correlation: a month of days, a quarter of complete weeks. */
export const MIN_OVERLAP: Readonly<Record<Period, number>> = { daily: 30, weekly: 12 }

/**
 * The correlation of two series over their common points, and how many these are. NaN if they are fewer than 30 days or 12
 * weeks, or if one of the series is flat over them. Both must be of one period and in step.
 */
export function correlatePair(x: Series, y: Series): { readonly rho: number; readonly overlap: number } {
  const { xFrom, yFrom, count } = commonPoints(x, y)
  const isTooShort = count < MIN_OVERLAP[x.period]
  return { rho: isTooShort ? Number.NaN : pearson(x.values, xFrom, y.values, yFrom, count), overlap: count }
}

/** Where the common points of two series begin in each, and their number. */
function commonPoints(x: Series, y: Series): { xFrom: number; yFrom: number; count: number } {
  const shift = (y.first - x.first) / STEP_DAYS[x.period]
  const xFrom = Math.max(shift, 0)
  const yFrom = Math.max(-shift, 0)
  return { xFrom, yFrom, count: Math.max(Math.min(x.values.length - xFrom, y.values.length - yFrom), 0) }
}

/**
 * The correlation of `count` values of `x` with as many of `y`, from `yFrom` on. Undefined with fewer than `fewest`
 * (`too_few_points`), and if either is flat (`zero_variance`).
 */
export function correlationFigure(
  x: Float64Array,
  y: Float64Array,
  yFrom: number,
  count: number,
  fewest: number,
): Figure {
  if (count < fewest) return undefinedBecause('too_few_points')
  const rho = pearson(x, 0, y, yFrom, count)
  return Number.isNaN(rho) ? undefinedBecause('zero_variance') : rho
}
