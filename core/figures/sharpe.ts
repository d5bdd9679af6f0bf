import { type Figure, undefinedBecause } from './figure.ts'
import { mean } from './mean.ts'
import { isFlat, sampleVariance } from './variance.ts'

/**
 * Annualised Sharpe ratio, `mean / std * sqrt(periodsPerYear)`, risk-free rate 0, sample deviation (n - 1). It does not
 * change when every return is multiplied by the same positive factor, so it is always taken from base returns.
 * Undefined with fewer than two points (`too_few_points`) and on a flat series (`zero_variance`).
 *
 * Source: William F. Sharpe, The Sharpe Ratio, Journal of Portfolio Management, 1994.
 */
export function sharpe(returns: Float64Array, periodsPerYear: number): Figure {
  if (returns.length < 2) return undefinedBecause('too_few_points')
  if (isFlat(returns)) return undefinedBecause('zero_variance')
  const average = mean(returns)
  return (average / Math.sqrt(sampleVariance(returns, average))) * Math.sqrt(periodsPerYear)
}
