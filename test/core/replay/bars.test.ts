import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import {
  type Bars,
  barAt,
  barHolding,
  buyAndHold,
  describeInstant,
  lastAtOrBefore,
  sliceBars,
} from '#core/replay/bars.ts'
import { forAll } from '#test/support/for-all.ts'
import { HOUR_MS, handBars, slot, still } from './hand.ts'

test('the search for the last time at or before an instant agrees with looking at every one', () => {
  const times = fc.uniqueArray(fc.integer({ min: -50, max: 50 })).map(list => Float64Array.from(list).sort())
  forAll(times, fc.integer({ min: -60, max: 60 }), (sorted, ms) => {
    expect(lastAtOrBefore(sorted, ms)).toBe(sorted.findLastIndex(t => t <= ms))
  })
})

const bars = handBars([still(1), still(2), null, still(3)])

test.each([
  ['at the open of a bar', 1, slot(1)],
  ['in the last millisecond of a bar', 1, slot(2) - 1],
  ['in the first millisecond of a gap', -1, slot(2)],
  ['in the last millisecond of a gap', -1, slot(3) - 1],
  ['before the first bar', -1, slot(0) - 1],
  ['after the last bar', -1, slot(4)],
])('an instant %s belongs to the bar %i, where -1 is none', (_, index, ms) => {
  expect(barHolding(bars, ms)).toBe(index)
})

test('a slice of bars is a view: no copy is made', () => {
  const bars = handBars([still(1), still(2), still(3)])
  const slice = sliceBars(bars, 1, 3)
  expect(barAt(slice, 0)).toEqual(barAt(bars, 1))
  expect(slice.c.buffer).toBe(bars.c.buffer)
  expect(slice.t).toHaveLength(2)
})

test('an instant is described without ever throwing', () => {
  expect(describeInstant(slot(0) + HOUR_MS)).toBe('2020-01-01T01:00:00Z')
  expect(describeInstant(Number.NaN)).toBe('NaN ms')
  expect(describeInstant(1.6e18)).toBe('1600000000000000000 ms')
})

/** Bars at these hours from the first midnight of 2024 on, with these opens and closes. */
function barsAt(rows: readonly (readonly [hour: number, open: number, close: number])[]): Bars {
  const column = (at: (row: readonly [number, number, number]) => number) => Float64Array.from(rows, at)
  const [o, c] = [column(([, open]) => open), column(([, , close]) => close)]
  const t = column(([hour]) => 19_723 * DAY_MS + hour * HOUR_MS)
  return { timeframeMs: HOUR_MS, t, o, h: o, l: o, c, v: c }
}

test('a day is its last close over the last close before it, the first over its first open, one without bars 0', () => {
  const bars = barsAt([
    [12, 100, 90],
    [23, 90, 110],
    [24, 115, 120],
    [30, 120, 99],
    [72 + 5, 100, 198],
  ])
  const values = Float64Array.of(110 / 100 - 1, 99 / 110 - 1, 0, 198 / 99 - 1)
  expect(buyAndHold(bars)).toEqual({ period: 'daily', first: 19_723, values })
})

test('the days compound to the last close over the first open, with any gaps', () => {
  const price = fc.double({ min: 1, max: 1000, noNaN: true })
  const anyBars = fc
    .uniqueArray(fc.nat(2000), { minLength: 1, maxLength: 60 })
    .chain(hours =>
      fc
        .array(fc.tuple(price, price), { minLength: hours.length, maxLength: hours.length })
        .map(prices => hours.sort((a, b) => a - b).map((hour, i) => [hour, ...prices[i]!] as const)),
    )
  forAll(anyBars, rows => {
    const { values } = buyAndHold(barsAt(rows))
    const growth = values.reduce((equity, value) => equity * (1 + value), 1)
    expect(growth / (rows.at(-1)![2] / rows[0]![1])).toBeCloseTo(1, 9)
    expect(values).toHaveLength(Math.floor(rows.at(-1)![0] / 24) - Math.floor(rows[0]![0] / 24) + 1)
  })
})
