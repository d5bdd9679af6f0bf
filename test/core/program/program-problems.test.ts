import { expect, test } from 'vitest'
import { programProblems } from '#core/program/prepare-program.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import type { Bars } from '#core/replay/bars.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { DAYS, firstBars, LAST_30, planOf, windowFrom } from './programs.ts'

/** The same bars with one value of a column changed. */
const changed = (column: 'v', i: number, value: number): Bars => ({
  ...DAYS,
  [column]: DAYS[column].with(i, value),
})

const without = (from: number, to: number): Bars => {
  const keep = (column: Float64Array) => column.filter((_, i) => i < from || i >= to)
  const { timeframeMs, t, o, h, l, c, v } = DAYS
  return { timeframeMs, t: keep(t), o: keep(o), h: keep(h), l: keep(l), c: keep(c), v: keep(v) }
}

const WRONG = {
  volume: (at: string) =>
    `the bar at ${at}T00:00:00Z must have a volume of 0 or more; it is blank: correct the bars`,
  gap: (at: string, next: string) =>
    `the bar at ${at}T00:00:00Z is missing in the part of the window that has happened, the next is at ` +
    `${next}T00:00:00Z: provide every bar from the first day of the window on, or move the start of the window`,
}

test.each(casesOf<[string, string, Bars, ProgramPlan?]>`
a blank volume -> ${WRONG.volume('2017-04-14')} -> ${changed('v', 270, Number.NaN)}
volumes that are all zero -> no bar of the window has any volume, so there is no vwap: provide bars with volumes -> ${{ ...DAYS, v: DAYS.v.map((v, i) => (i < 270 ? v : 0)) }}
a gap in its window -> ${WRONG.gap('2017-04-29', '2017-05-02')} -> ${without(285, 288)}
a window that begins before the bars -> ${WRONG.gap('2016-07-16', '2016-07-18')} -> ${DAYS} -> ${planOf(1, windowFrom(-2, 10))}
a gap over the end of its window -> ${WRONG.gap('2017-05-03', '2017-05-09')} -> ${without(289, 295)} -> ${planOf(1, windowFrom(270, 290))}`)(
  'a program is refused for %s: %s',
  (_, sentence, bars, plan = LAST_30) => {
    expect(programProblems(plan, bars)).toEqual([sentence])
  },
)

test('a refusal of a program names all problems at once', () => {
  const gap = without(285, 288)
  expect(programProblems(LAST_30, { ...gap, v: gap.v.with(280, Number.NaN) })).toHaveLength(2)
})

test.each<[string, ProgramPlan, Bars]>([
  ['with bars without volume, as long as one of the window has some', LAST_30, changed('v', 280, 0)],
  ['with a blank volume before its window', LAST_30, changed('v', 269, Number.NaN)],
  ['with a gap before its window', LAST_30, without(100, 200)],
  ['with a gap after its window', planOf(1, windowFrom(270, 280)), without(290, 295)],
  ['with a window of one day', planOf(1, windowFrom(270, 270)), DAYS],
  ['without a bar', LAST_30, firstBars(DAYS, 0)],
])('a program is accepted %s', (_, plan, bars) => {
  expect(programProblems(plan, bars)).toEqual([])
})
