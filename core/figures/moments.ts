import { type Figure, NEGLIGIBLE, undefinedBecause } from './figure.ts'

/** Arithmetic mean by plain summation; NaN without values, so callers check the length. */
export function mean(values: Float64Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return sum / values.length
}

/**
 * Values that differ by at most this count as equal: their variance is rounding, and a ratio to it is noise
 * (a constant series would have a Sharpe ratio of 8.8e16).
 */
const FLAT_RANGE = 1e-12

/**
 * Whether `max - min <= 1e-12`: zero variance. An empty array is flat.
 *
 * Cost: it stops at the first values that differ.
 */
export function isFlat(values: Float64Array): boolean {
  let low = Infinity
  let high = -Infinity
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value < low) low = value
    if (value > high) high = value
    if (high - low > FLAT_RANGE) return false
  }
  return true
}

/**
 * Sample variance, `sum((x - mean)^2) / (n - 1)`, of at least two values. Two passes: the shortcut `E[x^2] -
 * E[x]^2` loses every digit if the mean is large compared with the deviation.
 */
export function sampleVariance(values: Float64Array, center = mean(values)): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) {
    const deviation = values[i]! - center
    sum += deviation * deviation
  }
  return sum / (values.length - 1)
}

/** Sample standard deviation of at least two values; exactly 0 if they are flat. */
export const sampleDeviation = (values: Float64Array): number =>
  isFlat(values) ? 0 : Math.sqrt(sampleVariance(values))

/**
 * Skewness and excess kurtosis by population moments, `m3 / m2^1.5` and `m4 / m2^2 - 3`, where `m_j` is the
 * mean of `(x - mean)^j`. Undefined with fewer than 3 and 4 values respectively (`too_few_points`) and if the
 * values are flat (`zero_variance`).
 */
export function standardizedMoments(values: Float64Array): { skewness: Figure; kurtosisExcess: Figure } {
  const { length } = values
  const center = mean(values)
  const moment = (power: (deviation: number) => number) =>
    values.reduce((sum, value) => sum + power(value - center), 0) / length
  const m2 = moment(x => x * x)
  const unlessFlat = (minimum: number, value: number): Figure => {
    if (length < minimum) return undefinedBecause('too_few_points')
    return isFlat(values) ? undefinedBecause('zero_variance') : value
  }
  return {
    skewness: unlessFlat(3, moment(x => x * x * x) / (m2 * Math.sqrt(m2))),
    kurtosisExcess: unlessFlat(4, moment(x => x * x * (x * x)) / (m2 * m2) - 3),
  }
}

/**
 * Length of the longest run of consecutive values of one sign: -1 counts values below 0, 1 those above. A
 * zero belongs to neither and ends a run. 0 if there is no run; a run may end with the last value.
 */
export function longestRun(values: ArrayLike<number>, sign: 1 | -1): number {
  let longest = 0
  let run = 0
  for (let i = 0; i < values.length; i++) {
    run = values[i]! * sign > 0 ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}

/**
 * The sum of the gains over the sum of the losses: the profit factor of trades, and the omega ratio of
 * returns at threshold 0. A positive factor on the values does not change it. Undefined without losses, `<=
 * 1e-12` (`no_losses`).
 *
 * Source: Con Keating and William F. Shadwick, A Universal Performance Measure, 2002.
 */
export function gainsOverLosses(values: ArrayLike<number>): Figure {
  let gains = 0
  let losses = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value > 0) gains += value
    else losses -= value
  }
  return losses > NEGLIGIBLE ? gains / losses : undefinedBecause('no_losses')
}
