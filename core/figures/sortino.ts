import { type Figure, NEGLIGIBLE, undefinedBecause } from './figure.ts'
import { mean } from './moments.ts'

/**
 * Annualised Sortino ratio, `mean / downside * sqrt(periodsPerYear)`, target return 0. Like the Sharpe ratio it ignores
 * a positive factor on the returns. Undefined with fewer than two points (`too_few_points`) and without downside,
 * `<= 1e-12` (`no_losses`).
 *
 * Source: Frank A. Sortino and Robert van der Meer, Downside Risk, Journal of Portfolio Management, 1991.
 */
export function sortino(returns: Float64Array, periodsPerYear: number): Figure {
  if (returns.length < 2) return undefinedBecause('too_few_points')
  const downside = downsideDeviation(returns)
  if (downside <= NEGLIGIBLE) return undefinedBecause('no_losses')
  return (mean(returns) / downside) * Math.sqrt(periodsPerYear)
}

/**
 * Downside deviation per period, `sqrt(mean(min(r, 0)^2))`: the mean runs over all periods, also those without a loss.
 * At least one return.
 */
export function downsideDeviation(returns: Float64Array): number {
  let sum = 0
  for (let i = 0; i < returns.length; i++) {
    const value = returns[i]!
    if (value < 0) sum += value * value
  }
  return Math.sqrt(sum / returns.length)
}
