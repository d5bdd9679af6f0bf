/**
 * Length of the longest run of consecutive values of one sign: -1 counts values below 0, 1 those above. A zero belongs
 * to neither and ends both. 0 where there is none; an unfinished run at the end counts.
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
