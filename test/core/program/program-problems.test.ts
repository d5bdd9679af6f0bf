import { expect, test } from 'vitest'
import { prepareProgram } from '#core/program/prepare-program.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { programProblems } from '#core/program/program-problems.ts'
import type { Bars } from '#core/replay/bars.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { ALWAYS, DAYS, firstBars, LAST_30, planOf, windowFrom } from './programs.ts'

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

const WRONG = {
  price: (at: string, what: string) =>
    `the bar at ${at}T00:00:00Z must have prices above 0; its ${what}: correct the bars`,
  volume: (at: string, what: string) =>
    `the bar at ${at}T00:00:00Z must have a volume of 0 or more; it is ${what}: correct the bars`,
  gap: (at: string, next: string) =>
    `the bar at ${at}T00:00:00Z is missing in the part of the window that has happened, the next is at ` +
    `${next}T00:00:00Z: provide every bar from the first day of the window on, or move the start of the window`,
}

const weighing = (weight: number): ProgramPlan => ({
  ...LAST_30,
  tiers: [{ tier: 'core', weight, rule: ALWAYS }],
})

test.each(casesOf<[string, string, Bars, ProgramPlan?]>`
a zero price in its window -> ${WRONG.price('2017-04-24', 'close is 0')} -> ${changed('c', 280, 0)}
a price before its window that is no number -> ${WRONG.price('2016-07-21', 'high is NaN')} -> ${changed('h', 3, Number.NaN)}
an open that is negative -> ${WRONG.price('2016-07-21', 'open is -7')} -> ${changed('o', 3, -7)}
an infinite price -> ${WRONG.price('2016-07-21', 'low is Infinity')} -> ${changed('l', 3, Number.POSITIVE_INFINITY)}
a negative volume -> ${WRONG.volume('2017-05-13', '-1')} -> ${changed('v', 299, -1)}
a blank volume -> ${WRONG.volume('2017-04-14', 'blank')} -> ${changed('v', 270, Number.NaN)}
volumes that are all zero -> no bar of the window has any volume, so there is no vwap: provide bars with volumes -> ${{ ...DAYS, v: DAYS.v.map((v, i) => (i < 270 ? v : 0)) }}
a gap in its window -> ${WRONG.gap('2017-04-29', '2017-05-02')} -> ${without(285, 288)}
a window that begins before the bars -> ${WRONG.gap('2016-07-16', '2016-07-18')} -> ${DAYS} -> ${planOf(1, windowFrom(-2, 10))}
a gap over the end of its window -> ${WRONG.gap('2017-05-03', '2017-05-09')} -> ${without(289, 295)} -> ${planOf(1, windowFrom(270, 290))}
a window that ends before it begins -> the window ends on 2017-04-13, before it begins on 2017-04-14: swap the two dates, or correct one -> ${DAYS} -> ${planOf(1, windowFrom(270, 269))}
weights that do not sum to 1 -> the weights of the tiers must sum to 1, within 1e-9; they sum to 1.000000002: correct them -> ${DAYS} -> ${weighing(1 + 2e-9)}
a timeframe that does not divide the day -> a timeframe must divide the day of 86400000 ms; this one is 25200000 ms: provide bars of 1d or of a part of it -> ${{ ...DAYS, timeframeMs: 7 * 3_600_000 }}`)(
  'a program is refused for %s: %s',
  (_, sentence, bars, plan = LAST_30) => {
    expect(programProblems(plan, bars)).toEqual([sentence])
    expect(() => prepareProgram(plan, bars)).toThrow(`program accumulation: ${sentence}`)
  },
)

test('a refusal of a program names all problems at once', () => {
  const gap = without(285, 288)
  const bars = { ...gap, c: gap.c.with(1, -5), v: gap.v.with(280, -1) }
  expect(programProblems(weighing(0.9), bars)).toHaveLength(4)
})

test.each<[string, ProgramPlan, Bars]>([
  ['with weights that sum to 1 within 1e-9', weighing(1 + 9e-10), DAYS],
  ['with bars without volume, as long as one of the window has some', LAST_30, changed('v', 280, 0)],
  ['with a blank volume before its window', LAST_30, changed('v', 269, Number.NaN)],
  ['with a gap before its window', LAST_30, without(100, 200)],
  ['with a gap after its window', planOf(1, windowFrom(270, 280)), without(290, 295)],
  ['with a window of one day', planOf(1, windowFrom(270, 270)), DAYS],
  ['without a bar', LAST_30, firstBars(DAYS, 0)],
])('a program is accepted %s', (_, plan, bars) => {
  expect(programProblems(plan, bars)).toEqual([])
})
