import { type Figure, undefinedBecause } from './figure.ts'

/**
 * Return over the last `days` calendar days, `E_n / E_{n-days} - 1`, a fraction; the window may begin at the baseline.
 * Undefined where the series is shorter (`too_few_points`).
 *
 * @param curve equity with its baseline, without ruin
 */
export function trailingReturn(curve: Float64Array, days: number): Figure {
  const last = curve.length - 1
  return last < days ? undefinedBecause('too_few_points') : curve[last]! / curve[last - days]! - 1
}

/** The worst return over any `days` consecutive calendar days, a fraction; on the same terms. */
export function worstReturn(curve: Float64Array, days: number): Figure {
  if (curve.length <= days) return undefinedBecause('too_few_points')
  let worst = Infinity
  for (let i = days; i < curve.length; i++) worst = Math.min(worst, curve[i]! / curve[i - days]!)
  return worst - 1
}
