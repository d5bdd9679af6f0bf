import { mean, sampleCorrelation, sampleKurtosis, sampleStandardDeviation } from 'simple-statistics'
import { expect, test } from 'vitest'
import { DAY_MS, toEpochDay } from '#core/calendar.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { BAR_MS, createMarket } from '#pipeline/sample/market.ts'
import { createRandom } from '#pipeline/sample/random.ts'

const FROM = Date.UTC(2018, 0, 1)
const DAYS = 400

const MARKETS = [1, 2, 31_337, 2 ** 31].map(seed => createMarket(seed, FROM, FROM + DAYS * DAY_MS))

test('the bars of every synthetic market are ones that a book may have, on the tick grid', () => {
  const isSound = ({ t, o, h, l, c, v }: Bar) =>
    (t - FROM) % BAR_MS === 0 && l > 0 && l <= Math.min(o, c) && Math.max(o, c) <= h && v >= 0
  const isOnGrid = ({ o, h, l, c }: Bar) => [o, h, l, c].every(price => Number(price.toFixed(1)) === price)
  for (const { bars } of MARKETS) expect(bars.filter(bar => !isSound(bar) || !isOnGrid(bar))).toEqual([])
})

test('a bar of every synthetic market opens where the one before it closed, unless there was an outage', () => {
  for (const { bars } of MARKETS) {
    const broken = bars.filter(
      (bar, i) => i > 0 && bar.t - bars[i - 1]!.t === BAR_MS && bar.o !== bars[i - 1]!.c,
    )
    expect(broken).toEqual([])
  }
})

test('the outages of every synthetic market are shorter than a day, and its ends are whole', () => {
  for (const { bars } of MARKETS) {
    expect(new Set(bars.map(({ t }) => toEpochDay(t))).size).toBe(DAYS)
    expect(bars[0]?.t).toBe(FROM)
    expect(bars.at(-1)?.t).toBe(FROM + DAYS * DAY_MS - BAR_MS)
  }
})

test('the funding of every synthetic market comes every eight hours, outage or not, at a rate that an exchange could charge', () => {
  for (const { funding } of MARKETS) {
    expect(funding.map(({ t }) => t)).toEqual(
      Array.from({ length: DAYS * 3 }, (_, i) => FROM + i * 2 * BAR_MS),
    )
    expect(Math.max(...funding.map(({ rate }) => Math.abs(rate)))).toBeLessThanOrEqual(0.003)
  }
})

test('a synthetic market is the same for the same seed', () => {
  expect(createMarket(5, FROM, FROM + DAY_MS)).toEqual(createMarket(5, FROM, FROM + DAY_MS))
})

const draws = (count: number, draw: () => number) => Array.from({ length: count }, draw)

test('seeded random numbers are the same for the same seed, and others for another', () => {
  const first = (seed: number) => draws(5, createRandom(seed).uniform)
  expect(first(1)).toEqual(first(1))
  expect(first(2)).not.toEqual(first(1))
})

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
