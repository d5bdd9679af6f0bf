// A series of numbers as the text of a path: few points, small numbers.

/** Points of one line without gaps, x and y in turn, in whole steps of the path. */
export type Run = number[]

/**
 * What is drawn of `values`: the first and the last point of each run without gaps, and the lowest and the highest of each
 * `column` steps of x, in the order of time, each at the nearest multiples of `across` and `up`. So every extreme of the data is
 * drawn.
 * `x` of an index must not decrease, and `y` of a value must be monotonic. NaN is a gap.
 */
export function runsOf(
  values: Float64Array,
  x: (index: number) => number,
  y: (value: number) => number,
  column: number,
  across = column,
  up = 1,
): Run[] {
  const runs: Run[] = []
  let run: Run = []
  let at = Number.NaN
  let [low, high] = [-1, -1] // where the extremes of the column at `at` are
  const add = (index: number): void => {
    const [place, height] = [across * Math.round(x(index) / across), up * Math.round(y(values[index]!) / up)]
    if (run.at(-2) !== place || run.at(-1) !== height) run.push(place, height)
  }
  for (let i = 0; i <= values.length; i++) {
    const value = values[i] ?? Number.NaN // after the last value is a gap, too
    const isGap = Number.isNaN(value)
    const next = isGap ? Number.NaN : column * Math.round(x(i) / column)
    if (low >= 0 && next !== at) {
      add(Math.min(low, high))
      add(Math.max(low, high))
      if (isGap) add(i - 1)
      low = -1
    }
    at = next
    if (isGap) {
      if (run.length > 0) runs.push(run)
      run = []
    } else if (low < 0) {
      low = high = i
      if (run.length === 0) add(i)
    } else if (value < values[low]!) low = i
    else if (value > values[high]!) high = i
  }
  return runs
}

/** `M12 34l5-6 7 8`: a start, then steps. A single point is a line of no length, which a round cap makes a dot. */
export function pathText(run: Run): string {
  const start = `M${run[0]} ${run[1]}`
  if (run.length === 2) return `${start}h0`
  const steps = run.slice(2).map((at, i) => at - run[i]!)
  return `${start}l${steps.join(' ').replaceAll(' -', '-')}` // flat, which thousands of parts would not be
}
