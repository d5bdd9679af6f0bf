// Lines over days: where they are, what is kept of the data, and that any data and any text give a drawing.
import { brotliCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { emsOf } from '#pages/charts/axes.ts'
import { endLabels } from '#pages/charts/end-labels.ts'
import {
  chartScales,
  drawdownChartOf,
  type LineChart,
  lineChart,
  namedLineChart,
} from '#pages/charts/line-chart.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { all } from '../../support/browser/rendered-pages.ts'
import { forAll } from '../../support/for-all.ts'
import { linePoints, parseXml, partsOf, withClass } from './drawn.ts'

const FIRST = parseIsoDate('2018-01-01')!

/** A chart of one line, all of its days. */
const chartOf = (values: readonly number[] | Float64Array, rest: Partial<LineChart> = {}): LineChart => ({
  id: 'equity',
  title: 'Equity',
  y: 'log',
  unit: 'multiple',
  lines: [{ name: 'Alder', kind: 'main', first: FIRST, values: Float64Array.from(values) }],
  days: { from: FIRST, to: FIRST + values.length - 1 },
  ...rest,
})

/** An equity that moves by up to 4 % a day, the same on every run. */
function walk(days: number): Float64Array {
  const { uniform: random } = createRandom(7)
  let equity = 1
  return Float64Array.from({ length: days }, () => {
    equity *= 1.0006 + 0.028 * (random() + random() + random() - 1.5)
    return equity
  })
}

const descriptionOf = (chart: LineChart): string => parseXml(lineChart(chart)).children[1]!.text

const anyValue = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 1e-3, max: 1e3, noNaN: true }) },
  { weight: 2, arbitrary: fc.constantFrom(Number.NaN, 0, 1, -1, 1e300, -1e300, 1e-300, 5e-324, 1.7e308) },
  { weight: 1, arbitrary: fc.double() },
)
const anyText = fc.string({ unit: 'binary', maxLength: 200 })
const day = (least: number, most: number) => fc.integer({ min: FIRST + least, max: FIRST + most })
const anyChart: fc.Arbitrary<LineChart> = fc.record({
  id: fc.constant('a'),
  title: anyText,
  y: fc.constantFrom('log' as const, 'linear' as const),
  unit: fc.constantFrom('multiple' as const, 'percent' as const, 'ratio' as const),
  lines: fc.array(
    fc.record({
      name: anyText,
      kind: fc.constantFrom('main' as const, 'other' as const, 'under' as const, 'series3' as const),
      first: day(-50, 50),
      values: fc.array(anyValue, { maxLength: 300 }).map(values => Float64Array.from(values)),
    }),
    { maxLength: 4 },
  ),
  days: fc.record({ from: day(-20, 80), to: day(-20, 9500) }),
  baseline: fc.constantFrom(0, 1, -5),
  entered: fc.option(day(-100, 9000), { nil: null }),
  bands: fc.array(fc.record({ from: day(-100, 500), to: day(-100, 500), label: anyText }), { maxLength: 3 }),
  size: fc.constantFrom('full' as const, 'half' as const),
})

test('charts of the equity and of the drawdowns of an account begin at the same place', () => {
  const left = (values: readonly number[], rest: Partial<LineChart> = {}) =>
    chartScales(chartOf(values, rest)).plot.left
  const depths = { y: 'linear', unit: 'percent', baseline: 0 } as const
  const lefts = [
    [1, 1.02],
    [0.01, 1],
    [1, 900],
    [1, 4e5],
  ].map(values => left(values))
  expect(new Set([...lefts, left([0, -4], depths), left([0, -100], depths)]).size).toBe(1)
})

test('a chart of any lines, days and texts is XML without NaN, Infinity or an inline style, and the same text for the same chart', () => {
  forAll(anyChart, chart => {
    const nameless = {
      ...chart,
      title: '',
      lines: chart.lines.map(line => ({ ...line, name: '' })),
      bands: [],
    }
    expect(lineChart(nameless)).not.toMatch(/NaN|Infinity|undefined|style=/)
    const text = lineChart(chart)
    expect(all(parseXml(text)).flatMap(({ attributes }) => Object.keys(attributes))).not.toContain('style')
    expect(lineChart(structuredClone(chart))).toBe(text)
  })
})

