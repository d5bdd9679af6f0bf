// The parts of a fact sheet that depend on the risk level: each is a function of the model, at night and in the browser.
import { html, raw } from 'hono/html'
import { parseIsoDate, toIsoDate } from '#core/calendar.ts'
import { isUndefined } from '#core/figures/figure.ts'
import { dayFigures, startDates } from '#core/figures/risk-profile.ts'
import { rollingFigures } from '#core/figures/rolling.ts'
import { DAYS_PER_YEAR, lastDay } from '#core/figures/series.ts'
import { QUANTILES, YEAR_AHEAD } from '#core/figures/year-ahead.ts'
import { barChart } from '../charts/bar-chart.ts'
import { histogram } from '../charts/histogram.ts'
import {
  drawdownChartOf,
  equityChartOf,
  type Line,
  type LineChart,
  lineChart,
  namedLineChart,
} from '../charts/line-chart.ts'
import {
  counted,
  dateText,
  decimal,
  type FigureRow,
  figure,
  figureOf,
  hundredths,
  MONTHS,
  NONE,
  numberOf,
  percent,
  shortDate,
  whole,
} from '../format.ts'
import { exposure, tradesChart } from './exposure.ts'
import type { SheetModel } from './model.ts'

/** The sections by name, in the order of the sheet. The text is HTML. */
export const SECTIONS = {
  headline: model => String(headline(model)),
  equity: model => String(equity(model)),
  underwater: model => lineChart(underwaterChart(model)),
  months: model => String(months(model)),
  years: model => years(model),
  drawdowns: model => String(drawdowns(model)),
  ahead: model => String(ahead(model)),
  stress: model => String(stress(model)),
  starts: model => String(starts(model)),
  days: model => String(spread(model)),
  rolling: model => sideBySide(rollingCharts(model)),
  exposure: model => String(exposure(model)),
  trades: model => tradesChart(model),
} as const satisfies Record<string, (model: SheetModel) => string>

export type SectionName = keyof typeof SECTIONS

/** These are left to the script, which draws them when a reader comes to them: a sheet is short to load. */
export const LATER: readonly SectionName[] = ['starts', 'days', 'rolling', 'exposure', 'trades']

export const HEADLINE: readonly FigureRow[] = [
  ['net_return_pct', 'Net return', percent],
  ['cagr_pct', 'CAGR', percent],
  ['max_drawdown_pct', 'Max drawdown', percent],
  ['sharpe_daily_annualized', 'Sharpe', hundredths],
]

/** The figures at the head of the sheet, as a tile has them: the second below the first. */
export const AT_LEVEL: readonly FigureRow[] = [
  ...HEADLINE.slice(0, 3),
  ['time_underwater/longest_days', 'under water', value => counted(value, 'day')],
  ...HEADLINE.slice(3),
  ['sortino_daily_annualized', 'Sortino', hundredths],
]

/** A name that opens its definition, which the page has once. */
export const term = (path: string, name: string) =>
  html`<button type="button" class="term" popovertarget="about-${path}">${name}</button>`

/** A cell of a `table.stacked`, which has the name of its column before it on narrow screens. */
export const stackedCell = (title: string, text: unknown) => html`<td data-of="${title}">${text}</td>`

type Text = ReturnType<typeof html> | string

const tile = (name: Text, value: Text, below: Text) =>
  html`
<div><dt>${name}</dt><dd>${value}</dd><dd>${below}</dd></div>`

/** A figure with its place in the answer of the API. */
const shown = (path: string, value: Text) => html`<span data-figure="${path}">${value}</span>`

