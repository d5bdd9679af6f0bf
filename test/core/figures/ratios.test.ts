import fc from 'fast-check'
import { expect, test } from 'vitest'
import { equityFromBaseline, trailingReturn, worstReturn } from '#core/figures/account-path.ts'
import { isUndefined, undefinedBecause } from '#core/figures/figure.ts'
import { isFlat, sampleDeviation, sampleVariance, standardizedMoments } from '#core/figures/moments.ts'
import { pearson } from '#core/figures/pearson.ts'
import { quantile, tailMean, tailQuantile, tailRatio } from '#core/figures/quantile.ts'
import { stability } from '#core/figures/risk-adjusted.ts'
import { annualized, normalCdf, sharpe, sharpeInference, sortino } from '#core/figures/sharpe.ts'
import { forAll } from '#test/support/for-all.ts'
import { returnsOf } from './arbitraries.ts'

const TOO_FEW = undefinedBecause('too_few_points')
const FLAT = undefinedBecause('zero_variance')

test('the Sharpe ratio of a constant series is undefined, although rounding makes its deviation other than 0', () => {
  expect(sharpe(new Float64Array(1000).fill(0.001), 365)).toEqual(FLAT)
  expect(sharpe(Float64Array.of(0.01), 365)).toEqual(TOO_FEW)
})

test('the Sortino ratio needs two points, and a loss', () => {
  expect(sortino(Float64Array.of(-0.01), 365)).toEqual(TOO_FEW)
  expect(sortino(Float64Array.of(0.01, 0), 365)).toEqual(undefinedBecause('no_losses'))
})

test('a figure of a year is made of 90 days, 26 weeks or 6 months, and of no fewer', () => {
  for (const [periods, fewest] of [
    [365, 90],
    [52, 26],
    [12, 6],
  ] as const) {
    const returns = Float64Array.from({ length: fewest }, (_, i) => (i % 2 === 0 ? 0.02 : -0.01))
    for (const ratio of [sharpe, sortino]) {
      expect(annualized(returns, periods, ratio)).toBe(ratio(returns, periods))
      expect(annualized(returns.subarray(1), periods, ratio)).toEqual(TOO_FEW)
    }
  }
})

test('the probability of a Sharpe ratio is above one half exactly if the ratio is positive, which is when a track record exists', () => {
  forAll(returnsOf(4, 60), returns => {
    const ratio = sharpe(returns, 1)
    const { probabilistic, standardError, minTrackRecord } = sharpeInference(returns)
    if (isUndefined(ratio)) expect(probabilistic).toEqual(FLAT)
    else {
      if (!isUndefined(probabilistic) && Math.abs(ratio) > 1e-9) expect(probabilistic > 0.5).toBe(ratio > 0)
      expect(isUndefined(minTrackRecord)).toBe(ratio <= 1e-12)
      expect(isUndefined(standardError)).toBe(false)
    }
  })
})

test('the probability of a Sharpe ratio needs four points', () => {
  expect(sharpeInference(Float64Array.of(0.1, 0.2, 0.4)).probabilistic).toEqual(TOO_FEW)
})

test('the probability of a Sharpe ratio is undefined if the estimate has no variance, and the error is 0', () => {
  // Of two outcomes, v is (1 - skewness * SR / 2)^2. One in four has skewness 2 / sqrt(3), so it is 0 at SR = sqrt(3).
  const low = Math.sqrt(3) / 2 - 0.25
  const { probabilistic, standardError } = sharpeInference(Float64Array.of(low, low, low, low + 1))
  expect(probabilistic).toEqual(undefinedBecause('zero_denominator'))
  expect(standardError).toBeCloseTo(0, 7)
})

const stabilityOf = (...returns: number[]) => {
  const values = Float64Array.from(returns)
  return stability(values, equityFromBaseline(values))
}

