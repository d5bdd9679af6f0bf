import { mean } from './mean.ts'
import { sampleVariance } from './variance.ts'

/**
 * The values less their mean, divided by the norm of what is left: the dot product of two such columns is their Pearson
 * correlation. The values must not be flat.
 */
export function standardize(values: Float64Array): Float64Array {
  const center = mean(values)
  const norm = Math.sqrt(sampleVariance(values, center) * (values.length - 1))
  const standard = new Float64Array(values.length)
  for (let i = 0; i < values.length; i++) standard[i] = (values[i]! - center) / norm
  return standard
}
