import { type Figure, undefinedBecause } from './figure.ts'
import { isFlat, mean } from './moments.ts'
import { lastDay, type Period, type Series, sliceSeries } from './series.ts'

/** The sums of the squares and products of the deviations of two columns of one length from their means. */
export function products(x: Float64Array, y: Float64Array) {
  const [xMean, yMean] = [mean(x), mean(y)]
  let [xx, yy, xy] = [0, 0, 0]
  for (let i = 0; i < x.length; i++) {
    const dx = x[i]! - xMean
    const dy = y[i]! - yMean
    xx += dx * dx
    yy += dy * dy
    xy += dx * dy
  }
  return { xx, yy, xy }
}

/**
 * Pearson correlation of two columns of one length; NaN if either is flat (`max - min <= 1e-12`). Two passes, clamped to
 * [-1, 1], and bit for bit the same if `x` and `y` are swapped.
 */
export function pearson(x: Float64Array, y: Float64Array): number {
  if (isFlat(x) || isFlat(y)) return Number.NaN
  const { xx, yy, xy } = products(x, y)
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
  const own = sliceSeries(x, y.first, lastDay(y)).values
  const its = sliceSeries(y, x.first, lastDay(x)).values
  return { rho: own.length < MIN_OVERLAP[x.period] ? Number.NaN : pearson(own, its), overlap: own.length }
}

/**
 * The correlation of two columns. Undefined with fewer than `fewest` values (`too_few_points`), and if either is flat
 * (`zero_variance`).
 */
export function correlationFigure(x: Float64Array, y: Float64Array, fewest: number): Figure {
  if (x.length < fewest) return undefinedBecause('too_few_points')
  const rho = pearson(x, y)
  return Number.isNaN(rho) ? undefinedBecause('zero_variance') : rho
}
