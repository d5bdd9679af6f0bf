/**
 * Quantile of type 7, linear between order statistics: with `h = (n - 1) * p`, the value at `h` in the sorted list. It
 * is the default of R, numpy and Excel. Source: Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996.
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
