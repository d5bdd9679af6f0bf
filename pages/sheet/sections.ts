// The parts of a fact sheet that depend on the risk level: each is a function of the model, at night and in the browser.
import { html } from 'hono/html'
import { parseIsoDate } from '#core/calendar.ts'
import { lastDay } from '#core/figures/series.ts'
import { barChart } from '../charts/bar-chart.ts'
import { drawdownChartOf, equityChartOf, type Line, type LineChart, lineChart } from '../charts/line-chart.ts'
import { legend } from '../charts/svg.ts'
import { decimal, type FigureRow, figure, figureOf, hundredths, MONTHS, percent, whole } from '../format.ts'
import type { SheetModel } from './model.ts'

type Days = LineChart['days']

export const allDays = ({ path: { daily } }: SheetModel): Days => ({ from: daily.first, to: lastDay(daily) })

/** The sections by name, in the order of the sheet. The text is HTML. */
export const SECTIONS = {
  headline: model => String(headline(model)),
  equity: (model, days) => chartWithLegend(equityChart(model, days)),
  underwater: (model, days) => lineChart(underwaterChart(model, days)),
  months: model => String(months(model)),
  years: model => years(model),
  drawdowns: model => String(drawdowns(model)),
  rolling: (model, days) => sideBySide(rollingCharts(model, days)),
} as const satisfies Record<string, (model: SheetModel, days: Days) => string>

export type SectionName = keyof typeof SECTIONS

export const HEADLINE: readonly FigureRow[] = [
  ['net_return_pct', 'Net return', percent],
  ['cagr_pct', 'CAGR', percent],
  ['max_drawdown_pct', 'Max drawdown', percent],
  ['sharpe_daily_annualized', 'Sharpe', hundredths],
]

/** The figures at the head of the sheet that the risk level changes. */
export const AT_LEVEL: readonly FigureRow[] = [
  ...HEADLINE,
  ['sortino_daily_annualized', 'Sortino', hundredths],
]

/** Those that it does not change. */
export const OF_TRADES: readonly (readonly [keyof SheetModel['facts']['trades'], string, FigureRow[2]])[] = [
  ['profit_factor', 'Profit factor', hundredths],
  ['win_rate_pct', 'Win rate', percent],
  ['trade_count', 'Trades', whole],
]

/** A name that opens its definition, which the page has once. */
export const term = (path: string, name: string) =>
  html`<button type="button" class="term" popovertarget="about-${path}">${name}</button>`

const headline = ({ figures, facts }: SheetModel) => html`<dl class="tiles">${AT_LEVEL.map(
  row => html`
<div data-figure="${row[0]}"><dt>${term(row[0], row[1])}</dt><dd>${figureOf(figures, row)}</dd></div>`,
)}${OF_TRADES.map(
  ([path, name, print]) => html`
<div><dt>${term(path, name)}</dt><dd>${figure(facts.trades[path], print)}</dd></div>`,
)}
</dl>${figures.ruined === true ? html`<p class="warning"><strong>Ruined</strong> on ${figures.ruin_t}: at this risk one day took the whole equity.</p>` : ''}`

/** Equity at the level on a logarithmic axis, beside its benchmarks; the worst drawdowns are shaded. */
export function equityChart(model: SheetModel, days: Days): LineChart {
  const { facts, path, worst, publishedDay } = model
  const { first } = path.daily
  const line = (name: string, kind: Line['kind'], values: Line['values'] | null): Line[] =>
    values === null ? [] : [{ name, kind, first, values }]
  return equityChartOf({
    id: 'equity',
    title: `Equity of ${facts.name}`,
    caveat: facts.caveat,
    height: 300,
    days,
    lines: [
      { name: facts.name, kind: 'main', first: first - 1, values: path.curve },
      ...line(`Holding ${facts.instrument}`, 'benchmark', model.benchmark),
      ...line('Equal-weight book, at base risk', 'other', model.book),
    ],
    bands: worst.map(({ peak_t, recovery_t }, i) => ({
      from: parseIsoDate(peak_t)!,
      to: recovery_t === null ? lastDay(path.daily) : parseIsoDate(recovery_t)!,
      label: `${i + 1}`,
    })),
    marks: publishedDay === null ? [] : [{ day: publishedDay, label: 'published' }],
  })
}

const sideBySide = (charts: readonly LineChart[]): string =>
  `<div class="columns">${charts.map(chart => `<div><p class="note">${term(chart.id, chart.title)}</p>${lineChart(chart)}</div>`).join('')}</div>`

