// What stands in a plot beside the lines: shades of periods, the day of the entry, the end of a ruined account.
import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { dayText } from '../format.ts'
import { emsOf, fontOf } from './axes.ts'
import { escapeText, type Plot, tenth } from './svg.ts'

export type Band = { readonly from: EpochDay; readonly to: EpochDay; readonly label: string }

type Days = { readonly from: EpochDay; readonly to: EpochDay }
type Scale = { x(day: EpochDay): number; readonly plot: Plot }

/** A shade over the height of the plot. A label that has no room is shown by the pointer only. */
export function bandOf({ from, to, label }: Band, days: Days, { x, plot }: Scale): string {
  const left = tenth(x(Math.max(from, days.from)))
  const width = tenth(x(Math.min(to, days.to)) - left)
  const [text, room] = [escapeText(label), width / emsOf(label)]
  const shade = shadeOf('band', left, Math.max(width, 1), plot, `<title>${text}</title>`)
  if (room < 12) return shade
  return `${shade}<text class="band-label${room < 22 ? ' second' : ''}" x="${tenth(left + width / 2)}" y="${plot.top + 3}" dy=".8em">${text}</text>`
}

const shadeOf = (kind: string, x: number, width: number, { top, bottom }: Plot, inside = ''): string =>
  `<rect class="${kind}" x="${x}" y="${top}" width="${width}" height="${bottom - top}">${inside}</rect>`

/** The days from the entry on have a shade, and the day itself a rule if it is in the chart. Its label is above a rule at `base`. */
export function entryShade(entered: EpochDay, { from, to }: Days, scale: Scale, base: number): string {
  if (entered > to) return ''
  const { x, plot } = scale
  const at = tenth(x(Math.max(entered, from)))
  const shade = at < plot.right ? shadeOf('entered', at, tenth(plot.right - at), plot) : ''
  const rule = entered < from ? '' : `<path class="mark" d="M${at} ${plot.top}V${plot.bottom}"/>`
  const foot = base > plot.bottom - 26 ? tenth(base) : plot.bottom
  return shade + rule + textBeside(`entered ${dayText(toIsoDate(entered))}`, at, foot - 6, plot)
}

/** A cross where a line ends because nothing was left of its account on the day `ruin`. */
export function ruinMark(ruin: EpochDay, at: number, y: number, hasText: boolean, plot: Plot): string {
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
