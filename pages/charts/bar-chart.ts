// A value for each year, or for any few names.
import { maxIndex, minIndex } from 'd3-array'
import { decimal, NONE } from '../format.ts'
import { emsOf, linearAxis, tickRow } from './axes.ts'
import { areaOf, drawing, emptyDrawing, escapeText, type Frame, tenth, type Unit, valueText } from './svg.ts'

export type BarChart = Frame & {
  readonly unit: Unit
  /** What stands where a value is null: a dash, unless it is given. */
  readonly none?: string
  readonly bars: readonly {
    readonly label: string
    readonly value: number | null
    /** What the pointer shows beside the value. */
    readonly note?: string
    /** Paler, because the year has not all of its days. */
    readonly isPartial?: boolean
  }[]
}

/** An `svg` element with a bar for each value and its number, without the sign of the unit, at the end of the bar. */
export function barChart(chart: BarChart): string {
  const { bars, unit, none = NONE } = chart
  const area = areaOf(chart)
  const values = bars.map(({ value }) => value ?? Number.NaN)
  if (values.every(Number.isNaN)) return emptyDrawing(chart, area, 'No values to draw')
  const { width, plot } = area
  const [low, high] = [minIndex(values), maxIndex(values)]
  // Numbers stand at the ends of bars, above the names.
  const ends = { ...plot, top: plot.top + 16, bottom: plot.bottom - (values[low]! < 0 ? 22 : 0) }
  const { y } = linearAxis(Math.min(values[low]!, 0), Math.max(values[high]!, 0), ends, false)
  const step = width / bars.length
  const numbers = values.map(value => {
    if (Number.isNaN(value)) return none
    return Math.abs(value) < 1e5 ? decimal(value, step < 42 ? 0 : 1) : valueText(value, 'ratio')
  })
  const labels = bars.map(({ label }) => label)
  const nameFits = fitting(labels, step)
  const numberFits = fitting(numbers, step)
  const middle = (i: number) => (i + 0.5) * step
  const parts = bars.map(({ label, note, isPartial }, i) => {
    const [value, isNone] = [values[i] || 0, Number.isNaN(values[i])]
    const title = `${label}: ${valueText(value, unit)}${note === undefined ? '' : ` (${note})`}`
    const thick = Math.min(step * 0.72, 60)
    const kind = `${value < 0 ? 'loss' : 'gain'}${isPartial ? ' partial' : ''}`
    const place = value < 0 ? `y="${tenth(y(value) + 3)}" dy=".8em"` : `y="${tenth(y(value) - 4)}"`
    const second = numberFits(i) === 'second' ? ' second' : ''
    const number = `<text class="number middle${second}" x="${tenth(middle(i))}" ${place}>${numbers[i]}</text>`
    const top = tenth(Math.min(y(0), y(value)))
    const size = tenth(Math.max(y(0), y(value)) - top)
    const bar = isNone
      ? ''
      : `<rect class="bar ${kind}" x="${tenth(middle(i) - thick / 2)}" y="${top}" width="${tenth(thick)}" height="${size}"><title>${escapeText(title)}</title></rect>`
    return numberFits(i) === 'never' ? bar : bar + number
  })
  const names = labels.map((label, i) => ({ at: middle(i), label, isSecond: nameFits(i) === 'second' }))
  const shown = names.filter((_, i) => nameFits(i) !== 'never')
  const extreme = (i: number) => `${valueText(values[i]!, unit)} (${bars[i]!.label})`
  return drawing(chart, area, `${bars.length} bars: lowest ${extreme(low)}, highest ${extreme(high)}.`, [
    ...parts,
    `<path class="baseline" d="M0 ${tenth(y(0))}H${width}"/>`,
    tickRow(shown, plot, false),
  ])
}

/** Which texts have room, `step` units from each other: in 11 units; as every second one in 20, too. */
function fitting(texts: readonly string[], step: number): (index: number) => 'always' | 'second' | 'never' {
  const ems = Math.max(...texts.map(emsOf))
  const every = Math.ceil((ems * 11 + 3) / step)
  const isTight = step * every < ems * 20 + 12 // the last name moves into the drawing
  return i => (i % every !== 0 ? 'never' : isTight && (i / every) % 2 !== 0 ? 'second' : 'always')
}