test('a chart of any lines, days and texts has every point of a line inside its plot, and its scales are finite there', () => {
  forAll(anyChart, chart => {
    const { plot, x, y, dayAt } = chartScales(chart)
    expect([plot.left, plot.right, plot.top, plot.bottom].every(Number.isFinite)).toBe(true)
    const outside = linePoints(lineChart(chart), 'line').filter(
      ([px, py]) => !(px >= plot.left && px <= plot.right && py >= plot.top && py <= plot.bottom),
    )
    expect(outside).toEqual([])
    for (const value of [0, 1, -1e300, 1e308]) expect(Number.isFinite(y(value))).toBe(true)
    const { from, to } = chart.days
    if (to < from) return
    for (const some of [from, to, Math.floor((from + to) / 2)]) expect(dayAt(x(some))).toBe(some)
    expect([dayAt(-1e9), dayAt(1e9)]).toEqual([from, to])
  })
})

test('a chart names itself by its title, and everything in it by its text', () => {
  forAll(fc.string({ maxLength: 200 }), title => {
    const [named, described] = parseXml(lineChart(chartOf([1, 2], { title }))).children
    expect(named!.text).toBe(title)
    expect(parseXml(lineChart(chartOf([1, 2], { title }))).attributes).toMatchObject({
      role: 'img',
      'aria-labelledby': `${named!.attributes.id} ${described!.attributes.id}`,
    })
  })
  expect(parseXml(lineChart(chartOf([1, 2], { title: 'a\0b\ud800c' }))).children[0]!.text).toBe(
    'a\ufffdb\ufffdc',
  )
  const label = '<b>"أهلا" & 🐳</b>'
  const text = lineChart(chartOf([1, 2], { bands: [{ from: FIRST, to: FIRST + 1, label }] }))
  expect(withClass(text, 'band')[0]!.children[0]!.text).toBe(label)
})

test('a drawn line has every extreme of a run without gaps, to a fifth of a unit', () => {
  const anySeries = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), {
    minLength: 1,
    maxLength: 3000,
  })
  forAll(40, anySeries, fc.constantFrom('log' as const, 'linear' as const), (values, y) => {
    const chart = chartOf(values, { y })
    const scales = chartScales(chart)
    const drawn = linePoints(lineChart(chart), 'main').map(([, py]) => py)
    expect(Math.abs(Math.min(...drawn) - scales.y(Math.max(...values)))).toBeLessThanOrEqual(0.1001)
    expect(Math.abs(Math.max(...drawn) - scales.y(Math.min(...values)))).toBeLessThanOrEqual(0.1001)
    expect(Math.abs(drawn.at(-1)! - scales.y(values.at(-1)!))).toBeLessThanOrEqual(0.1001)
    expect(Math.abs(drawn[0]! - scales.y(values[0]!))).toBeLessThanOrEqual(0.1001)
  })
})

test('a drawn line has a day that fell to a tenth and recovered, in the right place', () => {
  const values = walk(3650)
  values[1234] = 0.05
  const chart = chartOf(values)
  const { x, y } = chartScales(chart)
  const [px, py] = linePoints(lineChart(chart), 'main').reduce((low, point) =>
    point[1] > low[1] ? point : low,
  )
  expect(Math.abs(px - x(FIRST + 1234))).toBeLessThanOrEqual(0.5)
  expect(Math.abs(py - y(0.05))).toBeLessThanOrEqual(0.1001)
})

test('a drawn line has at most two points for each unit of width, in 2.2 kB for 3 650 days', () => {
  const text = lineChart(chartOf(walk(3650)))
  const points = linePoints(text, 'main')
  const { plot } = chartScales(chartOf(walk(3650)))
  expect(points.length).toBeLessThanOrEqual(2 * (plot.right - plot.left + 1) + 2)
  expect(points.length).toBeGreaterThan(1200)
  const path = withClass(text, 'main')[0]!.attributes.d!
  expect(brotliCompressSync(path).length).toBeLessThan(2200)
  expect(brotliCompressSync(text).length).toBeLessThan(2700)
})

test('a drawn line is cut to the days of the chart, and the axis with it', () => {
  const values = Float64Array.from({ length: 100 }, (_, i) => (i < 50 ? 1000 : 1 + i / 1000))
  const chart = chartOf(values, { days: { from: FIRST + 60, to: FIRST + 90 } })
  expect(descriptionOf(chart)).toContain('first 1.06× on 2 March 2018, last 1.09× on 1 April 2018')
  expect(chartScales(chart).ticks.at(-1)).toBeLessThan(2)
  expect(linePoints(lineChart(chart), 'main')).toHaveLength(31)
})