test('the stability is between 0 and 1 and near 1 for steady growth and for steady loss', () => {
  const growth = Array.from({ length: 200 }, (_, i) => 0.01 + (i % 2) * 1e-4)
  expect(stabilityOf(...growth)).toBeGreaterThan(0.9999)
  expect(stabilityOf(...growth.map(value => -value))).toBeGreaterThan(0.9999)
  forAll(returnsOf(3, 60), returns => {
    const figure = stability(returns, equityFromBaseline(returns))
    if (isUndefined(figure)) expect(figure).toEqual(FLAT)
    else expect(figure >= 0 && figure <= 1).toBe(true)
  })
})

test('the stability needs three points, and returns that differ', () => {
  expect(stabilityOf(0.1, 0.2)).toEqual(TOO_FEW)
  expect(stabilityOf(0.1, 0.1, 0.1)).toEqual(FLAT)
})

const curve = equityFromBaseline(Float64Array.of(-0.5, 0.5, 1, -0.2))

test('a window of calendar days may begin at the baseline', () => {
  expect(trailingReturn(curve, 4)).toBeCloseTo(0.2, 14)
  expect(trailingReturn(curve, 1)).toBeCloseTo(-0.2, 14)
  expect(worstReturn(curve, 1)).toBe(-0.5)
  expect(worstReturn(curve, 2)).toBe(-0.25)
})

test('a series shorter than a window of calendar days has no return over it', () => {
  expect(trailingReturn(curve, 5)).toEqual(TOO_FEW)
  expect(worstReturn(curve, 5)).toEqual(TOO_FEW)
})

// erfc(-x / sqrt(2)) / 2 by the C library's erfc, which is good to the last digit.
test.each([
  [-38, 2.88542835e-316],
  [-10, 7.619853024160593e-24],
  [-5, 2.866515718791946e-7],
  [-3.5, 0.00023262907903552504],
  [-3, 0.0013498980316300957],
  [-1.5, 0.06680720126885809],
  [-0.001, 0.49960105778608893],
  [0, 0.5],
  [0.3, 0.6179114221889526],
  [1, 0.8413447460685429],
  [1.6448536269514722, 0.95],
  [2.9, 0.998134186699616],
  [3.1, 0.9990323967867817],
  [6, 0.9999999990134123],
  [40, 1],
])('the normal distribution function at %f is %f to 3e-16', (x, expected) => {
  expect(Math.abs(normalCdf(x) - expected)).toBeLessThanOrEqual(3e-16)
})

test('the normal distribution function has a small relative error below -3 too', () => {
  expect(normalCdf(-10) / 7.619853024160593e-24).toBeCloseTo(1, 13)
  expect(normalCdf(-30) / 4.906713927148764e-198).toBeCloseTo(1, 12)
})

