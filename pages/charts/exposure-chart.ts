// Which part of each month an account was long and short.
import { mean } from 'd3-array'
import { DAY_MS } from '#core/calendar.ts'
import { dayTicks, linearAxis, tickRow, valueGrid } from './axes.ts'
import {
  areaOf,
  drawing,
  emptyDrawing,
  type Frame,
  TOP_ROW,
  TOP_TEXT,
  tenth,
  tickText,
  valueText,
} from './svg.ts'

type Month = {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** Parts of the time, percent. All are null if they are not known. */
  readonly long_pct: number | null
  readonly short_pct: number | null
  readonly flat_pct: number | null
}

/** Consecutive months. */
export type ExposureChart = Frame & { readonly months: readonly Month[] }

/** An `svg` element with the long part of each month above zero, the short part below; months that are not known are shaded. */
export function exposureChart(chart: ExposureChart): string {
  const box = areaOf(chart, 'both')
  const area = { ...box, plot: { ...box.plot, top: TOP_ROW } }
  const { plot } = area
  const { months } = chart
  const [first] = months
  if (first === undefined) return emptyDrawing(chart, area, 'No months to draw')
  const [from, to] = [first, { year: first.year, month: first.month + months.length }].map(
    ({ year, month }) => Date.UTC(year, month - 1) / DAY_MS,
  ) as [number, number]
  const x = (day: number) => plot.left + ((day - from) / (to - from)) * (plot.right - plot.left)
  const edge = (i: number) => tenth(x(Date.UTC(first.year, first.month - 1 + i) / DAY_MS))
  const has = (side: 'long_pct' | 'short_pct') => months.some(month => (month[side] ?? 0) > 0)
  const axis = linearAxis(has('short_pct') ? -100 : 0, has('long_pct') || !has('short_pct') ? 100 : 0, plot)
  const steps = (kind: string, side: 'long_pct' | 'short_pct', sign: 1 | -1) => {
    const tops = months.map((month, i) => `V${tenth(axis.y(sign * (month[side] ?? 0)))}H${edge(i + 1)}`)
    return `<path class="bar ${kind}" d="M${plot.left} ${tenth(axis.y(0))}${tops.join('')}V${tenth(axis.y(0))}Z"/>`
  }
  const unknown = months.map(({ long_pct }, i) =>
    long_pct === null ? `M${edge(i)} ${plot.top}H${edge(i + 1)}V${plot.bottom}H${edge(i)}Z` : '',
  )
  return drawing(chart, area, describe(months), [
    `<path class="entered" d="${unknown.join('')}"/>`,
    valueGrid(axis, plot, 'percent', value => tickText(Math.abs(value), 'percent')),
    steps('gain', 'long_pct', 1),
    steps('loss', 'short_pct', -1),
    `<path class="baseline" d="M${plot.left} ${tenth(axis.y(0))}H${plot.right}"/>`,
    tickRow(dayTicks(from, to, x), plot),
    `<text x="${plot.left}" y="${TOP_TEXT}"><tspan class="name main">long</tspan> above, <tspan class="name under">short</tspan> below 0</text>`,
  ])
}

function describe(months: readonly Month[]): string {
  const known = months.filter(({ long_pct }) => long_pct !== null)
  const part = (side: 'long_pct' | 'short_pct' | 'flat_pct') =>
    valueText(mean(known, month => month[side]!)!, 'percent')
  const lost = months.length - known.length
  const words = `${months.length} months${lost === 0 ? '' : `, ${lost} of them not known`}`
  return known.length === 0
    ? `${words}.`
    : `${words}; on average long ${part('long_pct')}, short ${part('short_pct')}, flat ${part('flat_pct')}.`
}
