// Axes: domains that suit any data, ticks that suit people, and labels that do not collide.
import { greatest, pairs, range, sum, ticks } from 'd3-array'
import { scaleLinear, scaleLog } from 'd3-scale'
import { DAY_MS, type EpochDay, toIsoDate } from '#core/calendar.ts'
import { MONTHS } from '../format.ts'
import { escapeText, type Plot, SIDES, tenth, tickText, type Unit } from './svg.ts'

/** A position beside the axis, its label, and whether a narrow screen leaves the label out. */
export type Tick = { readonly at: number; readonly label: string; readonly isSecond: boolean }

export type ValueAxis = {
  /** Where a value is, in units of the drawing; values beyond the axis are at its edge. */
  y(value: number): number
  readonly ticks: readonly number[]
}

/** Finer than 1e-300 and coarser than 1e300, sums and products of a scale are no longer finite. */
const LARGEST = 1e300

/** Between lines with a label of 11 units each, or of 20 at every second one, as on narrow screens. */
const TICK_GAP = 21

/** A linear axis around `low` to `high`, with round ends if `isRound`. */
export function linearAxis(low: number, high: number, plot: Plot, isRound = true): ValueAxis {
  const count = Math.max(2, Math.round((plot.bottom - plot.top) / 40))
  const domain = widened(clamp(low, -LARGEST, LARGEST), clamp(high, -LARGEST, LARGEST))
  const scale = scaleLinear(domain, [plot.bottom, plot.top]).clamp(true)
  return { y: isRound ? scale.nice(2 * count) : scale, ticks: scale.ticks(count) }
}

/** A logarithmic axis around `low` to `high`, both positive. What is not positive is at the bottom edge. */
export function logarithmicAxis(low: number, high: number, plot: Plot): ValueAxis {
  const { y, domain } = logarithmicScale(low, high, plot)
  return { y, ticks: logarithmicTicks(domain, y) }
}

/** The same without ticks, which take most of the time. */
export function logarithmicScale(low: number, high: number, plot: Plot) {
  const [from, to] = [clamp(low, 1 / LARGEST, LARGEST), clamp(high, 1 / LARGEST, LARGEST)]
  const margin = Math.max((Math.log(to) - Math.log(from)) * 0.03, to < from * 1.001 ? 0.05 : 0)
  const domain = [from * Math.exp(-margin), Math.min(to * Math.exp(margin), LARGEST * 1e5)] as const
  return { domain, y: scaleLog(domain, [plot.bottom, plot.top]).clamp(true) }
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)

/** A flat series is drawn in the middle; a nearly flat one must not have ticks that look the same. */
function widened(low: number, high: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  if (high - low > Math.max(size * 1e-3, 1e-290)) return [low, high]
  const margin = size < 1e-290 ? 1 : size * 0.05
  return [low - margin, high + margin]
}

const PARTS = [
  [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9],
  [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8],
  [1, 1.5, 2, 3, 5, 7],
  [1, 2, 5],
  [1, 3],
  [1],
]

/** As many round values as have room: with even steps on a narrow range, powers of ten on a wide one. */
function logarithmicTicks([low, high]: readonly [number, number], y: ValueAxis['y']): readonly number[] {
  const rounded = (parts: readonly number[], step: number) =>
    range(Math.floor(Math.log10(low) / step) * step, Math.log10(high) + 1, step)
      .flatMap(power => parts.map(part => Number(`${part}e${power}`)))
      .filter(value => value >= low && value <= high)
  const choices = [
    ...[7, 5, 3].map(count => ticks(low, high, count)),
    ...PARTS.map(parts => rounded(parts, 1)),
    ...[2, 3, 6, 10, 20, 50, 100, 200, 300].map(step => rounded([1], step)),
  ]
  const fitting = choices.filter(values => pairs(values, (a, b) => y(a) - y(b)).every(gap => gap >= TICK_GAP))
  return greatest(fitting, (a, b) => a.length - b.length) ?? []
}

