import { expect, test } from 'vitest'
import { barAt, type Funding } from '#core/replay/bars.ts'
import { initialState } from '#core/replay/engine.ts'
import {
  endOfFunding,
  fundingGaps,
  fundingIntervals,
  missingPayments,
} from '#core/replay/funding-coverage.ts'
import { startReplay } from '#core/replay/replay.ts'
import { step } from '#core/replay/step.ts'
import {
  equityOf,
  FREE,
  HOUR_MS,
  handBars,
  handFunding,
  run,
  START_MS,
  scripted,
  slot,
  still,
} from './hand.ts'

const LONG = { act: 'long', stop: 90 }
const FLAT = { act: 'flat', why: 'signal' }

// Long 0.002 from slot 1 to the open of slot 3; closes 100, 110, 120, 120. What one event takes from the
// account:
const paid = (funding: Funding): number => {
  const bars = [still(100), [100, 110, 100, 110], [110, 120, 110, 120], still(120)] as const
  const script = { bars, decisions: { 0: LONG, 2: FLAT } }
  const without = equityOf(run(script).result).at(-1)!
  return without - equityOf(run({ ...script, funding }).result).at(-1)!
}

test.each([
  // The last close at slot 2 is 110, at slot 3 it is 120.
  ['is charged to the position carried in: quantity x the close before x rate', [slot(2)], 0.0022],
  ['is not charged at the open of the entry', [slot(1)], 0],
  ['is charged at the open of the exit', [slot(3)], 0.0024],
  ['is not charged before the entry and after the exit', [slot(0), slot(3) + HOUR_MS], 0],
  // An hour into bar 1 its close of 110 is not known yet.
  ['inside a bar is charged at the close that was known when it was due', [slot(1) + HOUR_MS], 0.002],
  ['inside a later bar is charged at the close before that bar', [slot(2) + HOUR_MS], 0.0022],
  ['is charged for each of several events between two bars', [slot(1) + HOUR_MS, slot(2)], 0.0042],
])('funding of a long %s', (_, times, expected) => {
  expect(paid(handFunding(...times.map(t => [t, 0.01] as const)))).toBeCloseTo(expected, 14)
})

test('funding in a gap is charged once, at the first bar after it, to the position carried in', () => {
  const script = { bars: [still(100), still(100), null, null, still(100)], decisions: { 0: LONG } }
  const funding = handFunding([slot(2), 0.01], [slot(3) + HOUR_MS, 0.02])
  expect(1 - equityOf(run({ ...script, funding }).result).at(-1)!).toBeCloseTo(0.002 * 100 * 0.03, 14)
})

test('funding does not depend on earlier runs of an engine: a second run charges the same', () => {
  const bars = handBars([still(100), still(100), still(110), still(120)])
  const funding = handFunding([slot(2), 0.01], [slot(3), 0.01])
  const { engine, state } = startReplay({ strategy: scripted({ 0: LONG }), bars, funding, costs: FREE })
  const again = initialState(engine)
  for (let i = 0; i < 4; i++) step(engine, state, barAt(bars, i))
  for (let i = 0; i < 4; i++) step(engine, again, barAt(bars, i))
  expect(again).toEqual(state)
  expect(state.cash).toBeCloseTo(1 - 0.002 * (100 + 110) * 0.01, 14)
})

/** Payments after these numbers of hours, from midnight on. */
const paidAfter = (...hours: readonly number[]) => {
  const t = [START_MS]
  for (const each of hours) t.push(t.at(-1)! + each * HOUR_MS)
  return { t: Float64Array.from(t) }
}

const times = (count: number, hours: number): number[] => Array<number>(count).fill(hours)

const gapHours = (feed: Parameters<typeof fundingGaps>[0]): number[] =>
  fundingGaps(feed).map(({ from, to }) => (to - from) / HOUR_MS)

test.each([
  ['none where each payment comes in time', times(50, 8), []],
  ['none beside a single payment', [], []],
  ['one missing payment', [...times(20, 8), 16, ...times(20, 8)], [16]],
  ['months, at either end', [1000, ...times(20, 8), 2000], [1000, 2000]],
  ['none where payments are late by seconds', [...times(20, 8), 8.01, 7.99, ...times(20, 8)], []],
  ['every second payment that is missing for years', [...times(20, 8), ...times(999, 16)], times(999, 16)],
  ['every second payment of all the feed', times(50, 16), times(50, 16)],
  ['every interval that is longer than the finest', [...times(30, 8), ...times(30, 4)], times(30, 8)],
  ['none beside a payment too many', [...times(20, 8), 3, 5, ...times(20, 8)], []],
  ['every month of a feed that has one row a month', [720, 720, 720], [720, 720, 720]],
])('the gaps in a funding feed without a stated interval are %s', (_, hours, expected) => {
  expect(gapHours(paidAfter(...hours))).toEqual(expected)
})

test('the interval of a funding feed is no finer than an hour, whatever is between copies of one payment', () => {
  const feed = paidAfter(1e-6, 1e-6, 1e-6, 8, 8)
  expect(fundingIntervals(feed)).toEqual([{ from: Number.NEGATIVE_INFINITY, everyMs: HOUR_MS }])
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
  ['each interval that becomes longer early', stated(4, 8, ...times(56, 4), 8, 8, ...times(9, 8)), [8, 8]],
  ['every second payment of all the feed', stated(4, 4, ...times(50, 8)), times(50, 8)],
])('the gaps in a funding feed with stated intervals are %s', (_, feed, expected) => {
  expect(gapHours(feed)).toEqual(expected)
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
