import { mean, sampleCorrelation, sampleKurtosis, sampleStandardDeviation } from 'simple-statistics'
import { expect, test } from 'vitest'
import { createRandom } from '#pipeline/sample/random.ts'

const draws = (count: number, draw: () => number) => Array.from({ length: count }, draw)

// A standard error of the mean of 200 000 uniforms is 0.0006, of their correlation 0.0022: the bounds are five of them.
test('seeded random numbers are uniform between 0 and 1, without memory', () => {
  const values = draws(200_000, createRandom(7).uniform)
  expect(Math.min(...values.slice(0, 50_000))).toBeGreaterThan(0)
  expect(Math.max(...values.slice(0, 50_000))).toBeLessThan(1)
  expect(mean(values)).toBeCloseTo(0.5, 2)
  expect(sampleStandardDeviation(values)).toBeCloseTo(Math.sqrt(1 / 12), 2)
  expect(Math.abs(sampleCorrelation(values.slice(1), values.slice(0, -1)))).toBeLessThan(0.011)
})

test('seeded normal numbers have mean 0 and deviation 1', () => {
  const values = draws(200_000, createRandom(7).normal)
  expect(mean(values)).toBeCloseTo(0, 1.5)
  expect(sampleStandardDeviation(values)).toBeCloseTo(1, 1.5)
  expect(Math.abs(sampleKurtosis(values))).toBeLessThan(0.055)
})

test('seeded random numbers of neighbouring seeds do not begin alike', () => {
  const firsts = Array.from({ length: 2000 }, (_, seed) => createRandom(seed).uniform())
  expect(mean(firsts)).toBeCloseTo(0.5, 1)
  expect(Math.abs(sampleCorrelation(firsts.slice(1), firsts.slice(0, -1)))).toBeLessThan(0.11)
})
