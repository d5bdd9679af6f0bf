// Distributions side by side on one axis: what most values are, and how far the others reach.
import { extent, ticks } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { tickRow } from './axes.ts'
import { areaOf, drawing, escapeText, type Frame, tenth, tickText, type Unit, valueText } from './svg.ts'

export type BoxStrip = Frame & {
  readonly unit: Unit
  /** One below the other; `quantiles` are 5, 25, 50, 75 and 95 %. */
  readonly rows: readonly {
    readonly label: string
    readonly kind: 'gain' | 'loss'
    readonly quantiles: readonly number[]
    readonly mean: number
  }[]
}

const ROW = 30
const LABELS = 40

/** An `svg` element with a line from the first to the last quantile, a box between the middle ones, and a dot for the mean. */
export function boxStrip(chart: BoxStrip): string {
  const { rows, unit } = chart
  const frame = { ...chart, height: ROW * rows.length + 44 }
  const area = areaOf(frame)
  const { plot } = area
  const [low = 0, high = 0] = extent([0, ...rows.flatMap(({ quantiles, mean }) => [...quantiles, mean])])
  // A narrower range is drawn as none: the steps of its ticks are no longer finite.
  const domain = high - low > 1e-290 ? [low, high] : [0, 0]
  const x = scaleLinear(domain, [plot.left + LABELS, plot.right - 14])
  const named = ticks(domain[0]!, domain[1]!, 6)
  const marks = named.map(value => ({ at: x(value), label: tickText(value, unit), isSecond: false }))
  const parts = rows.map(({ label, kind, quantiles, mean }, i) => {
    const [first, lower, median, upper, last] = quantiles.map(value => tenth(x(value)))
    const y = plot.top + (i + 0.5) * ROW
    const line = `<path class="whisker" d="M${first} ${y}H${last}M${first} ${y - 4}v8M${last} ${y - 4}v8"/>`
    const box = `<rect class="bar ${kind} partial" x="${lower}" y="${y - 8}" width="${tenth(upper! - lower!)}" height="16"/>`
    const middle = `<path class="median" d="M${median} ${y - 8}v16"/><path class="mean" d="M${tenth(x(mean))} ${y}h0"/>`
    return `<g><text x="0" y="${y}" dy=".35em">${escapeText(label)}</text>${line}${box}${middle}</g>`
  })
  const described = rows.map(
    ({ label, quantiles, mean }) =>
      `${label}: 5 to 95 % from ${valueText(quantiles[0]!, unit)} to ${valueText(quantiles[4]!, unit)}, median ${valueText(quantiles[2]!, unit)}, mean ${valueText(mean, unit)}.`,
  )
  return drawing(frame, area, described.join(' '), [
    `<path class="baseline" d="M${tenth(x(0))} ${plot.top}V${plot.bottom}"/>`,
    ...parts,
    tickRow(marks, { ...plot, right: plot.right - 8 }),
  ])
}