const chartWithLegend = (chart: LineChart): string => lineChart(chart) + legend(chart.lines)

/** Days below the peak, percent. */
export const underwaterChart = ({ facts, path }: SheetModel, days: Days): LineChart =>
  drawdownChartOf(
    { id: 'underwater', title: `Drawdown of ${facts.name}`, caveat: facts.caveat, height: 160, days },
    'Below the peak',
    path.daily.first,
    path.depths,
  )

export function rollingCharts({ rolling, facts: { caveat } }: SheetModel, days: Days): LineChart[] {
  const { first } = rolling
  const chart = (id: string, title: string, unit: LineChart['unit'], values: Line['values']): LineChart => ({
    id,
    title,
    caveat,
    unit,
    y: 'linear',
    size: 'half',
    baseline: 0,
    days,
    lines: [{ name: title, kind: 'main', first, values }],
  })
  return [
    chart('rolling-sharpe', 'Sharpe ratio of 365 days', 'ratio', rolling.sharpe),
    chart('rolling-volatility', 'Volatility of 365 days', 'percent', rolling.volatility_pct),
    chart('rolling-return', 'Return of 365 days', 'percent', rolling.return_pct),
    chart('rolling-beta', 'Beta of 365 days', 'ratio', rolling.beta),
  ]
}

/** A row a year with its months and its total; the colour of a cell has seven steps. */
function months({ monthly, annual }: SheetModel) {
  const cells = new Map(monthly.table.map(row => [`${row.year}-${row.month}`, row]))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Monthly returns"><table class="months">
<thead><tr><th scope="col">Year</th>${MONTHS.map(name => html`<th scope="col">${name}</th>`)}<th scope="col">${term('year', 'Year')}</th></tr></thead>
<tbody>${annual.table.map(
    year => html`
<tr><th scope="row">${year.year}</th>${MONTHS.map((_, i) => monthCell(cells.get(`${year.year}-${i + 1}`)))}<td class="total${year.partial ? ' partial' : ''}">${figure(year.return_pct, tenths)}</td></tr>`,
  )}
</tbody></table></div>`
}

const tenths = (value: number): string => decimal(value, 1)

/** Bounds of the steps of colour, percent. */
const STEPS = [2, 6, 15] as const

function monthCell(month: SheetModel['monthly']['table'][number] | undefined) {
  if (month === undefined) return html`<td></td>`
  const { return_pct, partial } = month
  const step = STEPS.filter(bound => Math.abs(return_pct) >= bound).length
  const colour = return_pct === 0 ? 'flat' : `${return_pct > 0 ? 'gain' : 'loss'}${step}`
  return html`<td class="${colour}${partial ? ' partial' : ''}">${figure(return_pct, tenths)}</td>`
}

const years = ({ annual, monthly, facts: { caveat } }: SheetModel): string =>
  barChart({
    id: 'years',
    title: 'Return of each calendar year',
    caveat,
    size: 'half',
    unit: 'percent',
    bars: annual.table.map(({ year, return_pct, partial }) => ({
      label: String(year),
      value: return_pct,
      isPartial: partial,
      note: worstMonth(monthly.table.filter(month => month.year === year)),
    })),
  })

function worstMonth(table: SheetModel['monthly']['table']): string {
  const [worst] = table.toSorted((a, b) => a.return_pct - b.return_pct)
  return worst === undefined ? '' : `worst month ${MONTHS[worst.month - 1]} ${percent(worst.return_pct)}`
}

export const WORST = [
  ['depth_pct', 'Depth'],
  ['peak_t', 'Peak'],
  ['trough_t', 'Trough'],
  ['recovery_t', 'Recovered'],
  ['underwater_days', 'Days'],
] as const

const drawdowns = ({ worst }: SheetModel) =>
  worst.length === 0
    ? html`<p>The equity never fell below its peak.</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="Worst drawdowns"><table class="drawdowns">
<thead><tr><td></td>${WORST.map(([path, name]) => html`<th scope="col">${term(path, name)}</th>`)}</tr></thead>
<tbody>${worst.map(
        (row, i) => html`
<tr><th scope="row">${i + 1}</th><td>${figure(row.depth_pct, percent)}</td><td>${row.peak_t}</td><td>${row.trough_t}</td><td>${row.recovery_t ?? 'not yet'}</td><td>${decimal(row.underwater_days, 0)}</td></tr>`,
      )}
</tbody></table></div>`
