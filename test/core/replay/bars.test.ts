import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barAt, barHolding, describeInstant, lastAtOrBefore, sliceBars } from '#core/replay/bars.ts'
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
