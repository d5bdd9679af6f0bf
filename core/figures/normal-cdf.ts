/** Beyond this the continued fraction is quicker and keeps the relative precision of the tail. */
const TAIL = 3

/** Levels of the continued fraction: at 3, where it converges slowest, sixty leave nothing but rounding. */
const FRACTION_LEVELS = 60

const DENSITY_AT_ZERO = 1 / Math.sqrt(2 * Math.PI)

/**
 * Standard normal distribution function `Phi(x)`. In the middle by its power series
 * `1/2 + phi(x) * (x + x^3/3 + x^5/(3*5) + ...)`, whose terms have one sign, so nothing cancels; in the tails by
 * Laplace's continued fraction `phi(x) / (x + 1/(x + 2/(x + 3/...)))`. The error is below 3e-16, and below -3 it is
 * also small against the value itself.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.11 and 26.2.14.
 */
export function normalCdf(x: number): number {
  if (x < -TAIL) return upperTail(-x)
  if (x > TAIL) return 1 - upperTail(x)
  return 0.5 + density(x) * oddSeries(x)
}

const density = (x: number): number => DENSITY_AT_ZERO * Math.exp(-0.5 * x * x)

function oddSeries(x: number): number {
  let sum = 0
  let term = x
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term
    term *= (x * x) / odd
  }
  return sum
}

/** `1 - Phi(x)` for `x > 3`, from the innermost level outwards. */
function upperTail(x: number): number {
  let denominator = x
  for (let level = FRACTION_LEVELS; level > 0; level--) denominator = x + level / denominator
  return density(x) / denominator
}
