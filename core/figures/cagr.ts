import { type Figure, undefinedBecause } from './figure.ts'
import { DAYS_PER_YEAR } from './periods-per-year.ts'

/**
 * Compound annual growth rate, `E_n^(365 / n) - 1`, a fraction; -1 for an account without equity. Undefined on fewer
 * than 365 days (`less_than_one_year`): a month extrapolated to a year says nothing about a year.
 *
 * @param curve equity with its baseline: `n + 1` points
 */
export function cagr(curve: Float64Array): Figure {
  const n = curve.length - 1
  if (n < DAYS_PER_YEAR) return undefinedBecause('less_than_one_year')
  return curve[n]! ** (DAYS_PER_YEAR / n) - 1
}
