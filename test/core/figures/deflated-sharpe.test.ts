import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isUndefined, undefinedBecause } from '#core/figures/figure.ts'
import { bestWithoutSkill, normalCdf, normalQuantile, sharpeInference } from '#core/figures/sharpe.ts'
import { forAll } from '#test/support/for-all.ts'
import { returnsOf } from './arbitraries.ts'

// The root of erfc(-x / sqrt(2)) / 2 = p, found with 60 digits, of the double that p reads as.
test.each([
  [1e-300, -37.0470962993612],
  [1e-200, -30.20559417957964],
  [1e-100, -21.273453560965326],
  [1e-50, -14.933337534788489],
  [1e-30, -11.464024688443615],
  [1e-20, -9.262340089798407],
  [1e-16, -8.222082216130435],
  [1e-12, -7.034483825301132],
  [1e-9, -5.9978070150076865],
  [1e-7, -5.1993375821928165],
  [1e-5, -4.264890793922825],
  [1e-4, -3.7190164854556804],
  [0.001, -3.0902323061678136],
  [0.00134, -3.0022409042673104],
  [0.00136, -2.9977283532625965],
  [0.005, -2.575829303548901],
  [0.01, -2.326347874040841],
  [0.02425, -1.972961051311885],
  [0.05, -1.6448536269514726],
  [0.1, -1.2815515655446004],
  [0.2, -0.8416212335729142],
  [0.25, -0.6744897501960817],
  [0.3, -0.5244005127080408],
  [0.4, -0.2533471031357997],
  [0.45, -0.12566134685507402],
  [0.49, -0.025068908258711057],
  [0.4999, -0.00025066283008800747],
  [0.5, 0],
  [0.501, 0.002506630899571766],
  [0.6, 0.2533471031357997],
  [0.75, 0.6744897501960817],
  [0.9, 1.2815515655446006],
  [0.95, 1.6448536269514722],
  [0.99, 2.3263478740408408],
  [0.999, 3.090232306167813],
  [0.999999, 4.753424308817087],
])('the normal quantile of %f is %f to 1e-12', (p, expected) => {
  expect(Math.abs(normalQuantile(p) - expected)).toBeLessThanOrEqual(1e-12)
})

test('the normal quantile is the inverse of the distribution function', () => {
  forAll(fc.double({ min: -37, max: 0, noNaN: true }), x => {
    expect(Math.abs(normalQuantile(normalCdf(x)) - x)).toBeLessThanOrEqual(1e-12)
  })
})

test('the normal quantile function is symmetric, and rises', () => {
  const p = fc.integer({ min: 1, max: 2 ** 30 - 1 }).map(i => i / 2 ** 30) // 1 - p is exact
  forAll(p, p, (a, b) => {
    expect(normalQuantile(1 - a) + normalQuantile(a)).toBe(0)
    if (a < b) expect(normalQuantile(a)).toBeLessThan(normalQuantile(b))
  })
})

// By the formula, with quantiles of 60 digits; the true expected maxima are 0.5642, 1.5388, 2.5076 and 3.2414.
test.each([
  [1, 0],
  [2, 0.5197553442805939],
  [10, 1.57459830134575],
  [100, 2.530602893201682],
  [1000, 3.2551215136527256],
  [1e15, 8.012394087828731],
])('the best of %i trials without skill is %f deviations above the mean', (trials, expected) => {
  expect(bestWithoutSkill(trials)).toBeCloseTo(expected, 12)
})

test.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53])('%f is refused as number of trials', trials => {
  expect(() => bestWithoutSkill(trials)).toThrow(/must be a positive integer/)
})

test('the deflated Sharpe ratio of one trial is the probabilistic one, to the last bit', () => {
  forAll(returnsOf(0, 60), returns => {
    const { deflated, probabilistic } = sharpeInference(returns, 1)
    expect(deflated).toEqual(probabilistic)
  })
})

test('the deflated Sharpe ratio falls with the number of trials', () => {
  forAll(
    returnsOf(4, 60),
    fc.integer({ min: 1, max: 1e9 }),
    fc.integer({ min: 2, max: 1e6 }),
    (returns, trials, times) => {
      const few = sharpeInference(returns, trials).deflated
      const many = sharpeInference(returns, trials * times).deflated
      if (isUndefined(few) || isUndefined(many)) expect(many).toEqual(few)
      else expect(many).toBeLessThanOrEqual(few)
    },
  )
  const returns = Float64Array.of(0.03, -0.01, 0.02, -0.02, 0.01, 0.015)
  const [two, five] = [2, 5].map(trials => Number(sharpeInference(returns, trials).deflated))
  expect(five).toBeLessThan(two!)
})

test('the deflated Sharpe ratio agrees with the formula, computed naively', () => {
  forAll(returnsOf(4, 60), fc.integer({ min: 2, max: 1e6 }), (returns, trials) => {
    const { deflated } = sharpeInference(returns, trials)
    if (isUndefined(deflated)) return
    const n = returns.length
    const average = returns.reduce((sum, r) => sum + r, 0) / n
    const moment = (j: number) => returns.reduce((sum, r) => sum + (r - average) ** j, 0) / n
    const s = average / Math.sqrt((moment(2) * n) / (n - 1))
    const v = 1 - (moment(3) / moment(2) ** 1.5) * s + ((moment(4) / moment(2) ** 2 - 1) / 4) * s ** 2
    const g = 0.5772156649015329
    const best =
      (1 - g) * quantileByBisection(1 - 1 / trials) + g * quantileByBisection(1 - 1 / (trials * Math.E))
    if (v < 1e-6) return // the quotient is then mostly rounding
    expect(deflated).toBeCloseTo(normalCdf((s - best / Math.sqrt(n - 1)) * Math.sqrt((n - 1) / v)), 8)
  })
})

test('the deflated Sharpe ratio without a number of trials is undefined, whatever the series', () => {
  expect(sharpeInference(Float64Array.of(0.1)).deflated).toEqual(undefinedBecause('no_trials'))
  expect(sharpeInference(Float64Array.of(0.1), 3).deflated).toEqual(undefinedBecause('too_few_points'))
})

function quantileByBisection(p: number): number {
  let [low, high] = [-40, 40]
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2
    if (normalCdf(middle) < p) low = middle
    else high = middle
  }
  return low
}
