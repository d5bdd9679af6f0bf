import { type Figure, isUndefined, NEGLIGIBLE, undefinedBecause } from './figure.ts'
import { isFlat, mean, sampleDeviation, sampleVariance, standardizedMoments } from './moments.ts'
import { DAYS_PER_YEAR, FEWEST_DAYS } from './series.ts'

/**
 * A figure of a year, made of at least 90 daily returns, or of half a year of weekly or monthly ones; with fewer it is
 * undefined (`too_few_points`): annualising multiplies the luck of a few days as it does everything else.
 */
export const annualized = (returns: Float64Array, periodsPerYear: number, of: typeof sharpe): Figure =>
  returns.length < (periodsPerYear === DAYS_PER_YEAR ? FEWEST_DAYS : periodsPerYear / 2)
    ? undefinedBecause('too_few_points')
    : of(returns, periodsPerYear)

/**
 * Annualised Sharpe ratio, `mean / std * sqrt(periodsPerYear)`, risk-free rate 0, sample deviation (n - 1).
 * It does not change when every return is multiplied by the same positive factor, so it is always taken from
 * base returns. Undefined with fewer than two points (`too_few_points`) and on a flat series
 * (`zero_variance`).
 *
 * Source: William F. Sharpe, The Sharpe Ratio, Journal of Portfolio Management, 1994.
 */
export function sharpe(returns: Float64Array, periodsPerYear: number): Figure {
  if (returns.length < 2) return undefinedBecause('too_few_points')
  if (isFlat(returns)) return undefinedBecause('zero_variance')
  const average = mean(returns)
  return (average / Math.sqrt(sampleVariance(returns, average))) * Math.sqrt(periodsPerYear)
}

/** The 95 % quantile of the standard normal distribution. */
export const Z_95 = 1.6448536269514722

/**
 * The uncertainty of a Sharpe ratio, given skewness and fat tails: `probabilistic`, the probability that the
 * true ratio is positive, `Phi(SR * sqrt((n - 1) / v))`; `standardError`, per period, `sqrt(v / (n - 1))`;
 * and `minTrackRecord`, the points after which the observed ratio would be positive with 95 % confidence, `1
 * + v * (Z_95 / SR)^2`. `SR` is the ratio per period, not annualised, and `v = 1 - skewness * SR +
 * (kurtosis_excess + 2) / 4 * SR^2`. Undefined with fewer than 4 points (`too_few_points`) and on a flat
 * series (`zero_variance`); the track record also if `SR <= 1e-12` (`non_positive_sharpe`), and a
 * probability if `v` is 0 (`zero_denominator`), which only a series of two distinct values has.
 *
 * `deflated` is the probability that the true ratio is above the one expected of the best of so many trials
 * without skill; undefined if their number is unknown (`no_trials`).
 *
 * Sources: David H. Bailey and Marcos Lopez de Prado, The Sharpe Ratio Efficient Frontier, Journal of Risk,
 * 2012, and The Deflated Sharpe Ratio, Journal of Portfolio Management, 2014.
 *
 * @param trials variants that were tried until this one was found, itself included; null if unknown
 */
export function sharpeInference(returns: Float64Array, trials: number | null = null) {
  const { skewness, kurtosisExcess } = standardizedMoments(returns)
  // The kurtosis needs the most points, so it is undefined whenever one of the other parts is.
  if (isUndefined(kurtosisExcess) || isUndefined(skewness)) {
    const none = kurtosisExcess
    return {
      probabilistic: none,
      deflated: ifDeclared(trials, () => none),
      standardError: none,
      minTrackRecord: none,
    }
  }
  const ratio = mean(returns) / sampleDeviation(returns)
  const v = Math.max(1 - skewness * ratio + ((kurtosisExcess + 2) / 4) * ratio * ratio, 0)
  const degrees = returns.length - 1
  const isAbove = (hurdle: number): Figure =>
    v > NEGLIGIBLE
      ? normalCdf((ratio - hurdle) * Math.sqrt(degrees / v))
      : undefinedBecause('zero_denominator')
  return {
    probabilistic: isAbove(0),
    deflated: ifDeclared(trials, count => isAbove(bestWithoutSkill(count) / Math.sqrt(degrees))),
    standardError: Math.sqrt(v / degrees),
    minTrackRecord:
      ratio > NEGLIGIBLE ? 1 + (v * Z_95 * Z_95) / (ratio * ratio) : undefinedBecause('non_positive_sharpe'),
  }
}