function headline(model: SheetModel) {
  const { facts, figures, ahead, path } = model
  const { longest_days = null } = Object(figures.time_underwater)
  const values = { ...figures, 'time_underwater/longest_days': longest_days }
  const given = (row: FigureRow) => shown(row[0], figureOf(values, row))
  const isEmpty = path.daily.values.length === 0
  const pairs = [0, 2, 4].map(i => {
    const [row, below] = [AT_LEVEL[i]!, AT_LEVEL[i + 1]!]
    const [name, value] = [term(below[0], below[1]), given(below)]
    if (isEmpty) return tile(term(row[0], row[1]), NONE, 'no day yet')
    return tile(term(row[0], row[1]), given(row), i === 2 ? html`${value} ${name}` : html`${name} ${value}`)
  })
  const { leverage_typical: typical, leverage_max: most } = facts
  const times = (value: number | null) => figure(value && value * path.k, timesText, 'not known')
  const drawn = (name: string, print = shortPercent) =>
    shown(`year_ahead/${name}`, yearFigure(model, name, print))
  const isDrawn = numberOf(ahead.return_p5_pct) !== null
  return html`<p class="note">${daysText(model)}</p>
<dl class="tiles">${pairs}${tile(
    term('year_ahead', 'A year ahead'),
    isDrawn ? html`${drawn('return_p5_pct', whole)} to ${drawn('return_p95_pct')}` : drawn('return_p5_pct'),
    isDrawn ? '9 of 10 years, bootstrap' : '',
  )}${tile(
    term('year_ahead/loss_20_probability_pct', 'Loss of 20 % in a year'),
    drawn('loss_20_probability_pct', chanceText),
    isDrawn ? 'at this risk' : '',
  )}${tile(
    term('leverage', 'Leverage'),
    times(typical),
    typical === null ? '' : html`at most ${times(most)}${isAll(model) ? '' : ', all days'}`,
  )}
</dl>${warnings(model)}`
}

/** One decimal, or two digits of what is smaller. */
const timesText = (value: number): string =>
  `${decimal(value, Math.min(Math.max(1, 1 - Math.floor(Math.log10(value))), 6))}×`

/** A share of the drawn years: one of them is printed. */
const chanceText = (value: number): string =>
  value === 0 ? `none of ${whole(YEAR_AHEAD.draws)}` : percent(value, value < 1 ? 2 : 1)

const shortPercent = (value: number): string => percent(value, Math.abs(value) < 10 ? 1 : 0)

/** Percent; without a year of days, how many there are. */
const yearFigure = ({ ahead, path }: SheetModel, name: string, print: FigureRow[2]) =>
  figure(ahead[name], print, `${counted(path.daily.values.length, 'day')}: too short`)

const isAll = ({ days, all }: Pick<SheetModel, 'days' | 'all'>): boolean =>
  days.from === all.from && days.to === all.to

function daysText({ days: { from, to }, all, path }: SheetModel): Text {
  const count = path.daily.values.length
  if (count === 0) return 'No day yet: there is nothing to draw or to compute.'
  const text = html`${dateText(toIsoDate(from))} to ${dateText(toIsoDate(to))}, ${counted(count, 'day')}`
  return isAll({ days: { from, to }, all })
    ? html`All days: ${text}.`
    : html`<strong>${text}</strong>; computed here from the published returns. The API has the figures of all days.`
}

function warnings({ figures, facts, isRefused }: SheetModel) {
  const { refused_above_risk_pct: most, max_leverage: cap } = facts
  const ruin = html`<p class="warning"><strong>Ruined</strong> on ${dateText(String(figures.ruin_t))}: at this risk one day took the whole equity.</p>`
  const refused = html`<p class="warning"><strong>The strategy's own rules refuse this level.</strong> Above ${percent(100 * (most ?? 0), 2)} an entry would have been over its leverage cap${cap === null ? '' : ` of ${decimal(cap, 0)}×`}; the figures assume every entry.</p>`
  return html`${figures.ruined === true ? ruin : ''}${isRefused ? refused : ''}`
}

const equity = (model: SheetModel) =>
  html`${raw(namedLineChart(equityChart(model)))}<p class="note">Logarithmic. The deepest drawdowns are shaded, numbered as in their table.</p>`

/** From the day before the first on, when each equity is 1. */
export function equityChart(model: SheetModel): LineChart {
  const { facts, path, publishedDay, days } = model
  const first = path.daily.first - 1
  const line = (name: string, kind: Line['kind'], values: Line['values'] | null): Line[] =>
    values === null ? [] : [{ name, kind, first, values }]
  return equityChartOf({
    id: 'equity',
    title: `Equity of ${facts.name}`,
    caveat: facts.caveat,
    height: 300,
    days: days.to < days.from ? days : { ...days, from: first },
    lines: [
      { name: facts.name, kind: 'main', first, values: path.curve },
      ...line(`Holding ${facts.instrument}`, 'benchmark', model.benchmark),
      ...line('Book at base risk', 'other', model.book),
    ],
    bands: numbered(model).map(({ peak_t, recovery_t }, i) => ({
      from: parseIsoDate(peak_t)!,
      to: recovery_t === null ? lastDay(path.daily) : parseIsoDate(recovery_t)!,
      label: `${i + 1}`,
    })),
    entered: publishedDay,
  })
}

const sideBySide = (charts: readonly LineChart[]): string =>
  `<div class="columns">${charts.map(chart => `<div><p class="note">${term(chart.id, chart.title)}</p>${lineChart(chart)}</div>`).join('')}</div>`

