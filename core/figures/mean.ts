/** Arithmetic mean by plain summation; NaN of nothing, so callers check the length. */
export function mean(values: Float64Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return sum / values.length
}
