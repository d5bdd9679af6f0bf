import { type Figure, undefinedBecause } from './figure.ts'
import { pearson } from './pearson.ts'

/**
 * Autocorrelation at lag 1: the Pearson correlation of `r_1..r_{n-1}` with `r_2..r_n`, each with its own mean. Undefined
 * with fewer than 3 points (`too_few_points`) and where either part is flat (`zero_variance`).
 */
export function autocorrelationLag1(returns: Float64Array): Figure {
  if (returns.length < 3) return undefinedBecause('too_few_points')
  const rho = pearson(returns, 0, returns, 1, returns.length - 1)
  return Number.isNaN(rho) ? undefinedBecause('zero_variance') : rho
}
