import { expect, test } from 'vitest'
import { prepareProgram } from '#core/program/prepare-program.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { programProblems } from '#core/program/program-problems.ts'
import type { Bars } from '#core/replay/bars.ts'
import { ALWAYS, barsOf, DAY_0, firstBars, planOf } from './programs.ts'

const DAYS = barsOf(Array.from({ length: 300 }, (_, i) => 100 + (i % 7)))
const windowFrom = (day: number, to: number): Partial<ProgramPlan> => ({
  window: { from: DAY_0 + day, to: DAY_0 + to },
})
const LAST_30 = planOf(1, windowFrom(270, 320))

/** The same bars with one value of a column changed. */
const changed = (column: 'o' | 'h' | 'l' | 'c' | 'v', i: number, value: number): Bars => ({
  ...DAYS,
  [column]: DAYS[column].with(i, value),
})

const without = (from: number, to: number): Bars => {
  const keep = (column: Float64Array) => column.filter((_, i) => i < from || i >= to)
  const { timeframeMs, t, o, h, l, c, v } = DAYS
  return { timeframeMs, t: keep(t), o: keep(o), h: keep(h), l: keep(l), c: keep(c), v: keep(v) }
}

test.each<[string, ProgramPlan, Bars, string]>([
  [
    'for a zero price in its window',
    LAST_30,
    changed('c', 280, 0),
    'the bar at 2017-04-24T00:00:00Z must have prices above 0; its close is 0: correct the bars',
  ],
  [
    'for a price before its window that is no number',
    LAST_30,
    changed('h', 3, Number.NaN),
    'the bar at 2016-07-21T00:00:00Z must have prices above 0; its high is NaN: correct the bars',
  ],
  [
    'for an open that is negative',
    LAST_30,
    changed('o', 3, -7),
    'the bar at 2016-07-21T00:00:00Z must have prices above 0; its open is -7: correct the bars',
  ],
  [
    'for an infinite price',
    LAST_30,
    changed('l', 3, Number.POSITIVE_INFINITY),
    'the bar at 2016-07-21T00:00:00Z must have prices above 0; its low is Infinity: correct the bars',
  ],
  [
    'for a negative volume',
    LAST_30,
    changed('v', 299, -1),
    'the bar at 2017-05-13T00:00:00Z must have a volume of 0 or more; it is -1: correct the bars',
  ],
  [
    'for a blank volume',
    LAST_30,
    changed('v', 270, Number.NaN),
    'the bar at 2017-04-14T00:00:00Z must have a volume of 0 or more; it is blank: correct the bars',
  ],
  [
    'for volumes that are all zero',
    LAST_30,
    { ...DAYS, v: DAYS.v.map((v, i) => (i < 270 ? v : 0)) },
    'no bar of the window has any volume, so there is no vwap: provide bars with volumes',
  ],
  [
    'for a gap in its window',
    LAST_30,
    without(285, 288),
    'the bar at 2017-04-29T00:00:00Z is missing in the part of the window that has happened, the next is at ' +
      '2017-05-02T00:00:00Z: provide every bar from the first day of the window on, or move the start of the window',
  ],
  [
    'for a window that begins before the bars',
    planOf(1, windowFrom(-2, 10)),
    DAYS,
    'the bar at 2016-07-16T00:00:00Z is missing in the part of the window that has happened, the next is at ' +
      '2016-07-18T00:00:00Z: provide every bar from the first day of the window on, or move the start of the window',
  ],
  [
    'for a gap that reaches over the end of its window',
    planOf(1, windowFrom(270, 290)),
    without(289, 295),
    'the bar at 2017-05-03T00:00:00Z is missing in the part of the window that has happened, the next is at ' +
      '2017-05-09T00:00:00Z: provide every bar from the first day of the window on, or move the start of the window',
  ],
  [
    'for a window that ends before it begins',
    planOf(1, windowFrom(270, 269)),
    DAYS,
    'the window ends on 2017-04-13, before it begins on 2017-04-14: swap the two dates, or correct one',
  ],
  [
    'for weights that do not sum to 1',
    { ...LAST_30, tiers: [{ tier: 'core', weight: 1 + 2e-9, rule: ALWAYS }] },
    DAYS,
    'the weights of the tiers must sum to 1, within 1e-9; they sum to 1.000000002: correct them',
  ],
  [
    'for a timeframe that does not divide the day',
    LAST_30,
    { ...DAYS, timeframeMs: 7 * 3_600_000 },
    'a timeframe must divide the day of 86400000 ms; this one is 25200000 ms: provide bars of 1d or of a part of it',
  ],
])('a program is refused %s, with a sentence', (_, plan, bars, sentence) => {
  expect(programProblems(plan, bars)).toEqual([sentence])
  expect(() => prepareProgram(plan, bars)).toThrow(`program accumulation: ${sentence}`)
})

test('a refusal of a program names all problems at once', () => {
  const bars = {
    ...without(285, 288),
    c: without(285, 288).c.with(1, -5),
    v: without(285, 288).v.with(280, -1),
  }
  const tiers = [{ tier: 'core', weight: 0.9, rule: ALWAYS }] as const
  expect(programProblems({ ...LAST_30, tiers }, bars)).toHaveLength(4)
})

test.each<[string, ProgramPlan, Bars]>([
  [
    'with weights that sum to 1 within 1e-9',
    { ...LAST_30, tiers: [{ tier: 'core', weight: 1 + 9e-10, rule: ALWAYS }] },
    DAYS,
  ],
  ['with bars without volume, as long as one of the window has some', LAST_30, changed('v', 280, 0)],
  ['with a blank volume before its window', LAST_30, changed('v', 269, Number.NaN)],
  ['with a gap before its window', LAST_30, without(100, 200)],
  ['with a gap after its window', planOf(1, windowFrom(270, 280)), without(290, 295)],
  ['with a window of one day', planOf(1, windowFrom(270, 270)), DAYS],
  ['without a bar', LAST_30, firstBars(DAYS, 0)],
])('a program is accepted %s', (_, plan, bars) => {
  expect(programProblems(plan, bars)).toEqual([])
})
