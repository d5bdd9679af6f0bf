import { expect, test } from 'vitest'
import {
  endOfFunding,
  fundingGaps,
  fundingIntervals,
  missingPayments,
} from '#core/replay/funding-coverage.ts'
import { HOUR_MS, START_MS } from './hand.ts'

/** Payments after these numbers of hours, from midnight on. */
const paidAfter = (...hours: readonly number[]) => {
  const t = [START_MS]
  for (const each of hours) t.push(t.at(-1)! + each * HOUR_MS)
  return { t: Float64Array.from(t) }
}

const times = (count: number, hours: number): number[] => Array<number>(count).fill(hours)

const gapHours = (...hours: readonly number[]): number[] =>
  fundingGaps(paidAfter(...hours)).map(({ from, to }) => (to - from) / HOUR_MS)

test.each([
  ['none where each payment comes in time', times(50, 8), []],
  ['one missing payment', [...times(20, 8), 16, ...times(20, 8)], [16]],
  ['months, at either end', [1000, ...times(20, 8), 2000], [1000, 2000]],
  ['none where payments are late by seconds', [...times(20, 8), 8.01, 7.99, ...times(20, 8)], []],
  ['every second payment that is missing for years', [...times(20, 8), ...times(999, 16)], times(999, 16)],
  ['every second payment of all the feed', times(50, 16), times(50, 16)],
  ['every interval that is longer than the finest', [...times(30, 8), ...times(30, 4)], times(30, 8)],
  ['none beside a payment too many', [...times(20, 8), 3, 5, ...times(20, 8)], []],
  ['every month of a feed that has one row a month', [720, 720, 720], [720, 720, 720]],
])('the gaps in a funding feed without a stated interval are %s', (_, hours, expected) => {
  expect(gapHours(...hours)).toEqual(expected)
})

test('the interval of a funding feed is no finer than an hour, whatever is between copies of one payment', () => {
  const feed = paidAfter(1e-6, 1e-6, 1e-6, 8, 8)
  expect(fundingIntervals(feed)).toEqual([{ from: Number.NEGATIVE_INFINITY, everyMs: HOUR_MS }])
})

test('a funding feed of a single payment has no gap', () => {
  expect(gapHours()).toEqual([])
})

test('a gap in a funding feed has the payments around it', () => {
  const [gap] = fundingGaps(paidAfter(8, 8, 8, 48, 8, 8, 8))
  expect(gap).toEqual({ from: START_MS + 24 * HOUR_MS, to: START_MS + 72 * HOUR_MS })
})

/** Hours with payments after a change at hour 240: `before` and `after` are the stated intervals. */
const stated = (before: number, after: number, ...hours: readonly number[]) => {
  const feed = paidAfter(...hours)
  const change = { from: START_MS + 240 * HOUR_MS, everyMs: after * HOUR_MS }
  return { ...feed, intervals: [{ from: Number.NEGATIVE_INFINITY, everyMs: before * HOUR_MS }, change] }
}

test.each([
  ['none where the interval becomes shorter as stated', stated(8, 4, ...times(30, 8), ...times(30, 4)), []],
  ['none where the interval becomes longer as stated', stated(1, 8, ...times(240, 1), ...times(30, 8)), []],
  ['none where it changes some seconds early', stated(8, 1, ...times(29, 8), 7.995, ...times(30, 1)), []],
  ['each interval that stays as it was', stated(8, 4, ...times(32, 8)), [8, 8]],
  [
    'each interval that becomes longer too early',
    stated(4, 8, ...times(56, 4), 8, 8, ...times(9, 8)),
    [8, 8],
  ],
  ['every second payment of all the feed', stated(4, 4, ...times(50, 8)), times(50, 8)],
])('the gaps in a funding feed with stated intervals are %s', (_, feed, expected) => {
  expect(fundingGaps(feed).map(({ from, to }) => (to - from) / HOUR_MS)).toEqual(expected)
})

test('a gap in a funding feed lacks the payments that were due in it, of either interval', () => {
  const { intervals } = stated(8, 4)
  const [from, to] = [START_MS + 216 * HOUR_MS, START_MS + 252 * HOUR_MS]
  expect(missingPayments({ from, to }, intervals)).toBe(5)
})

test.each([
  ['up to its next payment', times(5, 8), 48],
  ['as the finest interval is', [...times(30, 8), ...times(30, 1)], 271],
  ['eight hours further at most', [720, 720], 1448],
  ['eight hours from a single payment', [], 8],
])('a funding feed without a stated interval reaches %s', (_, hours, expected) => {
  expect((endOfFunding(paidAfter(...hours)) - START_MS) / HOUR_MS).toBe(expected)
})
