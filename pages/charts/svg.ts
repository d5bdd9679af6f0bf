// What every chart shares: its frame, its texts, and numbers as coordinates.
import { format } from 'd3-format'
import { decimal, withPower } from '../format.ts'

export type Unit = 'multiple' | 'percent' | 'ratio' | 'count'

/** A rectangle in units of the drawing: `left < right`, `top < bottom`. */
export type Plot = Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>

export type Frame = {
  /** Prefix of element ids: letters, digits, `-` and `_`, once in a page. */
  readonly id: string
  readonly title: string
  /** `full` has larger text on narrow screens; `half` stands beside another one and keeps its text. */
  readonly size?: 'full' | 'half'
  readonly height?: number
  /** Words behind the data, for a drawing that is copied without its page. */
  readonly caveat?: string | null
}

type Area = ReturnType<typeof areaOf>

/** Units beside the view box of a chart with axes, as in `charts.css`. */
export const SIDES = {
  full: { left: 46, right: 144 },
  narrow: { left: 80, right: 10 },
  half: { left: 46, right: 8 },
} as const

/**
 * The view box of a drawing and the part of it that data may take: its top row is for the caveat. Labels stand left of the plot
 * only, or on both `sides`, outside of the view box: the style sheet leaves `SIDES` there.
 */
export function areaOf({ size, height = 240, caveat }: Frame, sides: 'left' | 'both' | null = null) {
  const [half, full] = sides !== null ? [300, 620] : [352, 720]
  const width = size === 'half' ? half : full
  const plot: Plot = { left: 0, right: width, top: caveat == null ? 10 : 24, bottom: height - 20 }
  return { width, height, plot, sides }
}

/** Text as it stands in an element or attribute of HTML and XML; what XML cannot hold becomes U+FFFD. */
export const escapeText = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`)

/** The whole `svg` element around `parts`, with its title, and a description for those who cannot see it. */
export function drawing(frame: Frame, area: Area, description: string, parts: readonly string[]): string {
  const { width, height, sides } = area
  const id = escapeText(frame.id)
  const caveat =
    frame.caveat == null ? '' : `<text class="end" x="${width}" y="15">${escapeText(frame.caveat)}</text>`
  const names = `<title id="${id}-title">${escapeText(frame.title)}</title><desc id="${id}-desc">${escapeText(description)}</desc>`
  return `<svg class="chart ${frame.size ?? 'full'}${sides === null ? '' : ` sides ${sides}`}"${sides === 'both' ? ' preserveAspectRatio="none"' : ''} viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc">${names}${caveat}${parts.join('')}</svg>`
}

export function emptyDrawing(frame: Frame, area: Area, sentence: string): string {
  const { width, height } = area
  const text = `<text class="empty" x="${width / 2}" y="${height / 2}">${sentence}</text>`
  return drawing(frame, area, sentence, [
    `<path class="grid" d="M0 .5H${width}M0 ${height - 0.5}H${width}"/>`,
    text,
  ])
}

/** A coordinate: tenths of a unit are finer than a screen shows. */
export const tenth = (units: number): number => Math.round(units * 10) / 10 + 0 // no minus zero

/** `text` cut to `length` characters, for a place that cannot grow. */
export function shorten(text: string, length: number): string {
  const characters = Array.from(text)
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

const SUFFIX: Record<Unit, string> = { multiple: '×', percent: '\u202f%', ratio: '', count: '' }
const plain = format('.8~g')
const thousands = format('.6~s')
const scientific = format('.6~e')
const brief = format('.2~g')

/** A value beside an axis: as short as it can be. */
export function tickText(value: number, unit: Unit): string {
  const size = Math.abs(value)
  if (size >= 1e9 || (size < 1e-4 && size > 0))
    return withPower(scientific(value)) + (unit === 'multiple' ? '' : SUFFIX[unit])
  return (size >= 1e4 ? thousands : plain)(value) + SUFFIX[unit]
}

/** A value in a sentence: with the decimals that pages print. A large or tiny multiple has a word for its unit. */
export function valueText(value: number, unit: Unit): string {
  const size = Math.abs(value)
  const suffix = unit === 'multiple' && (size >= 1e6 || size < 1e-6) ? ' times' : SUFFIX[unit]
  if (size >= 1e6) return decimal(value, 0) + suffix
  if (size < 0.01 && size > 0) return withPower(brief(value)) + suffix
  return decimal(value, unit === 'percent' ? 1 : unit === 'count' ? 0 : 2) + SUFFIX[unit]
}

/** The names of lines with a sample of each, as an HTML list that wraps where it has to. */
export const legend = (
  items: readonly { readonly name: string; readonly kind: string; readonly value?: string }[],
  isNarrow = false,
): string => {
  const key = (kind: string) =>
    `<svg class="key" viewBox="0 0 26 10" aria-hidden="true"><path class="line ${kind}" d="M1 5h24"/></svg>`
  const rows = items.map(
    ({ name, kind, value }) =>
      `<li class="name ${kind}">${key(kind)}${escapeText(name)}${value === undefined ? '' : `<strong> ${value}</strong>`}</li>`,
  )
  return `<ul class="legend${isNarrow ? ' narrow' : ''}">${rows.join('')}</ul>`
}
