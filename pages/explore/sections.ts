// The sections of the explorer: each is the HTML of one part of the model, at night and in the browser.
import { html, raw } from 'hono/html'
import { toIsoDate } from '#core/calendar.ts'
import { chartTable } from '../chart-data.ts'
import { type LineChart, namedLineChart } from '../charts/line-chart.ts'
import {
  counted,
  dateText,
  dayText,
  type FigureRow,
  figure,
  figureOf,
  hundredths,
  percent,
} from '../format.ts'
import type { Markup } from '../layout.ts'
import { HEADLINE, stackedCell, term } from '../sheet/sections.ts'
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
  String(html`<h2>${chart.title}</h2>${raw(namedLineChart(chart) + chartTable(chart))}`)

const scrolling = (label: string, table: Markup): string =>
  String(
    html`<h2>${label}</h2><div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`,
  )

const riskText = (fraction: number): string => percent(100 * fraction, 2)

function statusText(model: ExploreModel): string {
  const { portfolio, members, level, choice } = model
  if (portfolio === null) return `Choose up to ${MOST_CHOSEN} strategies in the table above.`
  if (portfolio.daily.values.length === 0)
    return `${model.days === null ? 'None of the chosen strategies has days in this range' : 'The chosen strategies have no common day in this range'}. Choose a wider range.`
  const at = level === null ? 'its own base risk' : riskText(level.effective) + ' risk a trade'
  const cap =
    level === null || level.effective === level.requested
      ? ''
      : `, the cap of this version; ${riskText(level.requested)} was asked for`
  const weights = choice.weights === null ? 'equal weights' : 'the weights below'
  const what =
    members.length === 1
      ? `1 strategy at ${at}${cap}.`
      : `${members.length} strategies with ${weights}, each at ${at}${cap}, rebalanced daily.`
  return `${daysSentence(model, portfolio)} ${what} Computed here from the published returns.`
}

function daysSentence({ days, gap, choice, members }: ExploreModel, portfolio: Member): string {
  const { start, end } = portfolio.figures
  const span = `${dayText(String(start))} to ${dayText(String(end))}, ${counted(portfolio.daily.values.length, 'day')}`
  if (members.length === 1) return `Over its days: ${span}.`
  if (days !== null) return `Over the days that all ${members.length} have: ${span}.`
  const own = `over its own days, as its row says; the portfolio is of ${span}, and on days without a return of some strategies, the others share their weights.`
  if (choice.days === 'own' || gap === null) return `Each ${own}`
  const { empty, early, late } = gap
  const why =
    empty === null
      ? `${early?.name} ends on ${dayText(toIsoDate(early?.last ?? 0))}, and ${late?.name} begins on ${dayText(toIsoDate(late?.first ?? 0))}`
      : `${empty} has no day yet`
  return `There is no day that all ${members.length} have: ${why}. So each is shown ${own}`
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
  ...HEADLINE.slice(0, 3),
  ['sharpe_daily_annualized', 'Sharpe, daily', hundredths],
  ['sortino_daily_annualized', 'Sortino, daily', hundredths],
  ['sharpe_weekly_annualized', 'Sharpe, weekly', hundredths],
]

function figuresTable({ portfolio, members, days }: ExploreModel): string {
  if (portfolio === null) return ''
  const isSame = days !== null || members.length === 1
  const row = (member: Member) =>
    html`<tr><th scope="row">${member.name}</th>${isSame ? '' : stackedCell('Days', daysOf(member))}${stackedCell(
      'Share',
      figure(member.share, part => percent(100 * part)),
    )}${FIGURES.map(each => stackedCell(each[1], figureOf(member.figures, each)))}</tr>`
  return scrolling(
    'Figures',
    html`<table class="stacked figures-of">${isSame ? html`<caption>Each over ${daysOf(portfolio)}.</caption>` : ''}<thead><tr><th scope="col">Strategy</th>${isSame ? '' : html`<th scope="col">Days</th>`}<th scope="col">Share</th>${FIGURES.map(([field, title]) => html`<th scope="col">${term(`of-${field}`, title)}</th>`)}</tr></thead><tbody>${[portfolio, ...members].map(row)}</tbody></table>`,
  )
}

function daysOf({ daily: { values }, figures: { start, end } }: Member): Markup {
  const length = html`<data value="${values.length}">${counted(values.length, 'day')}</data>`
  return values.length === 0
    ? length
    : html`${length}, ${dateText(String(start))} to ${dateText(String(end))}`
}

function correlationTable({ members, correlation, days }: ExploreModel): string {
  if (members.length < 2) return ''
  const rows = members.map(
    ({ name }, i) =>
      html`<tr><th scope="row">${name}</th>${correlation[i]!.map(rho => html`<td>${figure(rho, hundredths)}</td>`)}</tr>`,
  )
  return scrolling(
    'Correlation',
    html`<table><caption>Correlation of daily returns over ${days === null ? 'the days that both have in the range' : 'these days'}, 30 or more.</caption>
<thead><tr><th scope="col">Strategy</th>${members.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`,
  )
}
