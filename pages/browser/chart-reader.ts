// Reading a chart: the day and the values under the pointer or, with the arrow keys, under a line; and a range by dragging.
import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { valueOn } from '../chart-data.ts'
import { chartScales, type LineChart } from '../charts/line-chart.ts'
import { valueText } from '../charts/svg.ts'
import { dayText } from '../format.ts'

const SVG = 'http://www.w3.org/2000/svg'
const HINT = 'Point at the chart, or select it and press the arrow keys, to read its values.'

/** Days that a key moves the line by. */
const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30 },
  ...{ Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
}

/** Makes the lines readable that were drawn into an element: their charts can be selected, and have a line for the values. */
export function prepareCharts(place: Element): void {
  for (const svg of place.querySelectorAll<SVGSVGElement>('svg.chart:has(.line)')) {
    svg.setAttribute('tabindex', '0')
    readoutOf(svg).textContent = HINT
  }
}

function readoutOf(svg: SVGSVGElement): HTMLElement {
  const next = svg.nextElementSibling
  if (next instanceof HTMLElement && next.className === 'readout') return next
  const readout = document.createElement('p')
  readout.className = 'readout'
  svg.after(readout)
  return readout
}

/**
 * Follows pointer and keys on every chart of the page.
 *
 * @param chartOf the chart of an id, as it is drawn now
 * @param onRange called with the range that a reader dragged over
 */
export function followCharts(
  chartOf: (id: string) => LineChart | undefined,
  onRange: (from: EpochDay, to: EpochDay) => void,
): void {
  let dragged: { readonly svg: SVGSVGElement; readonly from: EpochDay } | null = null
  const days = new WeakMap<SVGSVGElement, EpochDay>()

  const over = (event: Event) => {
    const svg = event.target instanceof Element ? event.target.closest<SVGSVGElement>('svg.chart') : null
    const chart = chartOf(svg?.querySelector('title')?.id.replace(/-title$/, '') ?? '')
    return svg === null || chart === undefined ? null : { svg, chart }
  }
  const dayUnder = ({ svg, chart }: NonNullable<ReturnType<typeof over>>, event: PointerEvent): EpochDay =>
    chartScales(chart).dayAt(
      new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM()?.inverse()).x,
    )
  const read = (svg: SVGSVGElement, chart: LineChart, day: EpochDay, isAnnounced: boolean) => {
    if (days.get(svg) === day && svg.querySelector('.cursor') !== null) return
    days.set(svg, day)
    drawCursor(svg, chart, day, dragged?.svg === svg ? dragged.from : day)
    const readout = readoutOf(svg)
    readout.ariaLive = isAnnounced ? 'polite' : 'off'
    readout.textContent = describe(chart, day)
  }

  addEventListener('pointermove', event => {
    const found = over(event)
    if (found !== null) read(found.svg, found.chart, dayUnder(found, event), false)
  })
  addEventListener('pointerdown', event => {
    const found = over(event)
    // A finger scrolls the page.
    if (found === null || event.pointerType === 'touch' || event.button !== 0) return
    event.preventDefault()
    found.svg.focus()
    dragged = { svg: found.svg, from: dayUnder(found, event) }
  })
  addEventListener('pointerup', event => {
    const [found, start] = [over(event), dragged]
    dragged = null
    if (found === null || start === null || found.svg !== start.svg) return
    const [from, to] = [start.from, dayUnder(found, event)].sort((a, b) => a - b)
    if (to! - from! >= 7) onRange(from!, to!) // smaller movements select no range
  })
  addEventListener('keydown', event => {
    const [found, step] = [over(event), STEPS[event.key]]
    if (found === null || step === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const { from, to } = found.chart.days
    const day = (days.get(found.svg) ?? to) + step
    read(found.svg, found.chart, Math.min(Math.max(day, from), to), true)
  })
}

function drawCursor(svg: SVGSVGElement, chart: LineChart, day: EpochDay, from: EpochDay): void {
  svg.querySelector('.cursor')?.remove()
  const { x, plot } = chartScales(chart)
  const shape = document.createElementNS(SVG, 'path')
  const [left, right] = [x(Math.min(day, from)), x(Math.max(day, from))]
  shape.setAttribute('class', from === day ? 'cursor mark' : 'cursor band')
  shape.setAttribute('d', `M${left} ${plot.top}V${plot.bottom}H${right}V${plot.top}Z`)
  svg.append(shape)
}

/** `3 May 2024: Portfolio 1.23×, Birch 1.10×`; lines without a value on the day are left out. */
function describe(chart: LineChart, day: EpochDay): string {
  const values = chart.lines.flatMap(line => {
    const value = valueOn(line, day)
    return value === undefined ? [] : [`${line.name} ${valueText(value, chart.unit)}`]
  })
  return `${dayText(toIsoDate(day))}: ${values.join(', ') || 'no values'}`
}
