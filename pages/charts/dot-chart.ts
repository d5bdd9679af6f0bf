// Trades: how long each was held, and what it returned.
import { bisectLeft, bisectRight, extent, groups, pairs } from 'd3-array'
import { scaleLog } from 'd3-scale'
import { besideLabels, linearAxis, tickRow, valueGrid } from './axes.ts'
import { areaOf, drawing, emptyDrawing, type Frame, tenth, valueText } from './svg.ts'

export type Dot = {
  /** How long the trade was held. 0, such as within one bar, is at the left edge, beside the axis. */
  readonly days: number
  readonly return_pct: number
  readonly result: 'win' | 'loss' | 'breakeven'
}

const UNITS = [
  { name: 'min', days: 1 / 1440, counts: [1, 5, 15, 30] },
  { name: 'h', days: 1 / 24, counts: [1, 2, 4, 8, 12] },
  { name: 'd', days: 1, counts: [1, 3, 7, 14, 30, 60, 90, 180] },
  { name: 'y', days: 365, counts: [1, 2, 5, 10, 50] },
]
const TIMES = UNITS.flatMap(({ name, days, counts }) =>
  counts.map(count => ({ days: count * days, label: `${count} ${name}` })),
)
const DAYS = TIMES.map(({ days }) => days)

/** An `svg` element with a dot for each trade. Dots at the same place are drawn once. */
export function dotChart(chart: Frame & { readonly dots: readonly Dot[] }): string {
  const area = areaOf(chart, 'left')
  const dots = chart.dots.filter(dot => Number.isFinite(dot.days + dot.return_pct))
  const [low, high] = extent(dots, dot => dot.return_pct)
  if (low === undefined) return emptyDrawing(chart, area, 'No trades to draw')
  const axis = linearAxis(Math.min(low, 0), Math.max(high, 0), area.plot)
  const plot = besideLabels(axis, 'percent', area.plot)
  const [shortest, longest] = extent(dots, dot => (dot.days > 0 ? dot.days : Number.NaN))
  const first = Math.max(bisectRight(DAYS, shortest ?? 1) - 1, 0)
  const times = TIMES.slice(
    Math.min(first, TIMES.length - 2),
    Math.max(bisectLeft(DAYS, longest ?? 1), first + 1) + 1,
  )
  const x = scaleLog([times[0]!.days, times.at(-1)!.days], [plot.left + 18, plot.right - 6]).clamp(true)
  const placeOf = (days: number) => (days > 0 ? x(days) : plot.left + 6)
  const names: typeof times = []
  for (const time of times)
    if (names.length === 0 || x(time.days) - x(names.at(-1)!.days) >= 44) names.push(time)
  const marks = names.map(({ days, label }, i) => ({ at: x(days), label, isSecond: i % 2 !== 0 }))
  const results = groups(dots, dot => dot.result).sort(([a], [b]) => (a < b ? -1 : 1))
  const paths = results.map(([result, own]) => {
    const places = own.map(
      dot => [Math.round(placeOf(dot.days) * 10), Math.round(axis.y(dot.return_pct) * 10)] as const,
    )
    return `<path class="dots ${result}" d="${dotsText(places)}"/>`
  })
  const counts = results.map(([result, own]) => `${own.length} ${result}`).join(', ')
  const returns = `returns from ${valueText(low, 'percent')} to ${valueText(high, 'percent')}`
  return drawing(chart, area, `${dots.length} trades (${counts}); ${returns}.`, [
    valueGrid(axis, plot, 'percent'),
    tickRow(marks, plot),
    `<path class="baseline" d="M${plot.left} ${tenth(axis.y(0))}H${plot.right}"/>`,
    `<g transform="scale(.1)">${paths.join('')}</g>`,
  ])
}

/** A row of the drawing in a number: places in this form sort from left to right. */
const ROW = 1e5

/** Lines of no length, which round caps make dots, each from the one before. */
function dotsText(places: readonly (readonly [number, number])[]): string {
  const keys = [0, ...new Set(places.map(([x, y]) => x * ROW + y).sort((a, b) => a - b))]
  const steps = pairs(
    keys,
    (a, b) => [Math.floor(b / ROW) - Math.floor(a / ROW), (b % ROW) - (a % ROW)] as const,
  )
  return steps.map(([dx, dy]) => `m${dx}${dy < 0 ? '' : ' '}${dy}h0`).join('')
}
