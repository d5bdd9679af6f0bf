/**
 * Mean of the last `length` values, the one at the index itself among them; NaN where there are fewer.
 *
 * A running sum, O(n) for any length. The error of each addition is kept beside the sum (Neumaier's compensation), because
 * a plain running sum drifts away from its window: after years of bars the mean of equal prices would not be that price,
 * and a multiple of exactly 1 would fall on a random side of its band.
 *
 * @param length at least 1
 */
export function trailingMean(values: Float64Array, length: number): Float64Array {
  const means = new Float64Array(values.length).fill(Number.NaN)
  const sum: CompensatedSum = { value: 0, lost: 0 }
  for (let i = 0; i < values.length; i++) {
    add(sum, values[i]!)
    if (i >= length) add(sum, -values[i - length]!)
    if (i >= length - 1) means[i] = (sum.value + sum.lost) / length
  }
  return means
}

type CompensatedSum = { value: number; lost: number }

/** The larger of the two addends keeps all its digits, so the digits that the smaller one lost can be recovered exactly. */
function add(sum: CompensatedSum, addend: number): void {
  const next = sum.value + addend
  sum.lost += Math.abs(sum.value) >= Math.abs(addend) ? sum.value - next + addend : addend - next + sum.value
  sum.value = next
}