export function valueGrid(axis: ValueAxis, { left, right }: Plot, unit: Unit): string {
  const rows = axis.ticks.map(value => ({ value, at: tenth(axis.y(value)) }))
  const base = unit === 'multiple' ? 1 : 0
  const zero = Math.max(axis.ticks.indexOf(base), 0)
  const lines = rows.map(({ at }) => `M${left} ${at}H${right}`).join('')
  const labels = rows.map(
    ({ value, at }, i) =>
      `<text${(i - zero) % 2 === 0 ? '' : ' class="second"'} x="${left - LABEL_GAP}" y="${at}" dy=".35em">${tickText(value, unit)}</text>`,
  )
  return `<path class="grid" d="${lines}"/><g class="values">${labels.join('')}</g>`
}

const LABEL_GAP = 6

/** The largest text of a drawing: narrow screens enlarge that of the full width. */
export const fontOf = ({ right }: Plot): number => (right < 360 ? 11 : 20)

/** Beside the plot is room for `−100 %` and `1000×`: charts of one size under each other begin at the same place. */
const USUAL_EMS = (SIDES.narrow.left - LABEL_GAP) / 20

/** `plot` without what unusually long labels of an axis take of it. */
export function besideLabels(axis: ValueAxis, unit: Unit, plot: Plot): Plot {
  const ems = Math.max(USUAL_EMS, ...axis.ticks.map(value => emsOf(tickText(value, unit))))
  return { ...plot, left: Math.ceil(fontOf(plot) * (ems - USUAL_EMS)) }
}

/** How wide a text is in a wide font, in its font size. */
export const emsOf = (text: string): number => sum(text, char => WIDTHS.find(([some]) => some.test(char))![1])

const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/[.,:'|ijl\s\u202f-]/, 0.32],
  [/[⁰¹²³⁴-⁹⁻]/, 0.42],
  [/[mwMW@%…]/, 0.95],
  [/[A-Z]/, 0.7],
  [/[\u2e80-\u{10ffff}]/u, 1.1],
  [/^/, 0.6],
]

/** Labels under the plot, with a mark each if `hasMarks`. The last one ends at `width` at most. */
export function tickRow(marks: readonly Tick[], plot: Plot, hasMarks = true): string {
  const width = plot.right + (hasMarks ? SIDES.half.right : 0)
  const lines = hasMarks ? marks.map(({ at }) => `M${tenth(at)} ${plot.bottom}v5`).join('') : ''
  const labels = marks.map(({ at, label, isSecond }) => {
    const isLast = at + (emsOf(label) * fontOf(plot)) / 2 > width
    const classes = `${isLast ? 'end' : 'middle'}${isSecond ? ' second' : ''}`
    return `<text class="${classes}" x="${isLast ? width : tenth(at)}" y="${plot.bottom + 7}" dy=".8em">${escapeText(label)}</text>`
  })
  return `<path class="ticks" d="${lines}"/>${labels.join('')}`
}

const STEPS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000]

/** Days, months or years between two days, as close as their labels of 11 units, or two of 20, allow. */
export function dayTicks(from: EpochDay, to: EpochDay, x: (day: EpochDay) => number): Tick[] {
  const width = x(to) - x(from)
  const tick = (day: EpochDay, i: number, parts: number): Tick => {
    const [year, month, date] = toIsoDate(day).split('-')
    const words = [`${Number(date)}`, MONTHS[Number(month) - 1]!, year!]
    return { at: x(day), label: words.slice(-parts).join(' '), isSecond: i % 2 !== 0 }
  }
  const days = ticks(from, to, Math.max(Math.floor(width / 110), 1)).filter(Number.isInteger)
  if (to - from < 70) return days.map((day, i) => tick(day, i, 3))
  const room = (months: number) => (months < 12 ? 62 : 38)
  const months = STEPS.find(months => (months * 30.4 * width) / (to - from) >= room(months)) ?? STEPS.at(-1)!
  const dayOf = (i: number) => Date.UTC(2000, i * months) / DAY_MS
  const first = Math.ceil((from - dayOf(0)) / (months * 30.4368) - 1)
  const found = range(first, first + width / 30).filter(i => dayOf(i) >= from && dayOf(i) <= to)
  return found.map(i => tick(dayOf(i), i, months < 12 ? 2 : 1))
}
