import { type Figure, undefinedBecause } from './figure.ts'
import { pearson } from './pearson.ts'
import { isFlat } from './variance.ts'

/**
 * Stability: R^2 of the linear regression of the log equity at the ends of the days on time; 1 is steady growth, or
 * steady loss. The baseline is not an observation. Undefined with fewer than 3 points (`too_few_points`) and where the
 * returns or the log equity are flat (`zero_variance`).
 *
 * @param returns the returns of the days
 * @param curve the equity with its baseline, without ruin
 */
export function stability(returns: Float64Array, curve: Float64Array): Figure {
  if (returns.length < 3) return undefinedBecause('too_few_points')
  if (isFlat(returns)) return undefinedBecause('zero_variance')
  const rho = pearson(Float64Array.from(returns.keys()), 0, curve.map(Math.log), 1, returns.length)
  return Number.isNaN(rho) ? undefinedBecause('zero_variance') : rho * rho
}
