import { mean } from './mean.ts'

/**
 * Values that differ by no more than this are one value: their variance is rounding, and a ratio to it is noise (a
 * constant series would have a Sharpe ratio of 8.8e16).
 */
const FLAT_RANGE = 1e-12

/**
 * Whether `max - min <= 1e-12`: zero variance. Nothing at all is flat.
 *
 * Cost: a series that is not flat shows it within its first few different values.
 */
export function isFlat(values: Float64Array, from = 0, to = values.length): boolean {
  let low = Infinity
  let high = -Infinity
  for (let i = from; i < to; i++) {
    const value = values[i]!
    if (value < low) low = value
    if (value > high) high = value
    if (high - low > FLAT_RANGE) return false
  }
  return true
}

/**
 * Sample variance, `sum((x - mean)^2) / (n - 1)`, of at least two values. Two passes: the shortcut `E[x^2] - E[x]^2`
 * loses every digit where the mean is large against the deviation.
 */
export function sampleVariance(values: Float64Array, center = mean(values)): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) {
    const deviation = values[i]! - center
    sum += deviation * deviation
  }
  return sum / (values.length - 1)
}

/** Sample standard deviation of at least two values; exactly 0 where they are flat. */
export const sampleDeviation = (values: Float64Array): number =>
  isFlat(values) ? 0 : Math.sqrt(sampleVariance(values))
