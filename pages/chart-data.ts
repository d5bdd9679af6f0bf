// The numbers behind a chart: a short table for people, and everything that is drawn as CSV.
import { html } from 'hono/html'
import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import type { Line, LineChart } from './charts/line-chart.ts'
import { valueText } from './charts/svg.ts'

/** The value of a line on a day; undefined in a gap. */
export function valueOn({ first, values }: Line, day: EpochDay): number | undefined {
  const value = values[day - first]
  return Number.isFinite(value) ? value : undefined
}

/** The values at the ends of equal parts of the range, behind a summary: a reader of the table sees the course. */
export function chartTable(chart: LineChart): string {
  const { from, to } = chart.days
  const step = Math.max(Math.ceil((to - from) / 60), 1) // rows of the table at most: the whole is in the CSV
  const days: EpochDay[] = []
  for (let day = to; day >= from; day -= step) days.push(day)
  const cell = (line: Line, day: EpochDay) => {
    const value = valueOn(line, day)
    return html`<td>${value === undefined ? '–' : valueText(value, chart.unit)}</td>`
  }
  const rows = days.map(
    day => html`<tr><th scope="row">${toIsoDate(day)}</th>${chart.lines.map(line => cell(line, day))}</tr>`,
  )
  return String(html`<details class="numbers"><summary>Table</summary><div class="scroll" role="region" aria-label="Table: ${chart.title}" tabindex="0"><table><caption>${chart.title}</caption>
<thead><tr><th scope="col">Day</th>${chart.lines.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div></details>`)
}

/** Every day that is drawn: `t` and a column a line, ten digits, CRLF as in the CSV of the API. A gap is an empty cell. */
export function chartCsv({ lines, days: { from, to } }: Pick<LineChart, 'lines' | 'days'>): string {
  const rows = [['t', ...lines.map(({ name }) => quoteField(name))].join(',')]
  for (let day = from; day <= to; day++) {
    const cells = lines.map(line => {
      const value = valueOn(line, day)
      return value === undefined ? '' : toText(toSignificant(value))
    })
    rows.push([toIsoDate(day), ...cells].join(','))
  }
  return `${rows.join('\r\n')}\r\n`
}

/** A name that a spreadsheet would run as a formula gets an apostrophe. */
function quoteField(name: string): string {
  const text = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
