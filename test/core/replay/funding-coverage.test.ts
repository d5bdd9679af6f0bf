import { describe, expect, test } from 'vitest'
import { endOfFunding, fundingGaps } from '#core/replay/funding-coverage.ts'
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

describe('a gap in a funding feed', () => {
  test.each([
    ['none where each payment comes in time', times(50, 8), []],
    ['one missing payment', [...times(20, 8), 16, ...times(20, 8)], [16]],
    ['months, at either end', [1000, ...times(20, 8), 2000], [1000, 2000]],
    ['none where payments are late by seconds', [...times(20, 8), 8.01, 7.99, ...times(20, 8)], []],
    ['none where the interval becomes shorter', [...times(30, 8), ...times(30, 4), ...times(30, 1)], []],
    ['none where the interval becomes longer', [...times(30, 1), ...times(30, 8)], []],
    ['one beside a change of the interval', [...times(30, 8), 24, ...times(30, 4)], [24]],
    ['every month of a feed that has one row a month', [720, 720, 720], [720, 720, 720]],
  ])('is %s', (_, hours, expected) => {
    expect(gapHours(...hours)).toEqual(expected)
  })

  test('is not in a feed of a single payment', () => {
    expect(gapHours()).toEqual([])
  })

  test('has the payments around it', () => {
    const [gap] = fundingGaps(paidAfter(8, 8, 8, 48, 8, 8, 8))
    expect(gap).toEqual({ from: START_MS + 24 * HOUR_MS, to: START_MS + 72 * HOUR_MS })
  })
})

describe('a funding feed reaches', () => {
  test.each([
    ['up to its next payment', times(5, 8), 48],
    ['as the interval is at its end', [...times(30, 8), ...times(30, 1)], 271],
    ['a day further at most', [720, 720], 1464],
    ['a day from a single payment', [], 24],
  ])('%s', (_, hours, expected) => {
    expect((endOfFunding(paidAfter(...hours)) - START_MS) / HOUR_MS).toBe(expected)
  })
})
