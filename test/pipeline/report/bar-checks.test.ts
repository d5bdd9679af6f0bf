// What is found in bars by themselves. The bars are a seeded walk with wicks, into which each test puts one fault.
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import { checkBars } from '#pipeline/report/bar-checks.ts'
import { walk } from './walk.ts'

const HOURS_4 = 4 * 3_600_000
const NEVER = Number.POSITIVE_INFINITY
const FROM = Date.parse('2024-01-01T00:00:00Z')

const found = (bars: Bars, nowMs = NEVER) =>
  checkBars(bars, nowMs).map(({ severity, code, at, count }) => [severity, code, at[0], count])

/** The walk with some bars changed. */
function changed(change: (bars: Bars) => void, count = 400): Bars {
  const bars = walk(count)
  change(bars)
  return bars
}

const without = (bars: Bars, from: number, count: number): Bars => {
  const cut = (column: Float64Array) => column.filter((_, i) => i < from || i >= from + count)
  const { timeframeMs, t, o, h, l, c, v } = bars
  return { timeframeMs, t: cut(t), o: cut(o), h: cut(h), l: cut(l), c: cut(c), v: cut(v) }
}

const scale = (bars: Bars, i: number, factor: number): void => {
  for (const column of [bars.o, bars.h, bars.l, bars.c]) column[i]! *= factor
}

test('sound bars give no finding', () => {
  expect(found(walk(2000))).toEqual([])
})

test.each([
  ['first', 0, 'jump', 1],
  ['middle', 200, 'spike', 200],
  ['last', 399, 'spike', 399],
])('a %s bar with ten times the price is serious', (_, i, code, at) => {
  expect(found(changed(bars => scale(bars, i, 10)))).toEqual([['serious', code, at, 1]])
})

test.each([
  ['high', 10],
  ['low', 0.1],
] as const)('a %s ten times off is serious, whatever open and close are', (name, factor) => {
  const bars = changed(each => {
    const column = name === 'high' ? each.h : each.l
    column[200]! *= factor
  })
  expect(found(bars)).toEqual([['serious', 'spike', 200, 1]])
})

test('a close ten times off is serious, though the next bar opens where the market is', () => {
  const bars = changed(each => {
    each.c[200]! *= 10
    each.h[200] = each.c[200]!
  })
  expect(found(bars)).toEqual([['serious', 'spike', 200, 1]])
})

test('bars in another unit from a day on are serious once', () => {
  expect(
    found(
      changed(bars => {
        for (let i = 200; i < 400; i++) scale(bars, i, 1000)
      }),
    ),
  ).toEqual([['serious', 'jump', 200, 1]])
})

test('a fall by half in a bar that is not taken back is no finding', () => {
  const bars = changed(each => {
    each.c[200]! *= 0.5
    each.l[200] = each.c[200]!
    for (let i = 201; i < 400; i++) scale(each, i, 0.5)
  })
  expect(found(bars)).toEqual([])
})

test('thirty missing bars are serious, whether in one gap or in many', () => {
  expect(found(without(walk(400), 200, 30))).toEqual([['serious', 'gap', 200, 30]])
  let bars = walk(400)
  for (let i = 0; i < 30; i++) bars = without(bars, 10 + i * 10, 1)
  expect(found(bars)).toEqual([['serious', 'gaps', 10, 30]])
})

test('a short outage is a note', () => {
  expect(found(without(walk(400), 200, 3))).toEqual([['note', 'gaps', 200, 3]])
})

test('a bar of the future is blocking, and so is a running bar that would end the last day', () => {
  const bars = walk(12) // two days
  expect(found(bars, FROM + DAY_MS)).toEqual([['blocking', 'future_bars', 7, 5]])
  expect(found(bars, FROM + 2 * DAY_MS - 1)).toEqual([['blocking', 'unfinished_bar', 11, 1]])
  expect(found(walk(11), FROM + 2 * DAY_MS - HOURS_4 - 1)).toEqual([['note', 'unfinished_bar', 10, 1]])
  expect(found(bars, FROM + 2 * DAY_MS)).toEqual([])
})

test('a price that stands still for two days is serious, and for some hours nothing', () => {
  const flat = (length: number) =>
    changed(bars => {
      for (let i = 200; i < 200 + length; i++)
        for (const column of [bars.o, bars.h, bars.l, bars.c]) column[i] = bars.c[199]!
    })
  expect(found(flat(12)).map(([severity, code]) => [severity, code])).toEqual([['serious', 'flat_run']])
  expect(found(flat(4))).toEqual([])
})

test('a price that moves without volume for two days is serious; volume that is always 0 is a note', () => {
  expect(found(changed(bars => bars.v.fill(0, 200, 212)))).toEqual([
    ['note', 'no_volume', 200, 12],
    ['serious', 'zero_volume', 200, 12],
  ])
  expect(found(changed(bars => bars.v.fill(0)))).toEqual([['note', 'no_volume', 0, 400]])
})

test('bars that were copied forward are serious', () => {
  const bars = changed(each => {
    for (const column of [each.o, each.h, each.l, each.c, each.v]) column.fill(column[200]!, 201, 204)
  })
  expect(found(bars)).toEqual([['serious', 'copied_bars', 201, 3]])
})

test('interpolated closes are serious', () => {
  const bars = changed(({ o, h, l, c }) => {
    const step = (c[220]! * 1.05 - c[200]!) / 20
    for (let i = 201; i <= 220; i++) {
      o[i] = c[i - 1]!
      c[i] = c[i - 1]! + step
      h[i] = Math.max(o[i]!, c[i]!)
      l[i] = Math.min(o[i]!, c[i]!)
    }
  })
  expect(found(bars).map(([severity, code]) => [severity, code])).toContainEqual(['serious', 'straight_line'])
})

test('interpolated bars that are rounded to the tick are serious', () => {
  const bars = changed(({ o, h, l, c }) => {
    const toTick = (price: number): number => Math.round(price * 10) / 10
    for (let i = 0; i < c.length; i++) c[i] = toTick(c[i]!)
    const [from, to] = [c[100]!, c[130]! + 70]
    for (let i = 100; i <= 130; i++) c[i] = toTick(from + ((to - from) * (i - 100)) / 30)
    for (let i = 1; i < c.length; i++) {
      o[i] = c[i - 1]!
      h[i] = Math.max(o[i]!, c[i]!, h[i]!)
      l[i] = Math.min(o[i]!, c[i]!, l[i]!)
    }
  })
  expect(found(bars).map(([severity, code]) => [severity, code])).toContainEqual(['serious', 'straight_line'])
})

test('equal steps of a tick in a market with a coarse tick are no interpolation', () => {
  const bars = changed(({ o, h, l, c }) => {
    for (let i = 0; i < 400; i++) {
      c[i] = 100 + (i % 20 < 10 ? i % 20 : 20 - (i % 20)) * 0.5
      o[i] = c[i - 1] ?? 100
      h[i] = Math.max(o[i]!, c[i]!) + 0.5
      l[i] = Math.min(o[i]!, c[i]!) - 0.5
    }
  })
  expect(found(bars)).toEqual([])
})

test('generated bars, of which no price leaves the range of open and close, are serious', () => {
  const bars = changed(({ o, h, l, c }) => {
    for (let i = 0; i < 400; i++) {
      h[i] = Math.max(o[i]!, c[i]!)
      l[i] = Math.min(o[i]!, c[i]!)
    }
  })
  expect(found(bars)).toEqual([['serious', 'no_wicks', 0, 400]])
})
