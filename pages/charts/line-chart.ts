// Values over days: equity, drawdowns, rolling figures.
import { extent, min } from 'd3-array'
import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import {
  besideLabels,
  dayTicks,
  emsOf,
  linearAxis,
  logarithmicAxis,
  markAt,
  tickRow,
  valueGrid,
} from './axes.ts'
import { pathText, type Run, runsOf } from './path.ts'
import { areaOf, drawing, emptyDrawing, escapeText, type Frame, tenth, type Unit, valueText } from './svg.ts'

/** A value for each day from `first` on; NaN is a gap. `under` is filled to the baseline. */
export type Line = {
  readonly name: string
  readonly kind: 'main' | 'other' | 'benchmark' | 'under' | `series${number}`
  readonly first: EpochDay
  readonly values: Float64Array
}

type Band = { readonly from: EpochDay; readonly to: EpochDay; readonly label: string }

export type LineChart = Frame & {
  /** The first of kind `main`, else the first of all, is described in words. */
  readonly lines: readonly Line[]
  /** On a logarithmic axis a value of 0 is at the bottom edge: the account is ruined. */
  readonly y: 'log' | 'linear'
  readonly unit: Unit
  /** Both are drawn. */
  readonly days: { readonly from: EpochDay; readonly to: EpochDay }
  /** A rule across the plot, and the edge of the area of kind `under`. */
  readonly baseline?: number
  /** Vertical rules, such as the day of the first publication. */
  readonly marks?: readonly { readonly day: EpochDay; readonly label: string }[]
  /** Shades, such as the worst drawdowns. */
  readonly bands?: readonly Band[]
}

type AccountChart = Omit<LineChart, 'y' | 'unit' | 'baseline'>

/** Equities on a logarithmic axis, multiples of the equity before the first day. */
export const equityChartOf = (chart: AccountChart): LineChart => ({
  ...chart,
  y: 'log',
  unit: 'multiple',
  baseline: 1,
})

/** Drawdowns from the day `first` on, fractions, as an area below the peak in percent. */
export const drawdownChartOf = (
  chart: Omit<AccountChart, 'lines'>,
  name: string,
  first: EpochDay,
  depths: Float64Array,
): LineChart => ({
  ...chart,
  y: 'linear',
  unit: 'percent',
  baseline: 0,
  lines: [{ name, kind: 'under', first, values: depths.map(depth => 100 * depth) }],
})

/** A line cut to the days of its chart, and where its first, last, lowest and highest values are. */
type VisibleLine = Line & Readonly<Record<'start' | 'end' | 'low' | 'high', number>>

/** The lines with a value to draw; what is not finite is a gap. */
const visibleLines = ({ lines, days }: LineChart): VisibleLine[] =>
  lines.flatMap(line => {
    const start = Math.max(days.from - line.first, 0)
    const cut = line.values.subarray(start, Math.max(days.to - line.first + 1, start))
    const places = placesOf(cut)
    if (places === null) return []
    const { hasInfinity, ...known } = places
    const values = hasInfinity ? cut.map(value => (Number.isFinite(value) ? value : Number.NaN)) : cut
    return [{ ...line, first: line.first + start, values, ...known }]
  })

/** One pass, because a book has a dozen lines for each strategy. The first of equal values; null if all are gaps. */
function placesOf(values: Float64Array) {
  let [start, end, low, high] = [-1, -1, -1, -1]
  let hasInfinity = false
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) continue
    if (Math.abs(value) === Infinity) {
      hasInfinity = true
      continue
    }
    if (start < 0) start = low = high = i
    else if (value < values[low]!) low = i
    else if (value > values[high]!) high = i
    end = i
  }
  return start < 0 ? null : { start, end, low, high, hasInfinity }
}

function domainOf({ y, baseline }: LineChart, lines: readonly VisibleLine[]): [number, number] {
  const shown = (value: number) => (y === 'log' && value <= 0 ? Number.NaN : value)
  const lowest = ({ values, low }: VisibleLine) =>
    Number.isNaN(shown(values[low]!)) ? min(values, shown) : values[low]
  const ends = lines.flatMap(line => [lowest(line), shown(line.values[line.high]!)])
  const [low, high] = extent([...ends, shown(baseline ?? Number.NaN)], value => value)
  return low === undefined ? [1, 1] : [low, high]
}

type ChartScales = ReturnType<typeof chartScales>

/**
 * Where days and values of a chart are, in units of its drawing: `y` is at the edge for a value beyond the axis, `ticks` are
 * the values with a label, and `dayAt` gives the nearest day of the chart.
 */
