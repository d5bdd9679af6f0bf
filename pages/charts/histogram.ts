// How many days had a return of about a size.
import { greatest, sum, ticks } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { besideLabels, linearAxis, tickRow, valueGrid } from './axes.ts'
import { areaOf, drawing, emptyDrawing, type Frame, tenth, tickText } from './svg.ts'

export type Histogram = Frame & {
  /** Of one width, without gaps, in order; none has 0 inside. Percent, from inclusive to exclusive. */
  readonly bins: readonly { readonly from_pct: number; readonly to_pct: number; readonly days: number }[]
}

/** An `svg` element with a bar for each bin, in the colour of a gain or a loss. */
export function histogram(chart: Histogram): string {
  const area = areaOf(chart, 'left')
  const { bins } = chart
  const [first, last] = [bins[0], bins.at(-1)]
  if (first === undefined) return emptyDrawing(chart, area, 'No days to draw')
  const fullest = greatest(bins, ({ days }) => days)!
  const axis = linearAxis(0, fullest.days, area.plot)
  const plot = besideLabels(axis, 'count', area.plot)
  const x = scaleLinear([first.from_pct, last!.to_pct], [plot.left, plot.right])
  const rangeOf = ({ from_pct, to_pct }: (typeof bins)[number]) =>
    `${tickText(from_pct, 'percent')} to ${tickText(to_pct, 'percent')}`
  const bars = bins.map(bin => {
    const [left, top] = [tenth(x(bin.from_pct)), tenth(axis.y(bin.days))]
    const size = `width="${tenth(x(bin.to_pct) - left)}" height="${tenth(plot.bottom - top)}"`
    const kind = bin.from_pct < 0 ? 'loss' : 'gain'
    const title = `<title>${rangeOf(bin)}: ${bin.days}</title>`
    return bin.days === 0
      ? ''
      : `<rect class="bar edged ${kind}" x="${left}" y="${top}" ${size}>${title}</rect>`
  })
  const marks = ticks(first.from_pct, last!.to_pct, Math.floor(plot.right / 60)).map((value, i) => ({
    at: x(value),
    label: tickText(value, 'percent'),
    isSecond: i % 2 !== 0,
  }))
  const description = `${sum(bins, ({ days }) => days)} days in ${bins.length} bins, most of them (${fullest.days}) from ${rangeOf(fullest)}.`
  return drawing(chart, area, description, [
    valueGrid({ ...axis, ticks: axis.ticks.filter(Number.isInteger) }, plot, 'count'),
    ...bars,
    `<path class="baseline" d="M${plot.left} ${plot.bottom}H${plot.right}"/>`,
    tickRow(marks, plot),
  ])
}
