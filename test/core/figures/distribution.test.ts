import fc from 'fast-check'
import {
  mean as peerMean,
  sampleVariance as peerVariance,
  sampleCorrelation,
  sampleStandardDeviation,
} from 'simple-statistics'
import { expect, test } from 'vitest'
import { isUndefined, undefinedBecause } from '#core/figures/figure.ts'
import { isFlat, mean, sampleDeviation, sampleVariance, standardizedMoments } from '#core/figures/moments.ts'
import { autocorrelationLag1, pearson } from '#core/figures/pearson.ts'
import { quantile, tailMean, tailQuantile, tailRatio } from '#core/figures/quantile.ts'
import { forAll } from '#test/support/for-all.ts'
import { returnsOf } from './arbitraries.ts'

const TOO_FEW = undefinedBecause('too_few_points')
const FLAT = undefinedBecause('zero_variance')

test('mean, variance and correlation agree with an independent library', () => {
  forAll(returnsOf(3, 100), returnsOf(3, 100), (x, y) => {
    const count = Math.min(x.length, y.length)
    const [xs, ys] = [[...x.subarray(0, count)], [...y.subarray(0, count)]]
    expect(mean(x)).toBeCloseTo(peerMean([...x]), 12)
    expect(sampleVariance(x)).toBeCloseTo(peerVariance([...x]), 12)
    const rho = pearson(x, 0, y, 0, count)
    const spread = Math.min(sampleStandardDeviation(xs), sampleStandardDeviation(ys))
    if (spread > 1e-3) expect(rho).toBeCloseTo(sampleCorrelation(xs, ys), 9)
  })
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
    const rho = pearson(x, 0, y, from, 30)
    expect(rho).toBe(pearson(y, from, x, 0, 30))
    if (Number.isNaN(rho)) expect(isFlat(x.subarray(0, 30)) || isFlat(y.subarray(from, from + 30))).toBe(true)
    else expect(Math.abs(rho)).toBeLessThanOrEqual(1)
    if (!isFlat(x)) expect(pearson(x, 0, x, 0, x.length)).toBeCloseTo(1, 15)
  })
})

test('a perfect correlation is exactly 1, even if rounding would exceed it', () => {
  expect(pearson(Float64Array.of(1, 2, 4), 0, Float64Array.of(1, 2, 4), 0, 3)).toBe(1)
  expect(pearson(Float64Array.of(1, 2, 4), 0, Float64Array.of(-1, -2, -4), 0, 3)).toBe(-1)
})

test('the autocorrelation is that of the series with itself a day later', () => {
  expect(autocorrelationLag1(Float64Array.of(1, -1, 1, -1))).toBeCloseTo(-1, 15)
  expect(autocorrelationLag1(Float64Array.of(1, 2))).toEqual(TOO_FEW)
  expect(autocorrelationLag1(Float64Array.of(5, 1, 1, 1))).toEqual(FLAT)
})

test('skewness and kurtosis are the moments of the population', () => {
  // mean 2, m2 = 7/2, m3 = 9/2, m4 = 49/2 of {0, 1, 2, 5}
  const { skewness, kurtosisExcess } = standardizedMoments(Float64Array.of(0, 1, 2, 5))
  expect(skewness).toBeCloseTo(4.5 / 3.5 ** 1.5, 14)
  expect(kurtosisExcess).toBeCloseTo(24.5 / 3.5 ** 2 - 3, 14)
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
