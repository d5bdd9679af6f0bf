import { type Figure, NEGLIGIBLE, undefinedBecause } from './figure.ts'

/**
 * Quantile of type 7, linear between order statistics: with `h = (n - 1) * p`, the value at `h` in the sorted
 * list. It is the default of R, numpy and Excel. Source: Hyndman and Fan, Sample Quantiles in Statistical
 * Packages, 1996.
 *
 * @param sorted ascending, at least one value
 * @param p 0 to 1
 */
export function quantile(sorted: Float64Array, p: number): number {
  const h = (sorted.length - 1) * p
  const below = Math.floor(h)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  return low + (h - below) * (high - low)
}

/**
 * The `1 / oneIn` quantile: 20 for the 5 % quantile, 100 for the 1 % quantile. A loss is negative. Undefined
 * with fewer than `oneIn` values (`too_few_points`).
 *
 * @param sorted ascending
 */
export const tailQuantile = (sorted: Float64Array, oneIn: number): Figure =>
  sorted.length < oneIn ? undefinedBecause('too_few_points') : quantile(sorted, 1 / oneIn)

/**
 * The mean of the tail below that quantile (expected shortfall): of the `floor((n - 1) / oneIn) + 1` smallest
 * values, so that the tail is never empty and uses the same observations as the quantile. Both are empirical;
 * no distribution is assumed. Undefined in the same cases. `oneIn` is an integer, so that the count is exact.
 */
export function tailMean(sorted: Float64Array, oneIn: number): Figure {
  if (sorted.length < oneIn) return undefinedBecause('too_few_points')
  const count = Math.floor((sorted.length - 1) / oneIn) + 1
  let sum = 0
  for (let i = 0; i < count; i++) sum += sorted[i]!
  return sum / count
}

/**
 * Tail ratio, `|P95| / |P5|`: the size of good days against bad ones. A positive factor on the values does
 * not change it. Undefined with fewer than 20 values (`too_few_points`) and if the 5 % quantile is 0
 * (`zero_denominator`).
 */
export function tailRatio(sorted: Float64Array): Figure {
  if (sorted.length < 20) return undefinedBecause('too_few_points') // fewest values with a 5 % tail
  const low = Math.abs(quantile(sorted, 0.05))
  return low > NEGLIGIBLE ? Math.abs(quantile(sorted, 0.95)) / low : undefinedBecause('zero_denominator')
}
