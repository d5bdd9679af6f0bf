// Axes: ticks that are round, have room and say different things, for any range.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import { dayTicks, emsOf, linearAxis, logarithmicAxis, tickRow, valueGrid } from '#pages/charts/axes.ts'
import { escapeText, tickText, type Unit, valueText } from '#pages/charts/svg.ts'
import { decimal } from '#pages/format.ts'
import { all } from '../../support/browser/rendered-pages.ts'
import { casesOf } from '../../support/cases-of.ts'
import { forAll } from '../../support/for-all.ts'
import { parseXml } from './drawn.ts'

const PLOT = { left: 50, right: 710, top: 24, bottom: 210 }
const day = (text: string) => parseIsoDate(text)!

const logarithmic = (low: number, high: number) =>
  logarithmicAxis(low, high, PLOT).ticks.map(value => tickText(value, 'multiple'))

test.each([
  [0.95, 1.04, '0.96× 0.98× 1× 1.02× 1.04×'],
  [0.8, 2.6, '0.8× 1× 1.2× 1.5× 2× 2.5×'],
  [0.5, 9, '0.5× 1× 2× 5×'],
  [0.9, 80, '1× 2× 5× 10× 20× 50×'],
  [0.01, 1, '0.01× 0.02× 0.05× 0.1× 0.2× 0.5× 1×'],
  [1, 1e6, '1× 10× 100× 1000× 10k× 100k× 1M×'],
  [0.01, 1e6, '0.01× 0.1× 1× 10× 100× 1000× 10k× 100k× 1M×'],
  [1e-300, 1e300, '10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 1× 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰'],
  [1, 1, '0.96× 0.98× 1× 1.02× 1.04×'],
])('a logarithmic axis from %d to %d has round labels %s', (low, high, labels) => {
  expect(logarithmic(low, high).join(' ')).toBe(labels)
})

const anyEnd = fc.oneof(fc.double({ min: -1e3, max: 1e3, noNaN: true }), fc.double({ noNaN: true }))
const anyRange = fc.tuple(anyEnd, anyEnd).map(ends => ends.sort((a, b) => a - b))

test('an axis of any range has its ends inside the plot, its ticks in order with room for text, and two labels at least that differ', () => {
  forAll(400, anyRange, fc.boolean(), ([low, high], isLogarithmic) => {
    const ends = isLogarithmic ? [Math.abs(low!), Math.abs(high!)].sort((a, b) => a - b) : [low!, high!]
    const axis = (isLogarithmic ? logarithmicAxis : linearAxis)(ends[0]!, ends[1]!, PLOT)
    for (const value of ends) {
      expect(axis.y(value)).toBeGreaterThanOrEqual(PLOT.top)
      expect(axis.y(value)).toBeLessThanOrEqual(PLOT.bottom)
    }
    const heights = axis.ticks.map(axis.y)
    expect(heights.every((y, i) => i === 0 || heights[i - 1]! - y >= 15)).toBe(true)
    const labels = axis.ticks.map(value => tickText(value, 'ratio'))
    expect(labels.length).toBeGreaterThanOrEqual(2)
    expect(new Set(labels).size).toBe(labels.length)
  })
})

test('an axis keeps the label of the baseline on narrow screens, and leaves out every second one', () => {
  const texts = (low: number, high: number, unit: Unit) => {
    const grid = parseXml(`<g>${valueGrid(linearAxis(low, high, PLOT), PLOT, unit)}</g>`)
    const labels = all(grid).filter(({ name }) => name === 'text')
    return labels.filter(({ attributes }) => attributes.class !== 'second').map(({ text }) => text)
  }
  expect(texts(-30, 20, 'percent')).toEqual(['−20\u202f%', '0\u202f%', '20\u202f%'])
  expect(texts(0.8, 1.2, 'multiple')).toEqual(['0.8×', '1×', '1.2×'])
})

const ticksOf = (from: string, to: string, right = 710) => {
  const [first, last] = [day(from), day(to)]
  const x = (at: number) => PLOT.left + ((right - PLOT.left) * (at - first)) / Math.max(last - first, 1)
  return dayTicks(first, last, x).map(({ label }) => label)
}

