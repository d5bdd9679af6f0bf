// Numbers and dates as pages print them. The exact number stands beside its text, in `<data value>`.
import { format } from 'd3-format'
import { html } from 'hono/html'
import { toPercent } from '#core/contract/rounding.ts'
import type { FigureValue } from '#core/figures/split-figures.ts'

/** What is printed for a figure that is not defined. */
export const NONE = '–'

/** By the number of decimals: making one takes longer than using it. */
const printers: ReturnType<typeof format>[] = []

/** A number with a minus sign, `places` decimals and thousands separated by spaces; no minus if it rounds to zero. */
export function decimal(value: number, places: number): string {
  printers[places] ??= format(`,.${places}f`)
  const text = printers[places](value).replaceAll(',', ' ') // narrow no-break space
  return Number(value.toFixed(places)) === 0 ? text.replace('−', '') : text
}

/** A ratio or an amount of money, and a count. */
export const hundredths = (value: number): string => decimal(value, 2)
export const whole = (value: number): string => decimal(value, 0)

export const percent = (value: number, places = 1): string => `${decimal(value, places)} %`

/** A figure with its name: where it stands in its group, and how it is printed. */
export type FigureRow = readonly [path: string, name: string, print: (value: number) => string]

/** A figure of a block; null if it is not defined, or no number. */
export const numberOf = (value: FigureValue | undefined): number | null =>
  typeof value === 'number' ? value : null

/** The same as it is published. */
export const publishedNumber = (value: FigureValue | undefined): number | null =>
  typeof value === 'number' ? toPercent(value) : null

/** A figure: its published digits for programs, a rounded number for people. */
export function figure(value: number | null | undefined, print: (value: number) => string) {
  if (value === null || value === undefined) return html`<data value="">${NONE}</data>`
  return html`<data value="${toPercent(value)}">${print(value)}</data>`
}

/** What every picture of a dataset says of it, because pictures are copied without their page. */
export const caveatOf = ({ synthetic }: { readonly synthetic: boolean }): string | null =>
  synthetic ? 'synthetic data' : null