export const underwaterChart = ({ facts, path, days }: SheetModel): LineChart =>
  drawdownChartOf(
    { id: 'underwater', title: `Drawdown of ${facts.name}`, caveat: facts.caveat, height: 160, days },
    'Below the peak',
    path.daily.first,
    path.depths,
  )

export function rollingCharts({ whole, benchmarkReturns, days, facts: { caveat } }: SheetModel): LineChart[] {
  const rolling = rollingFigures(whole, benchmarkReturns)
  const frame = { caveat, days, y: 'linear', size: 'half', baseline: 0 } as const
  const chart = (id: string, title: string, unit: LineChart['unit'], values: Line['values']): LineChart => {
    const line = { name: title, kind: 'main', first: rolling.first, values } as const
    return { ...frame, id, title, unit, lines: [line] }
  }
  return [
    chart('rolling-sharpe', 'Sharpe ratio of 365 days', 'ratio', rolling.sharpe),
    chart('rolling-volatility', 'Volatility of 365 days', 'percent', rolling.volatility_pct),
  ]
}

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

/** Those that are printed as more than 0.0 %. */
const numbered = ({ worst }: SheetModel) => worst.filter(({ depth_pct }) => depth_pct <= -0.05)

function drawdowns(model: SheetModel) {
  const { path, figures } = model
  const worst = numbered(model)
  return worst.length === 0
    ? html`<p>${path.daily.values.length === 0 ? 'No day yet.' : 'The equity never fell 0.05 % or more below its peak.'}</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="Worst drawdowns"><table class="drawdowns">
<thead><tr><td></td>${WORST.map(([path, name]) => html`<th scope="col">${term(path, name)}</th>`)}</tr></thead>
<tbody>${worst.map(
        (row, i) => html`
<tr><th scope="row">${i + 1}</th><td>${figure(row.depth_pct, percent)}</td><td>${shortDate(row.peak_t)}</td><td>${shortDate(row.trough_t)}</td><td>${row.recovery_t === null ? (figures.ruined === true ? 'never' : 'not yet') : shortDate(row.recovery_t)}</td><td>${decimal(row.underwater_days, 0)}</td></tr>`,
      )}
</tbody></table></div>`
}

function ahead(model: SheetModel) {
  const { n_days } = model.figures
  if (numberOf(model.ahead.return_p5_pct) === null)
    return html`<p>No year can be drawn from ${counted(Number(n_days), 'day')}: it takes ${DAYS_PER_YEAR}.</p>`
  const cell = (name: string, print: FigureRow[2] = shortPercent) =>
    html`<td>${shown(`year_ahead/${name}`, yearFigure(model, name, print))}</td>`
  const row = (name: string, of: string) =>
    html`
<tr><th scope="row">${term(`year_ahead/${of}_p5_pct`, name)}</th>${QUANTILES.map(p => cell(`${of}_p${p}_pct`))}</tr>`
  const chance = (name: Text, path: string) =>
    html`<tr><th scope="row">${name}</th>${cell(path, chanceText)}</tr>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="A year drawn from these days"><table>
<thead><tr><td></td>${QUANTILES.map(p => html`<th scope="col">${p === 50 ? 'Median' : `${p} %`}</th>`)}</tr></thead>
<tbody>${row('Return', 'return')}${row('Max drawdown', 'max_drawdown')}
</tbody></table></div>
<table><tbody>${[10, 20, 50].map(loss => chance(term(`year_ahead/loss_${loss}_probability_pct`, `Loss of ${loss} %`), `loss_${loss}_probability_pct`))}${chance(term('year_ahead/below_start_probability_pct', 'A losing year'), 'below_start_probability_pct')}
</tbody></table>
<p class="note">Loss: below the start, on any day of the year; a losing year ends below it. ${whole(YEAR_AHEAD.draws)} years from ${whole(Number(n_days))} days, ${beforeEntry(model)}, in blocks of ${YEAR_AHEAD.block_days} days: circular block bootstrap, seed ${YEAR_AHEAD.seed}. It says nothing of days that are not among these.</p>`
}

/** How many of the days nobody could check when they were new. */
function beforeEntry({ days: { from, to }, publishedDay }: SheetModel): string {
  if (publishedDay === null) return 'of which the day of publication is not recorded'
  const before = Math.min(Math.max(publishedDay - from + 1, 0), to - from + 1)
  return `${whole(before)} of them before publication`
}

const startsOf = ({ path: { daily, k } }: SheetModel) => startDates(daily, k)

