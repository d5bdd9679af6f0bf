// Bars, dots, distributions and sparklines: what they draw of any values, and how they describe it.
import { brotliCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barChart } from '#pages/charts/bar-chart.ts'
import { boxStrip } from '#pages/charts/box-strip.ts'
import { type Dot, dotChart } from '#pages/charts/dot-chart.ts'
import { histogram } from '#pages/charts/histogram.ts'
import { legend } from '#pages/charts/svg.ts'
import { sparkline } from '#pages/strategies-table.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { all, type Element } from '../../support/browser/rendered-pages.ts'
import { forAll } from '../../support/for-all.ts'
import { type Point, parseXml, partsOf, withClass } from './drawn.ts'

const frame = { id: 'a', title: 'Years' }
const anyText = fc.string({ unit: 'binary', maxLength: 60 })
const anyNumber = fc.oneof(
  fc.double({ min: -100, max: 100, noNaN: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const size = fc.constantFrom('full' as const, 'half' as const)

const descriptionOf = (text: string): string => parseXml(text).children[1]!.text
const boxesOf = (text: string): number[][] =>
  withClass(text, 'bar').map(({ attributes: { x, y, width, height } }) => [x, y, width, height].map(Number))
const isInside = ([x, y, width, height]: number[], right: number, bottom: number): boolean =>
  x! >= 0 && y! >= 0 && width! >= 0 && height! >= 0 && x! + width! <= right + 0.2 && y! + height! <= bottom

const years = (values: readonly (number | null)[]) =>
  values.map((value, i) => ({ label: String(2018 + i), value }))

test('bars of any values and texts are XML, inside the drawing, and the same text for the same chart', () => {
  const bar = fc.record({
    label: anyText,
    value: fc.option(anyNumber),
    note: anyText,
    isPartial: fc.boolean(),
  })
  forAll(fc.array(bar, { maxLength: 60 }), size, (bars, size) => {
    const chart = { ...frame, unit: 'percent' as const, bars, size }
    const text = barChart(chart)
    expect(boxesOf(text).every(box => isInside(box, size === 'half' ? 352 : 720, 240))).toBe(true)
    expect(barChart(structuredClone(chart))).toBe(text)
    const plain = bars.map((bar, i) => ({ ...bar, label: String(i), note: '' }))
    expect(barChart({ ...chart, bars: plain })).not.toMatch(/NaN|Infinity|undefined|style=/)
  })
})

test('bars have heights in proportion, from one baseline, and numbers beside them', () => {
  const text = barChart({ ...frame, unit: 'percent', bars: years([20, -10, null, 40]) })
  const heights = boxesOf(text).map(([, , , height]) => height!)
  expect(heights[0]! / heights[2]!).toBeCloseTo(0.5, 2)
  expect(heights[1]! / heights[2]!).toBeCloseTo(0.25, 2)
  expect(withClass(text, 'number').map(({ text }) => text)).toEqual(['20.0', '−10.0', '–', '40.0'])
  const empty = barChart({ ...frame, none: '', unit: 'percent', bars: years([20, -10, null, 40]) })
  expect(withClass(empty, 'number').map(({ text }) => text)).toEqual(['20.0', '−10.0', '', '40.0'])
  expect(withClass(text, 'loss')).toHaveLength(1)
  expect(descriptionOf(text)).toBe('4 bars: lowest −10.0\u202f% (2019), highest 40.0\u202f% (2021).')
})

test('bars have their note for the pointer, and are marked if partial', () => {
  const bars = [{ label: '2026', value: 3, note: 'to June', isPartial: true }]
  const [bar] = withClass(barChart({ ...frame, unit: 'percent', bars }), 'partial')
  expect(bar!.children[0]!.text).toBe('2026: 3.0\u202f% (to June)')
})

test.each([
  [9, 'full', 9, 9],
  [25, 'full', 25, 13],
  [60, 'full', 30, 20],
  [25, 'half', 13, 9],
] as const)('a chart of %d bars in %s width has %d numbers and %d names', (count, size, numbers, names) => {
  const values = Array.from({ length: count }, () => 12.3)
  const text = barChart({ ...frame, size, unit: 'percent', bars: years(values) })
  expect(withClass(text, 'number')).toHaveLength(numbers)
  expect(all(parseXml(text)).filter(({ text }) => /^20\d\d$/.test(text))).toHaveLength(names)
})

test('bars without a value, no trades and no days are an empty frame that says so', () => {
  const barsOf = (bars: ReturnType<typeof years>) => barChart({ ...frame, unit: 'percent', bars })
  const charts = [barsOf([]), barsOf(years([null, null])), dotChart({ ...frame, dots: [] })]
  const texts = [...charts, histogram({ ...frame, bins: [] })].map(text => withClass(text, 'empty')[0]!.text)
  expect(texts).toEqual(['No values to draw', 'No values to draw', 'No trades to draw', 'No days to draw'])
})

const row = (quantiles: readonly number[], mean: number) =>
  ({ label: 'A & B', kind: 'gain', quantiles, mean }) as const

test('boxes of any distributions are inside the drawing, with their quantiles in order', () => {
  const sorted = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 5, maxLength: 5 })
  const areInside = (distributions: readonly (readonly number[])[]) => {
    const rows = distributions.map(values =>
      row(
        values.toSorted((a, b) => a - b),
        values[0]!,
      ),
    )
    const text = boxStrip({ ...frame, size: 'half', unit: 'ratio', rows })
    expect(text).not.toMatch(/NaN|Infinity|undefined|style=/)
    parseXml(text)
    withClass(text, 'bar').forEach(({ attributes }, i) => {
      const [left, width] = [Number(attributes.x), Number(attributes.width)]
      const [first, median] = ['whisker', 'median'].map(name =>
        Number(/^M([\d.]+) /.exec(withClass(text, name)[i]!.attributes.d!)?.[1]),
      )
      const places = [0, first!, left, median!, left + width, 352]
      expect(places.slice(1).every((place, at) => place >= places[at]! - 0.11)).toBe(true)
    })
  }
  areInside([[-5e-324, 0, 0, 0, 5e-324]])
  forAll(fc.array(sorted, { minLength: 1, maxLength: 3 }), areInside)
})

const results = ['win', 'loss', 'breakeven'] as const
const anyDot: fc.Arbitrary<Dot> = fc.record({
  days: fc.oneof(fc.double({ min: 0, max: 1000, noNaN: true }), fc.double()),
  return_pct: fc.oneof(anyNumber, fc.double()),
  result: fc.constantFrom(...results),
})
const places = (text: string): (readonly [number, number])[] =>
  withClass(text, 'dots').flatMap(({ attributes }) => partsOf(attributes.d!).map(([start]) => start!))

test('dots of any trades are inside the drawing, in any order of the trades', () => {
  forAll(fc.array(anyDot, { maxLength: 200 }), size, (dots, size) => {
    const text = dotChart({ ...frame, dots, size })
    const right = size === 'half' ? 3000 : 6200
    expect(places(text).filter(([x, y]) => !(x >= 0 && x <= right && y >= 100 && y <= 2200))).toEqual([])
    expect(dotChart({ ...frame, dots: dots.toReversed(), size })).toBe(text)
    expect(text).not.toMatch(/NaN|Infinity|undefined|style=/)
    parseXml(text)
  })
})

test('dots of trades are one path for each result, with every different place once', () => {
  const trade = (days: number, return_pct: number, result: Dot['result']) => ({ days, return_pct, result })
  const dots = [trade(1, 5, 'win'), trade(1, 5, 'win'), trade(8, 50, 'win'), trade(0.1, -5, 'loss')]
  const text = dotChart({ ...frame, dots })
  expect(withClass(text, 'dots').map(({ attributes }) => attributes.class)).toEqual(['dots loss', 'dots win'])
  expect(places(text)).toHaveLength(3)
  const [lossX, lossY, x, y, lateX, lateY] = places(text).flat() as [number, ...number[]]
  expect(lossX < x! && x! < lateX! && lateY! < y! && y! < lossY!).toBe(true)
  expect(descriptionOf(text)).toBe('4 trades (1 loss, 3 win); returns from −5.0\u202f% to 50.0\u202f%.')
})

test('dots of trades have an axis of time that begins and ends around the trades', () => {
  const dots = [1 / 48, 3, 20].map(days => ({ days, return_pct: 1, result: 'win' as const }))
  const names = all(parseXml(dotChart({ ...frame, dots }))).map(({ text }) => text)
  expect(names).toEqual(expect.arrayContaining(['30 min', '1 h', '1 d', '7 d', '30 d']))
})

test('dots of trades within one bar are at the left edge, and do not widen the axis', () => {
  const dots = [0, 1 / 6, 3].map(days => ({ days, return_pct: 1, result: 'win' as const }))
  const text = dotChart({ ...frame, dots })
  expect(all(parseXml(text)).map(({ text }) => text)).toEqual(expect.arrayContaining(['4 h', '12 h', '3 d']))
  expect(text).not.toContain(' min<')
  const [within, shortest] = places(text).map(([x]) => x)
  expect(shortest! - within!).toBeGreaterThan(50)
})

const points = (svg: Element) => partsOf(svg.children.at(-1)!.attributes.d!).flat()

test('a sparkline of any values is inside its 160 by 32 units, in whole steps', () => {
  const values = fc.array(fc.oneof(fc.double({ min: 0.01, max: 100, noNaN: true }), fc.double()), {
    maxLength: 2000,
  })
  forAll(values, values => {
    const svg = parseXml(sparkline(Float64Array.from(values)))
    const isInside = ([x, y]: Point) => x >= 0 && x <= 160 && y >= 0 && y <= 32
    const isWhole = (point: Point) => point.every(Number.isInteger)
    expect(points(svg).filter(point => !(isInside(point) && isWhole(point)))).toEqual([])
    expect(sparkline(Float64Array.from(values))).not.toMatch(/NaN|Infinity|undefined/)
  })
})

test('a sparkline is of half a kilobyte for any number of days, and 64 bytes compressed in a table of 300', () => {
  const { uniform: random } = createRandom(3)
  const rows = Array.from({ length: 300 }, () => {
    let equity = 1
    return sparkline(Float64Array.from({ length: 1000 }, () => (equity *= 0.98 + 0.0405 * random())))
  }).join('')
  expect(rows.length / 300).toBeLessThan(560)
  expect(brotliCompressSync(rows).length / 300).toBeLessThan(64)
})

test('a histogram has a bar for each bin with days, side by side, in the colour of a gain or a loss', () => {
  const bin = (from_pct: number, days: number) => ({ from_pct, to_pct: from_pct + 0.5, days })
  const text = histogram({ ...frame, bins: [bin(-1, 4), bin(-0.5, 0), bin(0, 8), bin(0.5, 2)] })
  const [loss, gain, last] = boxesOf(text) as [number[], number[], number[]]
  expect(loss[3]! / gain[3]!).toBeCloseTo(0.5, 2)
  expect([gain[0]! - loss[0]!, last[0]! - gain[0]!, last[0]! + last[2]!]).toEqual([310, 155, 620])
  expect(withClass(text, 'loss')).toHaveLength(1)
  expect(descriptionOf(text)).toBe('14 days in 4 bins, most of them (8) from 0\u202f% to 0.5\u202f%.')
  const lone = histogram({ ...frame, bins: [{ from_pct: 12.3, to_pct: 12.30002, days: 3 }] })
  expect(boxesOf(lone)[0]!.filter((_, i) => i % 2 === 0)).toEqual([310, 6])
  expect(lone).toContain('>12.4\u202f%<')
})

test('a legend shows each name with a sample of its line', () => {
  const list = parseXml(legend([{ name: '<i>', kind: 'main' }]))
  expect(all(list).map(({ name }) => name)).toEqual(['ul', 'li', 'svg', 'path'])
  expect(list.children[0]!.text).toBe('<i>')
})
