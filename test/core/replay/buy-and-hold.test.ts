import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import { buyAndHold } from '#core/replay/buy-and-hold.ts'
import { forAll } from '#test/support/for-all.ts'

const HOUR_MS = 3_600_000

/** Bars at these hours from the first midnight of 2024 on, with these opens and closes. */
function barsAt(rows: readonly (readonly [hour: number, open: number, close: number])[]): Bars {
  const column = (at: (row: readonly [number, number, number]) => number) => Float64Array.from(rows, at)
  const [o, c] = [column(([, open]) => open), column(([, , close]) => close)]
  return {
    timeframeMs: HOUR_MS,
    t: column(([hour]) => 19_723 * DAY_MS + hour * HOUR_MS),
    o,
    h: o,
    l: o,
    c,
    v: c,
  }
}

test('a day is its last close over the last close before it, the first over its first open, one without bars 0', () => {
  const bars = barsAt([
    [12, 100, 90],
    [23, 90, 110],
    [24, 115, 120],
    [30, 120, 99],
    [72 + 5, 100, 198],
  ])
  expect(buyAndHold(bars)).toEqual({
    period: 'daily',
    first: 19_723,
    values: Float64Array.of(110 / 100 - 1, 99 / 110 - 1, 0, 198 / 99 - 1),
  })
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