test('a line is broken at gaps, and a day between gaps is a dot', () => {
  const text = lineChart(chartOf([1, 2, Number.NaN, 3, Number.NaN, Number.POSITIVE_INFINITY, 4, 5]))
  const [course, dot] = withClass(text, 'main').map(({ attributes }) => attributes.d!)
  expect(course!.match(/M/g)).toHaveLength(2)
  expect(dot).toMatch(/^M\d+ \d+h0$/)
})

test('a line of a ruined account ends in a cross at its last positive value, and is named as ruined at its end and in words', () => {
  const chart = chartOf([1, 0.5, 0, 0])
  const { x, y } = chartScales(chart)
  const text = lineChart(chart)
  const [endX, endY] = linePoints(text, 'line').at(-1)!
  expect([Math.abs(endX - x(FIRST + 1)) < 0.51, Math.abs(endY - y(0.5)) < 0.11]).toEqual([true, true])
  const [cross] = partsOf(withClass(text, 'ruin')[0]!.attributes.d!)
  expect(cross![0]![0]).toBeCloseTo(x(FIRST + 1) - 4, 0)
  expect(withClass(text, 'mark-label')[0]!.text).toBe('ruined on 3 January 2018')
  expect(withClass(text, 'name')[0]!.text.trim()).toBe('ruined')
  expect(descriptionOf(chart)).toBe(
    'Alder: first 1.00× on 1 January 2018, last 0.50× on 2 January 2018, lowest 0.50× on 2 January 2018, ' +
      'highest 1.00× on 1 January 2018. It is ruined on 3 January 2018.',
  )
  expect(descriptionOf(chartOf([-40, 0], { y: 'linear', unit: 'percent' }))).not.toContain('ruined')
  const depths = drawdownChartOf(chart, 'Below the peak', FIRST, Float64Array.of(0, -0.5, -1, -1))
  expect([...depths.lines[0]!.values]).toEqual([0, -50, -100])
})

test('the days after the entry are shaded to the right edge; before it nothing is', () => {
  const of = (entered: number) => lineChart(chartOf([1, 2, 3], { entered }))
  const { x, plot } = chartScales(chartOf([1, 2, 3]))
  const [shade] = withClass(of(FIRST + 1), 'entered')
  expect(shade!.attributes).toMatchObject({ x: `${x(FIRST + 1)}`, width: `${plot.right - x(FIRST + 1)}` })
  expect(withClass(of(FIRST + 1), 'mark-label')[0]!.text).toBe('entered 2 January 2018')
  const count = (day: number, name: string) => withClass(of(FIRST + day), name).length
  expect([-1, 0, 2, 3].map(day => count(day, 'entered'))).toEqual([1, 1, 0, 0])
  expect([-1, 0, 2, 3].map(day => count(day, 'mark'))).toEqual([0, 1, 1, 0])
})

test('lines of any number, names and ends are named in their order, none over another or outside of the drawing', () => {
  const end = fc.record({
    name: fc.oneof(
      fc.string({ minLength: 1, maxLength: 60 }),
      fc.constantFrom('W'.repeat(40), '漢'.repeat(20), 'Holding BTCUSDT-PERP of some other exchange'),
    ),
    kind: fc.constantFrom('main', 'series1'),
    value: fc.constantFrom('1.25×', 'ruined', '2.0 × 10²² times'),
    y: fc.oneof(fc.constant(100), fc.double({ min: 24, max: 220, noNaN: true })),
  })
  const plot = { left: 0, right: 620, top: 24, bottom: 220 }
  forAll(fc.array(end, { minLength: 1, maxLength: 13 }), ends => {
    const texts = withClass(endLabels(ends, plot), 'name')
    expect(texts).toHaveLength(ends.length)
    let above = 0
    for (const { attributes, text, children } of texts) {
      const rows = [text, ...children.filter(({ name }) => name === 'tspan').map(({ text }) => text)]
      for (const row of rows) expect(Number(attributes.x) + emsOf(row) * 11).toBeLessThanOrEqual(620 + 144)
      const y = Number(attributes.y)
      expect(y - above).toBeGreaterThanOrEqual(12.3)
      above = y + (rows.length - 1) * 12.5
      expect(y >= plot.top && above <= plot.bottom + 0.1).toBe(true)
    }
    const order = ends.toSorted((a, b) => a.y - b.y).map(({ kind }) => `name ${kind}`)
    expect(texts.map(({ attributes }) => attributes.class)).toEqual(order)
  })
})

