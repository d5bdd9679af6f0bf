import { mean } from './mean.ts'
import { sampleVariance } from './variance.ts'

/**
 * The values less their mean, divided by the norm of what is left: the dot product of two such columns is their Pearson
 * correlation. The values must not be flat. `standard` takes the result, so that a thousand columns need one array.
 */
export function standardize(values: Float64Array, standard = new Float64Array(values.length)): Float64Array {
  const center = mean(values)
  const norm = Math.sqrt(sampleVariance(values, center) * (values.length - 1))
  for (let i = 0; i < values.length; i++) standard[i] = (values[i]! - center) / norm
  return standard
}