const ifDeclared = (trials: number | null, figure: (trials: number) => Figure): Figure =>
  trials === null ? undefinedBecause('no_trials') : figure(trials)

const EULER = 0.5772156649015329

/**
 * The expected largest of `trials` independent standard normal values, in the approximation `(1 - g) *
 * Phi^-1(1 - 1/T) + g * Phi^-1(1 - 1/(T e))` of extreme value theory, g Euler's constant; 0 for one trial.
 *
 * @param trials a positive integer
 */
export function bestWithoutSkill(trials: number): number {
  if (trials === 1) return 0
  // Phi^-1(1 - p) = -Phi^-1(p), and 1 - p would lose the digits of a small p.
  return (EULER - 1) * normalQuantile(1 / trials) - EULER * normalQuantile(1 / (trials * Math.E))
}

/** Newton's method needs fewer than ten steps. */
const MOST_STEPS = 50

/**
 * The quantile `Phi^-1(p)` of the standard normal distribution, `1e-300 <= p < 1`, to 1e-12. Newton's method
 * on `ln Phi(x) = ln p`, from `-sqrt(-2 ln 2p)`: `Phi(x) <= exp(-x^2/2) / 2` for negative x, so the start is
 * below the quantile, and because `ln Phi` is concave every step stays below it and comes nearer.
 */
export function normalQuantile(p: number): number {
  if (p > 0.5) return -normalQuantile(1 - p)
  let x = 0 - Math.sqrt(-2 * Math.log(2 * p))
  for (let i = 0; i < MOST_STEPS; i++) {
    const below = normalCdf(x)
    const step = (Math.log(p / below) * below) / density(x)
    if (x + step <= x) break // what is left is rounding
    x += step
  }
  return x
}

/** Beyond this the continued fraction is faster and keeps the relative precision of the tail. */
const TAIL = 3

/** Levels of the continued fraction: at 3, where it converges slowest, sixty leave only rounding errors. */
const FRACTION_LEVELS = 60

const DENSITY_AT_ZERO = 1 / Math.sqrt(2 * Math.PI)

/**
 * Standard normal distribution function `Phi(x)`. In the middle by its power series `1/2 + phi(x) * (x +
 * x^3/3 + x^5/(3*5) + ...)`, whose terms have one sign, so nothing cancels; in the tails by Laplace's
 * continued fraction `phi(x) / (x + 1/(x + 2/(x + 3/...)))`. The absolute error is below 3e-16; below -3 the
 * relative error is small too.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.11 and 26.2.14.
 */
export function normalCdf(x: number): number {
  if (x < -TAIL) return upperTail(-x)
  if (x > TAIL) return 1 - upperTail(x)
  return 0.5 + density(x) * oddSeries(x)
}

const density = (x: number): number => DENSITY_AT_ZERO * Math.exp(-0.5 * x * x)

function oddSeries(x: number): number {
  let sum = 0
  let term = x
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term
    term *= (x * x) / odd
  }
  return sum
}

/** `1 - Phi(x)` for `x > 3`, from the innermost level outwards. */
function upperTail(x: number): number {
  let denominator = x
  for (let level = FRACTION_LEVELS; level > 0; level--) denominator = x + level / denominator
  return density(x) / denominator
}

/**
 * Annualised Sortino ratio, `mean / downside * sqrt(periodsPerYear)`, target return 0. Like the Sharpe ratio
 * it ignores a positive factor on the returns. Undefined with fewer than two points (`too_few_points`) and
 * without downside, `<= 1e-12` (`no_losses`).
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
 * Downside deviation per period, `sqrt(mean(min(r, 0)^2))`: the mean runs over all periods, also those
 * without a loss. At least one return.
 */
export function downsideDeviation(returns: Float64Array): number {
  let sum = 0
  for (let i = 0; i < returns.length; i++) {
    const value = returns[i]!
    if (value < 0) sum += value * value
  }
  return Math.sqrt(sum / returns.length)
}
