// Numbers and dates as pages print them. The exact number stands beside its text, in `<data value>`.
import { format } from 'd3-format'
import { html } from 'hono/html'
import { toPercent } from '#core/contract/rounding.ts'
import type { FigureValue, FigureValues } from '#core/figures/figure.ts'
import { DAYS_PER_YEAR, FEWEST_DAYS } from '#core/figures/series.ts'

export const NONE = '–'

/** By the number of decimals: making one takes longer than using it. */
const printers: ReturnType<typeof format>[] = []

/**
 * A number with a minus sign, `places` decimals and thousands separated by spaces; no minus if it rounds to zero. From a
 * million on it has two digits or more of `1.2 million`, from a billion on of `2.4 × 10²²`: nobody reads more of them.
 */
export function decimal(value: number, places: number): string {
  const size = Math.abs(value)
  if (size >= 1e6 && size < Infinity)
    return size < 999.95e6 ? `${inMillions(value / 1e6)} million` : withPower(inPowers(value))
  printers[places] ??= format(`,.${places}f`)
  const text = printers[places](value).replaceAll(',', ' ') // narrow no-break space
  return Number(value.toFixed(places)) === 0 ? text.replace('−', '') : text
}

const inMillions = format(',.1f')
const inPowers = format('.1e')

/** `2e+22` as `2 × 10²²`, and `1e-7` as `10⁻⁷`. */
export const withPower = (text: string): string =>
  text.replace(/^(−?)(.*)e\+?(.*)$/, (_, sign: string, digits: string, power: string) => {
    const raised = Array.from(power, char => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(char)] ?? '⁻')
    return `${sign}${digits === '1' ? '' : `${digits} × `}10${raised.join('')}`
  })

export const hundredths = (value: number): string => decimal(value, 2)
export const whole = (value: number): string => decimal(value, 0)

/** `1 day`, `3 103 days`, `2 entries`. */
export const counted = (count: number, noun: string): string => `${whole(count)} ${nounFor(count, noun)}`

/** A noun as it stands behind a number. */
export const nounFor = (count: number, noun: string): string =>
  count === 1 ? noun : `${noun.replace(/(?<=[^aeiou])y$/, 'ie')}s`

export const percent = (value: number, places = 1): string => `${decimal(value, places)} %`

/** A figure with its name: where it stands in its group, and how it is printed. */
export type FigureRow = readonly [path: string, name: string, print: (value: number) => string]

/** A figure of a block; null if it is not defined, or no number. */
export const numberOf = (value: FigureValue | undefined): number | null =>
  typeof value === 'number' ? value : null

/** A figure: its published digits for programs, a rounded number for people; `none` if it is not defined, or no number. */
export function figure(value: FigureValue | undefined, print: (value: number) => string, none = NONE) {
  if (typeof value !== 'number') return html`<data value="">${none}</data>`
  return html`<data value="${toPercent(value)}">${print(value)}</data>`
}

/** Days without which a figure of a year is not published. */
const DAYS_OF: Readonly<Record<string, number>> = {
  ...{ cagr_pct: DAYS_PER_YEAR, excess_cagr_pct: DAYS_PER_YEAR, calmar: DAYS_PER_YEAR },
  ...{ sharpe_daily_annualized: FEWEST_DAYS, sortino_daily_annualized: FEWEST_DAYS },
  ...{ sharpe_std_error: FEWEST_DAYS, alpha_annualized_pct: FEWEST_DAYS, tracking_error_pct: FEWEST_DAYS },
}

/** Whether a history has so few days that it has no Sharpe ratio. */
export const isShort = ({ n_days }: FigureValues): boolean =>
  typeof n_days === 'number' && n_days < FEWEST_DAYS

/** A figure of a block of `n_days` days. Those of a short one say how short: they are null, or a volatility of few days. */
export function figureOf(values: FigureValues, [path, , print]: FigureRow) {
  const [value, days] = [numberOf(values[path]), numberOf(values.n_days)]
  if (days === null) return figure(value, print)
  const none = days < (DAYS_OF[path] ?? 0) ? `${counted(days, 'day')}: too short` : NONE
  const note =
    value !== null && path === 'volatility_annualized_pct' && isShort(values)
      ? ` (${counted(days, 'day')})`
      : ''
  return html`${figure(value, print, none)}${note}`
}

const MONTH_NAMES =
  'January February March April May June July August September October November December'.split(' ')
export const MONTHS = MONTH_NAMES.map(name => name.slice(0, 3))

/** `1 July 2026` for an ISO date or instant, for text without elements. */
export const dayText = (iso: string): string => dayIn(iso, MONTH_NAMES)

function dayIn(iso: string, names: readonly string[]): string {
  const [year, month, day] = iso.slice(0, 10).split('-')
  return `${Number(day)} ${names[Number(month) - 1]} ${year}`
}

/** The same with the exact value for programs, and for people who point at it. */
export const dateText = (iso: string) => dated(iso, dayText(iso))

/** `1 Jul 2026`, for a cell of a table. */
export const shortDate = (iso: string) => dated(iso, dayIn(iso, MONTHS))

const dated = (iso: string, text: string) => html`<time datetime="${iso}" title="${iso}">${text}</time>`

/** What every picture of a dataset says of it, because pictures are copied without their page. */
export const caveatOf = ({ synthetic }: { readonly synthetic: boolean }): string | null =>
  synthetic ? 'synthetic data' : null
