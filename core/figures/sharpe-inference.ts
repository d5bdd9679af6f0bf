import { type Figure, isUndefined, undefinedBecause } from './figure.ts'
import { mean } from './mean.ts'
import { standardizedMoments } from './moments.ts'
import { NEGLIGIBLE } from './negligible.ts'
import { normalCdf } from './normal-cdf.ts'
import { sampleDeviation } from './variance.ts'

/** The 95 % quantile of the standard normal distribution. */
const Z_95 = 1.6448536269514722

export type SharpeInference = {
  /** Probability, 0 to 1, that the true Sharpe ratio is positive: `Phi(SR * sqrt((n - 1) / v))`. */
  readonly probabilistic: Figure
  /** Standard error of the Sharpe ratio per period: `sqrt(v / (n - 1))`. */
  readonly standardError: Figure
  /** Points after which the ratio observed would be positive with 95 %: `1 + v * (1.645 / SR)^2`. */
  readonly minTrackRecord: Figure
}

/**
 * How far a Sharpe ratio can be trusted, given skewness and fat tails. `SR` is the ratio per period, not annualised, and
 * `v = 1 - skewness * SR + (kurtosis_excess + 2) / 4 * SR^2`. Undefined with fewer than 4 points (`too_few_points`) and
 * on a flat series (`zero_variance`); the track record also where `SR <= 1e-12` (`non_positive_sharpe`), and the
 * probability where `v` is 0 (`zero_denominator`), which takes a series of two values only.
 *
 * Source: David H. Bailey and Marcos Lopez de Prado, The Sharpe Ratio Efficient Frontier, Journal of Risk, 2012.
 */
export function sharpeInference(returns: Float64Array): SharpeInference {
  const { skewness, kurtosisExcess } = standardizedMoments(returns)
  // The kurtosis needs the most points, so it is undefined wherever one of the other parts is.
  if (isUndefined(kurtosisExcess) || isUndefined(skewness)) return allOf(kurtosisExcess)
  const ratio = mean(returns) / sampleDeviation(returns)
  const v = Math.max(1 - skewness * ratio + ((kurtosisExcess + 2) / 4) * ratio * ratio, 0)
  const degrees = returns.length - 1
  return {
    probabilistic:
      v > NEGLIGIBLE ? normalCdf(ratio * Math.sqrt(degrees / v)) : undefinedBecause('zero_denominator'),
    standardError: Math.sqrt(v / degrees),
    minTrackRecord:
      ratio > NEGLIGIBLE ? 1 + (v * Z_95 * Z_95) / (ratio * ratio) : undefinedBecause('non_positive_sharpe'),
  }
}

const allOf = (figure: Figure): SharpeInference => ({
  probabilistic: figure,
  standardError: figure,
  minTrackRecord: figure,
})