export function chartScales(chart: LineChart, lines = visibleLines(chart)) {
  const { plot: box, ...size } = areaOf(chart)
  const axis = (chart.y === 'log' ? logarithmicAxis : linearAxis)(...domainOf(chart, lines), box)
  const plot = besideLabels(axis, chart.unit, box)
  const { from, to } = chart.days
  const ends = to > from ? ([from, to] as const) : ([from - 1, from + 1] as const) // a single day is in the middle
  const sides = [plot.left, plot.right] as const
  const day = between(sides, ends)
  const dayAt = (at: number) => Math.min(Math.max(Math.round(day(at)), from), Math.max(to, from))
  return { ...axis, x: between(ends, sides), dayAt, plot, ...size }
}

/** The linear function that maps one pair onto another. It is asked for every day of every line. */
const between =
  ([from, to]: readonly [number, number], [left, right]: readonly [number, number]) =>
  (at: number): number => {
    const share = (at - from) / (to - from)
    return left * (1 - share) + right * share
  }

/** An `svg` element with the lines of `chart`; without a value to draw, a frame that says so. */
export function lineChart(chart: LineChart): string {
  const lines = visibleLines(chart)
  const main = lines.find(({ kind }) => kind === 'main') ?? lines[0]
  if (main === undefined) return emptyDrawing(chart, 'No days to draw')
  const scales = chartScales(chart, lines)
  const { x, y, plot, width } = scales
  const { baseline, marks = [], bands = [] } = chart
  const { from, to } = chart.days
  const paths = [...lines.filter(line => line !== main), main].map(line => linePath(line, scales, baseline))
  return drawing(chart, describe(main, chart), [
    ...bands.filter(band => band.to >= from && band.from <= to).map(band => bandOf(band, chart, scales)),
    valueGrid(scales, chart.unit, width),
    tickRow(dayTicks(from, to, x), plot, width),
    baseline === undefined
      ? ''
      : `<path class="baseline" d="M${plot.left} ${tenth(y(baseline))}H${plot.right}"/>`,
    `<g transform="scale(.1)">${paths.join('')}</g>`,
    ...marks
      .filter(({ day }) => day >= from && day <= to)
      .map(({ day, label }, row) => markAt(x(day), label, row, plot)),
  ])
}

/** These lines are drawn to half units with half as many points, those of half charts to units: lines are half of a fact sheet. */
const COARSE: readonly Line['kind'][] = ['benchmark', 'other', 'under']

/** The steps of a line's height, in tenths of a unit, by those of its days in units. */
const GRAIN_UP = { 1: 1, 2: 5, 5: 10 } as const

/** In tenths of a unit, with a point or two for each unit of width. A day between gaps is a dot. */
function linePath(
  { kind, name, first, values }: Line,
  { x, y, plot, width }: ChartScales,
  baseline?: number,
): string {
  const grain = width < 400 ? 5 : COARSE.includes(kind) ? 2 : 1
  const runs = runsOf(
    values,
    i => x(first + i) * 10,
    value => y(value) * 10,
    10 * grain,
    10,
    GRAIN_UP[grain],
  )
  const edge = Math.round(10 * (baseline === undefined ? plot.bottom : y(baseline)))
  const closed = (run: Run) => (kind === 'under' ? [run[0]!, edge, ...run, run.at(-2)!, edge] : run)
  const [days, courses] = [runs.filter(run => run.length === 2), runs.filter(run => run.length > 2)]
  const title = `<title>${escapeText(name)}</title>`
  const path = (classes: string, d: string) =>
    d === '' ? '' : `<path class="${classes}" d="${d}">${title}</path>`
  return (
    path(`line ${kind}`, courses.map(closed).map(pathText).join('')) +
    path(`line ${kind} day`, days.map(pathText).join(''))
  )
}

/** A shade over the height of the plot. A label that has no room is shown by the pointer only. */
function bandOf({ from, to, label }: Band, { days }: LineChart, { x, plot }: ChartScales): string {
  const left = tenth(x(Math.max(from, days.from)))
  const width = tenth(x(Math.min(to, days.to)) - left)
  const [text, room] = [escapeText(label), width / emsOf(label)]
  const shade = `<rect class="band" x="${left}" y="${plot.top}" width="${Math.max(width, 1)}" height="${plot.bottom - plot.top}"><title>${text}</title></rect>`
  if (room < 12) return shade
  return `${shade}<text class="band-label${room < 22 ? ' second' : ''}" x="${tenth(left + width / 2)}" y="${plot.bottom - 6}">${text}</text>`
}

/** First, last and extreme values of a line in a sentence, and the day on which nothing was left. */
function describe(
  { name, first, values, start, end, low, high }: VisibleLine,
  { y, unit }: LineChart,
): string {
  const on = (i: number) => `${valueText(values[i]!, unit)} on ${toIsoDate(first + i)}`
  const ruin = y === 'log' && values[low]! <= 0 ? values.findIndex(value => value <= 0) : -1
  const ruined = ruin < 0 ? '' : ` It is ruined on ${toIsoDate(first + ruin)}.`
  return `${name}: first ${on(start)}, last ${on(end)}, lowest ${on(low)}, highest ${on(high)}.${ruined}`
}
