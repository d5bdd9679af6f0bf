// The sections of the explorer: each is the HTML of one part of the model, at night and in the browser.
import { html, raw } from 'hono/html'
import { bookSection } from '../book-charts.ts'
import { chartTable } from '../chart-data.ts'
import type { LineChart } from '../charts/line-chart.ts'
import { type FigureRow, figure, figureOf, hundredths, percent, whole } from '../format.ts'
import type { Markup } from '../layout.ts'
import { term } from '../sheet/sections.ts'
import { MOST_CHOSEN } from './choice.ts'
import type { ExploreModel, Member } from './model.ts'

type Section = (model: ExploreModel) => string

/** By name; a section is what stands in the element with `data-section` of its name. */
export const SECTIONS = {
  status: statusText,
  weights: weightsTable,
  figures: figuresTable,
  equity: ({ charts }) => (charts === null ? '' : chartSection(charts.equity)),
  drawdown: ({ charts }) => (charts === null ? '' : chartSection(charts.drawdown)),
  correlation: correlationTable,
} satisfies Record<string, Section>

const chartSection = (chart: LineChart): string =>
  String(html`<h2>${chart.title}</h2>${raw(bookSection(chart) + chartTable(chart))}`)

const scrolling = (label: string, table: Markup): string =>
  String(
    html`<h2>${label}</h2><div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`,
  )

const riskText = (fraction: number): string => percent(100 * fraction, 2)

function statusText({ portfolio, members, level, choice }: ExploreModel): string {
  if (portfolio === null) return `Choose up to ${MOST_CHOSEN} strategies in the table above.`
  const { daily, figures } = portfolio
  if (daily.values.length === 0)
    return 'None of the chosen strategies has days in this range. Choose a wider range.'
  const range = `from ${figures.start} to ${figures.end}`
  const at = level === null ? 'its own base risk' : riskText(level.effective) + ' risk a trade'
  const cap =
    level === null || level.effective === level.requested
      ? ''
      : `, the cap of this version; ${riskText(level.requested)} was asked for`
  if (members.length === 1)
    return `1 strategy at ${at}${cap}, ${range}. Computed here from the published returns.`
  const weights = choice.weights === null ? 'equal weights' : 'the weights below'
  return `${members.length} strategies with ${weights}, each at ${at}${cap}, rebalanced daily, ${range}. On days without a return of some strategies, the others share their weights. Computed here from the published returns.`
}

/** The values of the inputs are set by the script, so that typing one does not draw the table again. */
function weightsTable({ members }: ExploreModel): string {
  if (members.length === 0) return ''
  const rows = members.map(
    ({ id, name }) => html`<tr>
<th scope="row">${name}</th>
<td><input type="number" name="weight" min="0.000001" max="1000000" step="any" aria-label="Weight of ${name}"></td>
<td><button type="button" data-remove="${id}" aria-label="Remove ${name}">Remove</button></td>
</tr>`,
  )
  return scrolling(
    'Weights',
    html`<table><thead><tr><th scope="col">Strategy</th><th scope="col">Weight</th><th scope="col">Remove</th></tr></thead><tbody>${rows}</tbody></table>`,
  )
}

/** Figures side by side, in the order of columns; the page has their definitions. */
export const FIGURES: readonly FigureRow[] = [
  ['net_return_pct', 'Net return', percent],
  ['cagr_pct', 'CAGR', percent],
  ['max_drawdown_pct', 'Max drawdown', percent],
  ['sharpe_daily_annualized', 'Sharpe, daily', hundredths],
  ['sortino_daily_annualized', 'Sortino, daily', hundredths],
  ['sharpe_weekly_annualized', 'Sharpe, weekly', hundredths],
  ['n_days', 'Days', whole],
]

/** The others are left out on narrow screens. */
const NARROW = ['cagr_pct', 'max_drawdown_pct', 'sharpe_daily_annualized']

const wide = (field: string) => (NARROW.includes(field) ? '' : raw(' class="wide"'))

function figuresTable({ portfolio, members }: ExploreModel): string {
  if (portfolio === null) return ''
  const row = ({ name, share, figures }: Member) =>
    html`<tr><th scope="row">${name}</th><td class="wide">${figure(share, part => percent(100 * part))}</td>${FIGURES.map(each => html`<td${wide(each[0])}>${figureOf(figures, each)}</td>`)}</tr>`
  return scrolling(
    'Figures',
    html`<table><thead><tr><th scope="col">Strategy</th><th scope="col" class="wide">Share</th>${FIGURES.map(([field, title]) => html`<th scope="col"${wide(field)}>${term(`of-${field}`, title)}</th>`)}</tr></thead><tbody>${[portfolio, ...members].map(row)}</tbody></table>`,
  )
}

function correlationTable({ members, correlation }: ExploreModel): string {
  if (members.length < 2) return ''
  const rows = members.map(
    ({ name }, i) =>
      html`<tr><th scope="row">${name}</th>${correlation[i]!.map(rho => html`<td>${figure(rho, hundredths)}</td>`)}</tr>`,
  )
  return scrolling(
    'Correlation',
    html`<table><caption>Correlation of daily returns over the days that both have in the range, 30 or more.</caption>
<thead><tr><th scope="col">Strategy</th>${members.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`,
  )
}
