import { type Figure, undefinedBecause } from './figure.ts'
import { mean } from './mean.ts'
import { isFlat } from './variance.ts'

/**
 * Skewness and excess kurtosis by population moments, `m3 / m2^1.5` and `m4 / m2^2 - 3`, where `m_j` is the mean of
 * `(x - mean)^j`. Undefined with fewer than 3 and 4 values (`too_few_points`) and where the values are flat
 * (`zero_variance`).
 */
export function standardizedMoments(values: Float64Array): { skewness: Figure; kurtosisExcess: Figure } {
  const { length } = values
  const flat = isFlat(values)
  const { m2, m3, m4 } = centralMoments(values)
  const unlessFlat = (minimum: number, value: number): Figure => {
    if (length < minimum) return undefinedBecause('too_few_points')
    return flat ? undefinedBecause('zero_variance') : value
  }
  return {
    skewness: unlessFlat(3, m3 / (m2 * Math.sqrt(m2))),
    kurtosisExcess: unlessFlat(4, m4 / (m2 * m2) - 3),
  }
}

function centralMoments(values: Float64Array): { m2: number; m3: number; m4: number } {
  const { length } = values
  const center = mean(values)
  let m2 = 0
  let m3 = 0
  let m4 = 0
  for (let i = 0; i < length; i++) {
    const deviation = values[i]! - center
    const square = deviation * deviation
    m2 += square
    m3 += square * deviation
    m4 += square * square
  }
  return { m2: m2 / length, m3: m3 / length, m4: m4 / length }
}
