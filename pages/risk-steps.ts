// The risk levels that a page offers.
const MANTISSAS = [1, 1.2, 1.4, 1.6, 1.8, 2, 2.25, 2.5, 2.75, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9]

/** Round levels up to the cap, with the cap itself and these levels; ascending fractions. */
export function riskSteps(cap: number, ...levels: readonly number[]): number[] {
  const steps = [...levels.filter(level => level <= cap), cap]
  // A thousandth of the equity a trade: below it the figures of most strategies round to nothing.
  for (let power = -3; 10 ** power < cap; power++) {
    steps.push(...MANTISSAS.map(mantissa => Number(`${mantissa}e${power}`)).filter(level => level < cap))
  }
  return [...new Set(steps)].sort((a, b) => a - b)
}
