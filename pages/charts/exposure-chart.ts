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

type Part = 'long_pct' | 'short_pct' | 'flat_pct'
/** `month` is 1 to 12; the parts are percent of its time, all null if they are not known. */
type Month = Readonly<Record<'year' | 'month', number> & Record<Part, number | null>>
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
  const dayOf = (i: number) => Date.UTC(first.year, first.month - 1 + i) / DAY_MS
  const [from, to] = [dayOf(0), dayOf(months.length)]
  const x = (day: number) => tenth(((day - from) / (to - from)) * plot.right)
  const has = (part: Part) => months.some(month => (month[part] ?? 0) > 0)
  const { y, ticks } = linearAxis(
    has('short_pct') ? -100 : 0,
    has('long_pct') || !has('short_pct') ? 100 : 0,
    plot,
  )
  const zero = tenth(y(0))
  const steps = (kind: string, part: Part, sign: 1 | -1) => {
    const tops = months.map((month, i) => `V${tenth(y(sign * (month[part] ?? 0)))}H${x(dayOf(i + 1))}`)
    return `<path class="bar ${kind}" d="M0 ${zero}${tops.join('')}V${zero}Z"/>`
  }
  const unknown = months.map(({ long_pct }, i) =>
    long_pct === null ? `M${x(dayOf(i))} ${plot.top}H${x(dayOf(i + 1))}V${plot.bottom}H${x(dayOf(i))}Z` : '',
  )
  const known = months.filter(({ long_pct }) => long_pct !== null)
  const part = (some: Part) => valueText(mean(known, month => month[some]!) ?? 0, 'percent')
  const means = `on average long ${part('long_pct')}, short ${part('short_pct')}, flat ${part('flat_pct')}`
  return drawing(
    chart,
    area,
    `${known.length} of ${months.length} months are known: ${known.length > 0 ? means : 'none'}.`,
    [
      `<path class="entered" d="${unknown.join('')}"/>`,
      valueGrid({ y, ticks }, plot, 'percent', value => tickText(Math.abs(value), 'percent')),
      steps('gain', 'long_pct', 1),
      steps('loss', 'short_pct', -1),
      `<path class="baseline" d="M0 ${zero}H${plot.right}"/>`,
      tickRow(dayTicks(from, to, x), plot),
      `<text x="0" y="${TOP_TEXT}"><tspan class="name main">long</tspan> above, <tspan class="name under">short</tspan> below 0</text>`,
    ],
  )
}
