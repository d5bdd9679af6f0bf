import fc from 'fast-check'
import { expect, test } from 'vitest'
import { equityFromBaseline, trailingReturn, worstReturn } from '#core/figures/account-path.ts'
import { isUndefined, type UndefinedReason, undefinedBecause } from '#core/figures/figure.ts'
import { isFlat, sampleDeviation, sampleVariance, standardizedMoments } from '#core/figures/moments.ts'
import { pearson } from '#core/figures/pearson.ts'
import { quantile, tailMean, tailQuantile, tailRatio } from '#core/figures/quantile.ts'
import { stability } from '#core/figures/risk-adjusted.ts'
import { annualized, normalCdf, sharpe, sharpeInference, sortino } from '#core/figures/sharpe.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { forAll } from '#test/support/for-all.ts'
import { returnsOf } from './arbitraries.ts'
import { figuresFrom } from './series.ts'

const TOO_FEW = undefinedBecause('too_few_points')
const FLAT = undefinedBecause('zero_variance')

const returns = (...values: number[]) => Float64Array.from(values)
const ranks = (length: number) => Float64Array.from({ length }, (_, i) => i)
const moments = (...values: number[]) => standardizedMoments(returns(...values))
const stabilityOf = (...values: number[]) =>
  stability(returns(...values), equityFromBaseline(returns(...values)))
const riskAdjusted = (daily: Iterable<number>) => figuresFrom('2024-01-01', daily, 0.01).fund_dd.risk_adjusted
const curve = equityFromBaseline(returns(-0.5, 0.5, 1, -0.2))

test.each(casesOf<[string, unknown, UndefinedReason]>`
the Sharpe ratio of one return -> ${sharpe(returns(0.01), 365)} -> too_few_points
the Sharpe ratio of equal returns, whose deviation rounding makes other than 0 -> ${sharpe(new Float64Array(1000).fill(0.001), 365)} -> zero_variance
the Sortino ratio of one return -> ${sortino(returns(-0.01), 365)} -> too_few_points
the Sortino ratio without a loss -> ${sortino(returns(0.01, 0), 365)} -> no_losses
the probability of a Sharpe ratio of three returns -> ${sharpeInference(returns(0.1, 0.2, 0.4)).probabilistic} -> too_few_points
the omega ratio with a loss of 1e-12 -> ${riskAdjusted([1, -1e-12]).omega} -> no_losses
the stability of two returns -> ${stabilityOf(0.1, 0.2)} -> too_few_points
the stability of equal returns -> ${stabilityOf(0.1, 0.1, 0.1)} -> zero_variance
the return over a window that is longer than the series -> ${trailingReturn(curve, 5)} -> too_few_points
the worst return over such a window -> ${worstReturn(curve, 5)} -> too_few_points
the skewness of two values -> ${moments(1, 2).skewness} -> too_few_points
the skewness of equal values -> ${moments(1, 1, 1, 1).skewness} -> zero_variance
the kurtosis of two values -> ${moments(1, 2).kurtosisExcess} -> too_few_points
the kurtosis of three values -> ${moments(1, 2, 4).kurtosisExcess} -> too_few_points
the kurtosis of equal values -> ${moments(1, 1, 1, 1).kurtosisExcess} -> zero_variance
the mean of a tail of one in 100 of 99 values -> ${tailMean(ranks(99), 100)} -> too_few_points
the quantile of such a tail -> ${tailQuantile(ranks(99), 100)} -> too_few_points
the tail ratio of 19 values -> ${tailRatio(ranks(19))} -> too_few_points
the tail ratio of zeros -> ${tailRatio(new Float64Array(30))} -> zero_denominator`)(
  'a figure is undefined for a reason where it has no value: %s',
  (_, figure, reason) => {
    expect(figure).toEqual(undefinedBecause(reason))
  },
)

test.each(casesOf<[string, unknown, number]>`
the return over a window of days that begins at the baseline -> ${trailingReturn(curve, 4)} -> ${0.2}
the return over the last day -> ${trailingReturn(curve, 1)} -> ${-0.2}
the worst return over one day -> ${worstReturn(curve, 1)} -> ${-0.5}
the worst return over two days -> ${worstReturn(curve, 2)} -> ${-0.25}
the variance of values whose mean is much larger -> ${sampleVariance(returns(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16))} -> ${30}
the lowest quantile -> ${quantile(returns(1, 2, 4, 8), 0)} -> ${1}
the median, linear between order statistics (type 7) -> ${quantile(returns(1, 2, 4, 8), 0.5)} -> ${3}
a quantile of 0.9, linear in the same way -> ${quantile(returns(1, 2, 4, 8), 0.9)} -> ${4 + 0.7 * 4}
the highest quantile -> ${quantile(returns(1, 2, 4, 8), 1)} -> ${8}
any quantile of one value -> ${quantile(returns(7), 0.3)} -> ${7}
the quantile of a tail of one in 20 -> ${tailQuantile(ranks(41), 20)} -> ${2}
the CVaR of 41 days at a hundredth of their risk, the mean of the floor((n - 1) / 20) + 1 smallest values 0, 1 and 2 -> ${riskAdjusted(ranks(41)).cvar_95_daily_pct} -> ${1}
the CVaR of one day less, the mean of 0 and 1 -> ${riskAdjusted(ranks(40)).cvar_95_daily_pct} -> ${0.5}
the tail ratio of a symmetric sample -> ${tailRatio(ranks(41).map(i => i - 20))} -> ${1}`)(
  'the figure of a sample is what a hand computes: %s',
  (_, figure, expected) => {
    expect(figure).toBeCloseTo(expected, 14)
  },
)

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

test('the probability of a Sharpe ratio is undefined if the estimate has no variance, and the error is 0', () => {
  // Of two outcomes, v is (1 - skewness * SR / 2)^2. One in four has skewness 2 / sqrt(3), so it is 0 at SR = sqrt(3).
  const low = Math.sqrt(3) / 2 - 0.25
  const { probabilistic, standardError } = sharpeInference(Float64Array.of(low, low, low, low + 1))
  expect(probabilistic).toEqual(undefinedBecause('zero_denominator'))
  expect(standardError).toBeCloseTo(0, 7)
})

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

test('a tail mean is never above its quantile', () => {
  forAll(returnsOf(20, 200), returns => {
    const sorted = returns.toSorted()
    const bound = tailQuantile(sorted, 20)
    const tail = tailMean(sorted, 20)
    if (isUndefined(bound) || isUndefined(tail)) throw new Error('20 values have a 5 % tail')
    expect(tail).toBeLessThanOrEqual(bound + 1e-15)
  })
})