test('a name that is too long for a row has two, and in a picture of synthetic data no mark of it', () => {
  const line = { kind: 'other' as const, first: FIRST, values: Float64Array.of(1, 1.5) }
  const lines = ['Holding BTCUSDT-SPOT-SYNTHETIC', 'Willow (synthetic)'].map(name => ({ ...line, name }))
  const chart = chartOf([1, 1], { lines, caveat: 'synthetic data' })
  const rows = withClass(lineChart(chart), 'name').map(({ text, children }) => [
    text,
    ...children.map(({ text }) => text),
  ])
  expect(rows).toEqual([['Holding BTCUSDT-', 'SPOT-SYNTHETIC', '1.50×'], ['Willow 1.50×']])
})

test('lines of one chart are named above it for narrow screens; a line that is alone is not', () => {
  const chart = chartOf([1, 2])
  const other = { name: '<Book>', kind: 'other' as const, first: FIRST, values: Float64Array.of(5, 6) }
  const text = namedLineChart({ ...chart, lines: [...chart.lines, other] })
  const list = parseXml(text.slice(0, text.indexOf('<svg class="chart')))
  expect(list.attributes.class).toBe('legend narrow')
  expect(list.children.map(({ text, children }) => text + children[1]!.text)).toEqual([
    'Alder 2.00×',
    '<Book> 6.00×',
  ])
  expect(namedLineChart(chart)).toBe(lineChart(chart))
})

test('a line under the water is filled to the baseline', () => {
  const values = Float64Array.of(0, -10, -20, -5)
  const under = [{ name: 'Alder', kind: 'under' as const, first: FIRST, values }]
  const chart = chartOf(values, { lines: under, y: 'linear', unit: 'percent', baseline: 0 })
  const points = linePoints(lineChart(chart), 'under')
  expect(points.at(-1)![1]).toBe(chartScales(chart).y(0))
  expect(points.at(-1)![0]).toBe(points.at(-2)![0])
  expect(descriptionOf(chart)).toContain('lowest −20.0\u202f% on 3 January 2018')
})

test('a line that is flat is in the middle, and so is a single day', () => {
  const { plot } = chartScales(chartOf([1]))
  const middle = [(plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2]
  const [[x, y]] = linePoints(lineChart(chartOf([1])), 'main') as [[number, number]]
  expect(Math.abs(x - middle[0]!)).toBeLessThanOrEqual(1)
  expect(Math.abs(y - middle[1]!)).toBeLessThanOrEqual(3)
  const flat = chartOf([2, 2, 2], { y: 'linear' })
  const unhurt = drawdownChartOf(flat, 'Below the peak', FIRST, new Float64Array(3))
  expect(chartScales(unhurt).ticks.every(tick => tick <= 0)).toBe(true)
  expect(linePoints(lineChart(flat), 'main').every(([, py]) => Math.abs(py - middle[1]!) < 20)).toBe(true)
})

test('a line of kind main is over the others and described', () => {
  const chart = chartOf([1, 2])
  const other = { name: 'Book', kind: 'other' as const, first: FIRST, values: Float64Array.of(5, 6) }
  const text = lineChart({ ...chart, lines: [...chart.lines, other] })
  expect(withClass(text, 'line').map(({ attributes }) => attributes.class)).toEqual([
    'line other',
    'line main',
  ])
  expect(descriptionOf({ ...chart, lines: [other, ...chart.lines] })).toMatch(/^Alder: /)
})

test('a chart of no days is an empty frame that says so', () => {
  const nothing = [chartOf([]), chartOf([Number.NaN]), { ...chartOf([1, 2]), lines: [] }]
  const outside = chartOf([1, 2], { days: { from: FIRST + 5, to: FIRST + 9 } })
  for (const chart of [...nothing, outside]) {
    expect(withClass(lineChart(chart), 'empty')[0]!.text).toBe('No days to draw')
    expect(withClass(lineChart(chart), 'line')).toEqual([])
  }
})