/** The equity on the last day for each start that is not ruined, in the month of the start. */
export function startsChart(model: SheetModel, starts = startsOf(model)): LineChart {
  const { facts, days } = model
  const values = new Float64Array(days.to - days.from + 1).fill(Number.NaN)
  for (const { t, net_return_pct } of starts)
    if (net_return_pct > -100) values[parseIsoDate(t)! - days.from] = 1 + net_return_pct / 100
  return equityChartOf({
    id: 'starts',
    title: 'Equity on the last day, by the day of the start',
    caveat: facts.caveat,
    size: 'half',
    days,
    lines: [{ name: facts.name, kind: 'main', first: days.from, values }],
  })
}

function starts(model: SheetModel) {
  const all = startsOf(model)
  const [worst] = all.toSorted((a, b) => a.net_return_pct - b.net_return_pct)
  if (worst === undefined) return html`<p>No day to start on yet.</p>`
  const above = all.filter(({ net_return_pct }) => net_return_pct > 0).length
  const ruined = all.filter(({ net_return_pct }) => net_return_pct <= -100).length
  const lost = ruined === 0 ? '' : ` ${whole(ruined)} ended in ruin, which a logarithmic scale cannot show.`
  return html`${raw(lineChart(startsChart(model, all)))}<p class="note">${whole(above)} of ${counted(all.length, 'start')} gained.${lost} The worst was on ${dateText(worst.t)}: ${figure(worst.net_return_pct, percent)} since, at worst ${figure(worst.max_drawdown_pct, percent)} below a peak.</p>`
}

function spread({ path, facts }: SheetModel) {
  const { bins, best, worst, flat_days, gain_days, loss_days } = dayFigures(path)
  if (bins.length === 0) return html`<p>No day with a gain or a loss.</p>`
  const chart = histogram({
    ...{ id: 'days', title: `Days of ${facts.name} by their return` },
    ...{ caveat: facts.caveat, size: 'half', bins },
  })
  const rows = Array.from({ length: Math.max(best.length, worst.length) }, (_, i) => [worst[i], best[i]])
  return html`${raw(chart)}<p class="note">${counted(gain_days, 'day')} gained, ${whole(loss_days)} lost, ${whole(flat_days)} had no return and are not drawn.</p>
<table><thead><tr><th scope="col" colspan="2">Worst days</th><th scope="col" colspan="2">Best days</th></tr></thead>
<tbody>${rows.map(
    pair => html`
<tr>${pair.map(day => (day === undefined ? html`<td></td><td></td>` : html`<td>${shortDate(day.t)}</td><td>${figure(day.return_pct, percent)}</td>`))}</tr>`,
  )}
</tbody></table>`
}

/** Periods that the publisher does not choose come first. */
function stress({ stress: { rows, instrument_falls }, facts: { instrument } }: SheetModel) {
  const none = `Not compared with ${instrument} on these days`
  if (rows.length === 0) return html`<p>${none}; the publisher names no period.</p>`
  const which = isUndefined(instrument_falls)
    ? `${none}; the publisher names these periods.`
    : `The deepest falls of ${instrument} on these days, computed and not chosen${rows.some(({ by }) => by === 'publisher') ? ', then the periods that the publisher names' : ''}.`
  const value = (
    row: (typeof rows)[number],
    name: 'return_pct' | 'max_drawdown_pct' | 'instrument_return_pct',
  ) => html`<td>${figure(row[name], percent)}</td>`
  return html`<p class="note">${which}</p><div class="scroll" tabindex="0" role="region" aria-label="Days of stress"><table>
<thead><tr><td></td><th scope="col">${term('stress/rows/return_pct', 'Return')}</th><th scope="col">${term('stress/rows/max_drawdown_pct', 'Max drawdown')}</th><th scope="col">${term('stress/rows/instrument_return_pct', 'Holding it')}</th></tr></thead>
<tbody>${rows.map(
    row => html`
<tr><th scope="row">${row.by === 'instrument' ? row.name.replace('of the instrument', 'in these days') : row.name}<br><span class="note">${shortDate(row.from)} to ${shortDate(row.to)}${row.by === 'publisher' ? ', named by the publisher' : ''}${row.days_covered < row.days ? `, ${whole(row.days_covered)} of ${counted(row.days, 'day')} are here` : ''}</span></th>${value(row, 'return_pct')}${value(row, 'max_drawdown_pct')}${value(row, 'instrument_return_pct')}</tr>`,
  )}
</tbody></table></div>`
}