test('the normal distribution function rises from 0 to 1 and is symmetric', () => {
  forAll(
    fc.double({ min: -50, max: 50, noNaN: true }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (x, step) => {
      expect(normalCdf(x)).toBeGreaterThanOrEqual(0)
      expect(normalCdf(x + step)).toBeGreaterThanOrEqual(normalCdf(x) - 2e-16)
      expect(Math.abs(normalCdf(x) + normalCdf(-x) - 1)).toBeLessThanOrEqual(3e-16)
    },
  )
})

test('both methods of the normal distribution function agree where one replaces the other', () => {
  for (const x of [-3, 3]) expect(Math.abs(normalCdf(x) - normalCdf(x * (1 + 1e-15)))).toBeLessThan(4e-16)
})

test('the variance is exact even if the mean is much larger', () => {
  const values = Float64Array.of(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16)
  expect(sampleVariance(values)).toBe(30)
})

test('values within 1e-12 are flat, and their deviation is exactly 0', () => {
  expect(isFlat(Float64Array.of(0.1, 0.1 + 5e-13))).toBe(true)
  expect(isFlat(Float64Array.of(0.1, 0.1 + 5e-12))).toBe(false)
  expect(isFlat(Float64Array.of(0.1, 0.1, 0.1, 0.2))).toBe(false)
  expect(isFlat(new Float64Array(0))).toBe(true)
  expect(sampleDeviation(Float64Array.of(0.1 + 0.2, 0.3, 0.3))).toBe(0)
})

test('a correlation is bit for bit the same with its series swapped, is in [-1, 1], and is 1 with itself', () => {
  forAll(returnsOf(30, 60), returnsOf(60, 60), fc.nat(30), (x, y, from) => {
    const [own, its] = [x.subarray(0, 30), y.subarray(from, from + 30)]
    const rho = pearson(own, its)
    expect(rho).toBe(pearson(its, own))
    if (Number.isNaN(rho)) expect(isFlat(own) || isFlat(its)).toBe(true)
    else expect(Math.abs(rho)).toBeLessThanOrEqual(1)
    if (!isFlat(x)) expect(pearson(x, x)).toBeCloseTo(1, 15)
  })
})

test('a perfect correlation is exactly 1, even if rounding would exceed it', () => {
  expect(pearson(Float64Array.of(1, 2, 4), Float64Array.of(1, 2, 4))).toBe(1)
  expect(pearson(Float64Array.of(1, 2, 4), Float64Array.of(-1, -2, -4))).toBe(-1)
})

test('skewness and kurtosis need 3 and 4 values, and values that differ', () => {
  expect(standardizedMoments(Float64Array.of(1, 2))).toEqual({ skewness: TOO_FEW, kurtosisExcess: TOO_FEW })
  expect(standardizedMoments(Float64Array.of(1, 2, 4)).kurtosisExcess).toEqual(TOO_FEW)
  expect(isUndefined(standardizedMoments(Float64Array.of(1, 2, 4)).skewness)).toBe(false)
  expect(standardizedMoments(Float64Array.of(1, 1, 1, 1))).toEqual({ skewness: FLAT, kurtosisExcess: FLAT })
})

test('a quantile is linear between order statistics (type 7)', () => {
  const sorted = Float64Array.of(1, 2, 4, 8)
  expect(quantile(sorted, 0)).toBe(1)
  expect(quantile(sorted, 0.5)).toBe(3)
  expect(quantile(sorted, 0.9)).toBeCloseTo(4 + 0.7 * 4, 14)
  expect(quantile(sorted, 1)).toBe(8)
  expect(quantile(Float64Array.of(7), 0.3)).toBe(7)
})

test('the tail mean is empirical: of the floor((n - 1) / 20) + 1 smallest values', () => {
  const sorted = Float64Array.from({ length: 41 }, (_, i) => i)
  expect(tailQuantile(sorted, 20)).toBeCloseTo(2, 14)
  expect(tailMean(sorted, 20)).toBe(1) // of 0, 1, 2
  expect(tailMean(sorted.subarray(0, 40), 20)).toBe(0.5) // of 0, 1
})

test('a tail of one in n needs n values', () => {
  const sorted = Float64Array.from({ length: 99 }, (_, i) => i)
  expect(tailMean(sorted, 100)).toEqual(TOO_FEW)
  expect(tailQuantile(sorted, 100)).toEqual(TOO_FEW)
  expect(tailRatio(sorted.subarray(0, 19))).toEqual(TOO_FEW)
})

test('a tail mean is never above its quantile, and a tail ratio of a symmetric sample is 1', () => {
  forAll(returnsOf(20, 200), returns => {
    const sorted = returns.toSorted()
    const bound = tailQuantile(sorted, 20)
    const tail = tailMean(sorted, 20)
    if (isUndefined(bound) || isUndefined(tail)) throw new Error('20 values have a 5 % tail')
    expect(tail).toBeLessThanOrEqual(bound + 1e-15)
  })
  expect(tailRatio(Float64Array.from({ length: 41 }, (_, i) => i - 20))).toBeCloseTo(1, 14)
  expect(tailRatio(new Float64Array(30))).toEqual(undefinedBecause('zero_denominator'))
})