test.each(casesOf<[string, string, string[]]>`
2018-01-01 -> 2018-01-01 -> ${['1 Jan 2018']}
2018-01-01 -> 2018-01-03 -> ${['1 Jan 2018', '2 Jan 2018', '3 Jan 2018']}
2024-02-01 -> 2024-06-30 -> ${['Feb 2024', 'Mar 2024', 'Apr 2024', 'May 2024', 'Jun 2024']}
2024-02-10 -> 2025-12-31 -> ${['Apr 2024', 'Jul 2024', 'Oct 2024', 'Jan 2025', 'Apr 2025', 'Jul 2025', 'Oct 2025']}
2022-03-01 -> 2025-03-01 -> ${['Jul 2022', 'Jan 2023', 'Jul 2023', 'Jan 2024', 'Jul 2024', 'Jan 2025']}
2018-01-01 -> 2021-12-31 -> ${['Jan 2018', 'Jul 2018', 'Jan 2019', 'Jul 2019', 'Jan 2020', 'Jul 2020', 'Jan 2021', 'Jul 2021']}
2018-01-01 -> 2026-06-30 -> ${['2018', '2019', '2020', '2021', '2022', '2023', '2024', '2025', '2026']}
1990-06-01 -> 2015-06-01 -> ${['1992', '1994', '1996', '1998', '2000', '2002', '2004', '2006', '2008', '2010', '2012', '2014']}`)(
  'the days from %s to %s have ticks at %s',
  (from, to, labels) => {
    expect(ticksOf(from, to)).toEqual(labels)
  },
)

test('ticks of days are in the range, at the first day of their month, and have room for their text', () => {
  forAll(
    fc.integer({ min: -20_000, max: 30_000 }),
    fc.integer({ min: 0, max: 20_000 }),
    fc.constantFrom(340, 710),
    (from, length, right) => {
      const x = (at: number) => PLOT.left + ((right - PLOT.left) * (at - from)) / Math.max(length, 1)
      const ticks = dayTicks(from, from + length, x)
      expect(ticks.length).toBeGreaterThanOrEqual(1)
      ticks.forEach(({ at, label }, i) => {
        expect(at).toBeGreaterThanOrEqual(PLOT.left - 1e-6)
        expect(at).toBeLessThanOrEqual(right + 1e-6)
        if (i > 0) expect(at - ticks[i - 1]!.at).toBeGreaterThanOrEqual(emsOf(label) * 11)
        const start = new Date(`${/^\d{4}$/.test(label) ? 'Jan ' : ''}${label} UTC`)
        expect(from + Math.round(((at - PLOT.left) * Math.max(length, 1)) / (right - PLOT.left))).toBe(
          start.getTime() / DAY_MS,
        )
      })
      const wide = ticks.filter(({ isSecond }) => !isSecond)
      for (let i = 1; i < wide.length; i++)
        expect(wide[i]!.at - wide[i - 1]!.at).toBeGreaterThanOrEqual(emsOf(wide[i]!.label) * 18)
    },
  )
})

test('ticks of days stay inside the drawing with their labels', () => {
  const row = tickRow([{ at: 700, label: '2026', isSecond: false }], PLOT)
  const text = all(parseXml(`<g>${row}</g>`)).find(({ name }) => name === 'text')!
  expect(text.attributes).toMatchObject({ class: 'end', x: '718' })
})

test.each<[number, Unit, string, string]>([
  [-42.44, 'percent', '−42.44\u202f%', '−42.4\u202f%'],
  [0.1 + 0.2, 'ratio', '0.3', '0.30'],
  [12_345, 'count', '12.345k', decimal(12_345, 0)],
  [2e22, 'multiple', '2 × 10²²', '2.0 × 10²² times'],
  [1.23e6, 'multiple', '1.23M×', '1.2 million times'],
  [-1e12, 'percent', '−10¹²\u202f%', '−1.0 × 10¹²\u202f%'],
  [1.5e-7, 'multiple', '1.5 × 10⁻⁷', '1.5 × 10⁻⁷ times'],
  [0.00012346, 'multiple', '0.00012346×', '0.00012×'],
  [0, 'percent', '0\u202f%', '0.0\u202f%'],
])('the value %d in the unit %s is %j on an axis and %j in a sentence', (value, unit, beside, inSentence) => {
  expect([tickText(value, unit), valueText(value, unit)]).toEqual([beside, inSentence])
})

test('a text of any characters can stand in an attribute', () => {
  forAll(fc.string(), text => {
    expect(parseXml(`<a b="${escapeText(text)}"/>`).attributes.b).toBe(text)
  })
})
