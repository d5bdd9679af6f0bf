// Two sets of bars of one market: whether their labels agree.
import { expect, test } from 'vitest'
import type { Bars } from '#core/replay/bars.ts'
import { compareLabels } from '#pipeline/report/label-checks.ts'
import { walk } from './walk.ts'

const HOUR_MS = 3_600_000
const FINE = walk(6 * 400)

/** The days of 4-hour bars. */
function daysOf({ t, o, h, l, c, v }: Bars): Bars {
  const days = Array.from({ length: t.length / 6 }, (_, i) => i * 6)
  const pick = (column: Float64Array, at = 0) => Float64Array.from(days, i => column[i + at]!)
  const most = (column: Float64Array, of: (...all: number[]) => number) =>
    Float64Array.from(days, i => of(...column.subarray(i, i + 6)))
  const hl = { h: most(h, Math.max), l: most(l, Math.min) }
  return { timeframeMs: 24 * HOUR_MS, t: pick(t), o: pick(o), ...hl, c: pick(c, 5), v: pick(v) }
}

const moved = (bars: Bars, hours: number): Bars => ({ ...bars, t: bars.t.map(t => t + hours * HOUR_MS) })

test('bars whose labels agree give no finding', () => {
  expect(compareLabels(FINE, FINE, 'OTHER')).toEqual([])
  expect(compareLabels(daysOf(FINE), FINE, 'OTHER')).toEqual([])
  expect(compareLabels(FINE, daysOf(FINE), 'OTHER')).toEqual([])
})

test.each([
  ['one bar earlier', 4],
  ['one bar later', -4],
  ['8 hours earlier', 8],
])('labels that are off so that the returns agree %s are serious', (shift, hours) => {
  const [finding] = compareLabels(moved(FINE, hours), FINE, 'OTHER')
  expect([finding?.severity, finding?.code]).toEqual(['serious', 'shifted_labels'])
  expect(finding?.what).toContain(`got those that it has ${shift}`)
  const [ofDays] = compareLabels(moved(FINE, hours), daysOf(FINE), 'OTHER')
  expect(ofDays?.what).toContain(`got those that it has ${shift}`)
})

test('markets that have nothing in common give no finding', () => {
  const other = { ...FINE, c: FINE.c.toReversed(), o: FINE.o.toReversed() }
  expect(compareLabels(other, FINE, 'OTHER')).toEqual([])
})
