// Values over days: equity, drawdowns, rolling figures.
import { extent } from 'd3-array'
import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { dayText } from '../format.ts'
import {
  besideLabels,
  dayTicks,
  emsOf,
  fontOf,
  linearAxis,
  logarithmicAxis,
  tickRow,
  valueGrid,
} from './axes.ts'
import { endLabels } from './end-labels.ts'
import { pathText, type Run, runsOf } from './path.ts'
import {
  areaOf,
  drawing,
  emptyDrawing,
  escapeText,
  type Frame,
  legend,
  type Plot,
  tenth,
  type Unit,
  valueText,
} from './svg.ts'

/** A value for each day from `first` on; NaN is a gap. `over` and `under` are filled to the baseline. */
export type Line = {
  readonly name: string
  readonly kind: 'main' | 'other' | 'benchmark' | 'over' | 'under' | `series${number}`
  readonly first: EpochDay
  readonly values: Float64Array
}

type Band = { readonly from: EpochDay; readonly to: EpochDay; readonly label: string }

export type LineChart = Frame & {
  /** The first of kind `main`, else the first of all, is described in words. */
  readonly lines: readonly Line[]
  /** On a logarithmic axis a line ends before its first value of 0: the account is ruined. */
  readonly y: 'log' | 'linear'
  readonly unit: Unit
  /** Both are drawn. */
  readonly days: { readonly from: EpochDay; readonly to: EpochDay }
  /** A rule across the plot, and the edge of filled areas. */
  readonly baseline?: number
  /** The day of the first publication: later days are shaded. */
  readonly entered?: EpochDay | null
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

/** Drawdowns from the day `first` on, fractions, as an area below the peak in percent. It ends on the day of a ruin. */
export function drawdownChartOf(
  chart: Omit<AccountChart, 'lines'>,
  name: string,
  first: EpochDay,
  depths: Float64Array,
): LineChart {
  const ruin = depths.findIndex(depth => depth <= -1)
  const alive = ruin < 0 ? depths : depths.subarray(0, ruin + 1)
  const line = { name, kind: 'under', first, values: alive.map(depth => 100 * depth) } as const
  return { ...chart, y: 'linear', unit: 'percent', baseline: 0, lines: [line] }
}

/** A line cut to the days of its chart, where its first, last, lowest and highest values are, and when it is ruined. */
type VisibleLine = ReturnType<typeof visibleLines>[number]

/** The lines with a value to draw; what is not finite is a gap. */
const visibleLines = (chart: LineChart) =>
  chart.lines.flatMap(line => {
    const start = Math.max(chart.days.from - line.first, 0)
    const days = line.values.subarray(start, Math.max(chart.days.to - line.first + 1, start))
    const ruined = chart.y === 'log' ? days.findIndex(value => value <= 0) : -1
    const cut = ruined < 0 ? days : days.subarray(0, ruined)
    const places = placesOf(cut)
    if (places === null) return []
    const { hasInfinity, ...known } = places
    const values = hasInfinity ? cut.map(value => (Number.isFinite(value) ? value : Number.NaN)) : cut
    const first = line.first + start
    return [{ ...line, first, values, ...known, ruin: ruined < 0 ? null : first + ruined }]
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
  const ends = lines.flatMap(({ values, low, high }) => [values[low]!, values[high]!])
  const [low, high] = extent([...ends, y === 'log' && baseline! <= 0 ? Number.NaN : baseline], value => value)
  return low === undefined ? [1, 1] : [low, high]
}

type ChartScales = ReturnType<typeof chartScales>

/**
 * Where days and values of a chart are, in units of its drawing: `y` is at the edge for a value beyond the axis, `ticks` are
 * the values with a label, and `dayAt` gives the nearest day of the chart.
 */
export function chartScales(chart: LineChart, lines = visibleLines(chart)) {
  const { plot: box, ...size } = areaOf(chart, 'both')
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

/** A chart of several lines, and their names above it on screens that are too narrow for names at their ends. */
export function namedLineChart(chart: LineChart): string {
  const lines = visibleLines(chart).map(line => ({ ...line, value: endText(line, chart) }))
  return (lines.length < 2 ? '' : legend(lines, chart.size !== 'half')) + lineChart(chart)
}

const endText = ({ values, end, ruin }: VisibleLine, { unit }: LineChart): string =>
  ruin === null ? valueText(values[end]!, unit) : 'ruined'

/** An `svg` element with the lines of `chart`; without a value to draw, a frame that says so. */
export function lineChart(chart: LineChart): string {
  const lines = visibleLines(chart)
  const main = lines.find(({ kind }) => kind === 'main') ?? lines[0]
  if (main === undefined) return emptyDrawing(chart, areaOf(chart, 'both'), 'No days to draw')
  const scales = chartScales(chart, lines)
  const { x, y, plot } = scales
  const { baseline, entered, bands = [], days } = chart
  const ordered = [...lines.filter(line => line !== main), main]
  const paths = ordered.map(line => linePath(line, scales, baseline))
  return drawing(chart, scales, describe([main, ...ordered.slice(0, -1)], chart), [
    ...bands
      .filter(band => band.to >= days.from && band.from <= days.to)
      .map(band => bandOf(band, days, scales)),
    entered == null ? '' : entryShade(entered, days, scales),
    valueGrid(scales, plot, chart.unit),
    tickRow(dayTicks(days.from, days.to, x), plot),
    baseline === undefined
      ? ''
      : `<path class="baseline" d="M${plot.left} ${tenth(y(baseline))}H${plot.right}"/>`,
    `<g transform="scale(.1)">${paths.join('')}</g>`,
    ...ordered.map(line => {
      const { ruin, first, values, end } = line
      return ruin === null ? '' : ruinMark(ruin, x(first + end), y(values[end]!), line === main, plot)
    }),
    chart.size === 'half' ? '' : namesAtEnds([main, ...ordered.slice(0, -1)], chart, scales),
  ])
}

/** A shade over the height of the plot. A label that has no room is shown by the pointer only. */
function bandOf({ from, to, label }: Band, days: LineChart['days'], { x, plot }: ChartScales): string {
  const left = tenth(x(Math.max(from, days.from)))
  const width = tenth(x(Math.min(to, days.to)) - left)
  const [text, room] = [escapeText(label), width / emsOf(label)]
  const shade = shadeOf('band', left, Math.max(width, 1), plot, `<title>${text}</title>`)
  if (room < 12) return shade
  return `${shade}<text class="band-label${room < 22 ? ' second' : ''}" x="${tenth(left + width / 2)}" y="${plot.top + 3}" dy=".8em">${text}</text>`
}

const shadeOf = (kind: string, x: number, width: number, { top, bottom }: Plot, inside = ''): string =>
  `<rect class="${kind}" x="${x}" y="${top}" width="${width}" height="${bottom - top}">${inside}</rect>`

/** The days from the entry on have a shade, and the day itself a rule if it is in the chart. */
function entryShade(entered: EpochDay, { from, to }: LineChart['days'], scale: ChartScales): string {
  if (entered > to) return ''
  const { x, plot } = scale
  const at = tenth(x(Math.max(entered, from)))
  const shade = at < plot.right ? shadeOf('entered', at, tenth(plot.right - at), plot) : ''
  const rule = entered < from ? '' : `<path class="mark" d="M${at} ${plot.top}V${plot.bottom}"/>`
  return shade + rule + textBeside(`entered ${dayText(toIsoDate(entered))}`, at, plot.bottom - 6, plot)
}

/** A cross where a line ends because nothing was left of its account on the day `ruin`. */
function ruinMark(ruin: EpochDay, at: number, y: number, hasText: boolean, plot: Plot): string {
  const text = `ruined on ${dayText(toIsoDate(ruin))}`
  const [left, top] = [tenth(at), tenth(Math.max(y, plot.top + 4))]
  const cross = `<path class="ruin" d="M${tenth(left - 4)} ${tenth(top - 4)}l8 8m0-8l-8 8"><title>${text}</title></path>`
  return cross + (hasText ? textBeside(text, left, tenth(Math.max(top - 8, plot.top + 16)), plot) : '')
}

/** Right of `at`, unless it has no room there. */
function textBeside(text: string, at: number, y: number, plot: Plot): string {
  const isLeft = at + 6 + emsOf(text) * fontOf(plot) > plot.right
  return `<text class="mark-label${isLeft ? ' end' : ''}" x="${tenth(at + (isLeft ? -6 : 6))}" y="${y}">${text}</text>`
}

/** A line that is alone is named by the title of its chart. */
function namesAtEnds(lines: readonly VisibleLine[], chart: LineChart, { y, plot }: ChartScales): string {
  const ends = lines.map(line => ({
    name: lines.length === 1 ? '' : line.name,
    kind: line.kind,
    value: endText(line, chart),
    y: y(line.values[line.end]!),
  }))
  return endLabels(ends, plot)
}

const FILLED: readonly Line['kind'][] = ['over', 'under']

/** These lines are drawn to units with half as many points, and so are half charts: lines are half of a fact sheet. */
const COARSE = [...FILLED, 'benchmark', 'other']

/** The steps of a line's height, in tenths of a unit, by those of its days in units. */
const GRAIN_UP = { 1: 2, 2: 10, 5: 10 } as const

/** In tenths of a unit, with a point or two for each unit of width. A day between gaps is a dot. */
function linePath(
  { kind, name, first, values }: Line,
  { x, y, plot, width }: ChartScales,
  baseline?: number,
): string {
  const grain = width < 400 ? 5 : COARSE.includes(kind) ? 2 : 1
  const [across, up] = [(i: number) => x(first + i) * 10, (value: number) => y(value) * 10]
  const runs = runsOf(values, across, up, 10 * grain, 10, GRAIN_UP[grain])
  const edge = Math.round(10 * (baseline === undefined ? plot.bottom : y(baseline)))
  const closed = (run: Run) => (FILLED.includes(kind) ? [run[0]!, edge, ...run, run.at(-2)!, edge] : run)
  const [days, courses] = [runs.filter(run => run.length === 2), runs.filter(run => run.length > 2)]
  const title = `<title>${escapeText(name)}</title>`
  const path = (classes: string, d: string) =>
    d === '' ? '' : `<path class="${classes}" d="${d}">${title}</path>`
  return (
    path(`line ${kind}`, courses.map(closed).map(pathText).join('')) +
    path(`line ${kind} day`, days.map(pathText).join(''))
  )
}

function describe([main, ...others]: readonly VisibleLine[], chart: LineChart): string {
  const { name, first, values, start, end, low, high, ruin } = main!
  const on = (i: number) => `${valueText(values[i]!, chart.unit)} on ${dayText(toIsoDate(first + i))}`
  const ruined = ruin === null ? '' : ` It is ruined on ${dayText(toIsoDate(ruin))}.`
  const rest = others.map(
    line => ` ${line.name}: ${line.ruin === null ? 'last ' : ''}${endText(line, chart)}.`,
  )
  return `${name}: first ${on(start)}, last ${on(end)}, lowest ${on(low)}, highest ${on(high)}.${ruined}${rest.join('')}`
}
