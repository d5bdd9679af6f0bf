// The parts of a fact sheet that list groups of the published figures, all at base risk.
import { html, raw } from 'hono/html'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { FigureValue, FigureValues, UndefinedReason } from '#core/figures/figure.ts'
import { boxStrip } from '../charts/box-strip.ts'
import type { Defined } from '../definitions.ts'
import {
  caveatOf,
  counted,
  decimal,
  type FigureRow,
  figure,
  figureOf,
  hundredths,
  numberOf,
  percent,
  whole,
} from '../format.ts'
import type { Markup } from '../layout.ts'
import { percentOf } from './model.ts'
import { HEADLINE, term } from './sections.ts'

/** A group of `fund_dd` as it is published; empty in versions that were made before it was defined. */
export const groupOf = ({ figures }: StrategyData, name: string): FigureValues =>
  publishFigures(toGroup(toGroup(figures.values.fund_dd)[name]))

const isGroup = (value: FigureValue | undefined): value is FigureValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const toGroup = (value: FigureValue | undefined): FigureValues => (isGroup(value) ? value : {})

const figureList = (strategy: StrategyData, group: string, rows: readonly FigureRow[]): Markup => {
  const values = { ...groupOf(strategy, group), ...daysOf(strategy) }
  return html`<dl class="figures">${rows.map(
    row =>
      html`<div><dt>${term(`${group}-${row[0]}`, row[1])}</dt><dd>${row[0] === 'trials' ? figure(groupOf(strategy, group).trials, whole, 'not declared') : figureOf(values, row)}</dd></div>`,
  )}</dl>`
}

/** Figures at the head of the sheet, a row each, in columns of groups: their names open the same definitions. */
export const comparisonTable = (
  columns: readonly (readonly [head: Markup | string, values: FigureValues])[],
  rows: readonly FigureRow[],
  above: Markup | string = '',
): Markup => html`<table><thead><tr><td></td>${columns.map(([head]) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${above}${rows.map(
  row => html`
<tr><th scope="row">${term(row[0], row[1])}</th>${columns.map(([, values]) => html`<td>${figureOf(values, row)}</td>`)}</tr>`,
)}
</tbody></table>`

const NEEDS: Partial<Record<UndefinedReason, string>> = {
  unknown_leverage: 'this needs bars and the leverage of every trade',
  too_few_points: 'there are fewer than 20 closed trades',
}

function whyNone({ figures }: StrategyData, path: string): Markup {
  const reason = figures.undefined[`fund_dd/${path}`]
  const why = reason === undefined ? 'the figures of this version have no such group' : NEEDS[reason]
  return html`<p>Not computed: ${why ?? reason?.replaceAll('_', ' ')}.</p>`
}

const COSTS: readonly FigureRow[] = [
  ['fees_pct_of_gross_profit', 'Fees, share of gross profit', percent],
  ['slippage_pct_of_gross_profit', 'Slippage', percent],
  ['funding_pct_of_gross_profit', 'Funding', percent],
]

const probability = (value: number): string => percent(100 * value)
const days = (value: number): string => counted(value, 'day')

const RISK_ADJUSTED: readonly FigureRow[] = [
  ['sharpe_std_error', 'Standard error of the Sharpe ratio', hundredths],
  ['probabilistic_sharpe_ratio', 'Probability that it is above 0', probability],
  ['deflated_sharpe_ratio', 'Deflated Sharpe ratio', probability],
  ['trials', 'Declared trials', whole],
  ['min_track_record_days', 'Minimum track record length', days],
  ['volatility_annualized_pct', 'Volatility', percent],
  ['calmar', 'Calmar ratio', hundredths],
]

const BENCHMARK: readonly FigureRow[] = [
  ['net_return_pct', 'Return of holding', percent],
  ['max_drawdown_pct', 'Its max drawdown', percent],
  ['excess_return_pct', 'Excess return, percentage points', value => decimal(value, 1)],
  ['beta', 'Beta', hundredths],
  ['alpha_annualized_pct', 'Alpha, annual', percent],
  ['correlation', 'Correlation', hundredths],
  ['up_capture_pct', 'Up capture', percent],
  ['down_capture_pct', 'Down capture', percent],
]

/** What the printed page has no room for. */
const BENCHMARK_MORE: readonly FigureRow[] = [
  ['cagr_pct', 'CAGR of holding', percent],
  ['excess_cagr_pct', 'Excess CAGR, percentage points', value => decimal(value, 1)],
  ['sharpe_daily_annualized', 'Sharpe of holding', hundredths],
  ['volatility_annualized_pct', 'Volatility of holding', percent],
]

export const GROUPS = {
  risk_adjusted: RISK_ADJUSTED,
  benchmark: [...BENCHMARK, ...BENCHMARK_MORE],
  costs: COSTS,
} as const

export const evidenceSection = (strategy: StrategyData): Markup =>
  figureList(strategy, 'risk_adjusted', RISK_ADJUSTED)
export const benchmarkSection = (strategy: StrategyData): Markup =>
  html`${figureList(strategy, 'benchmark', BENCHMARK)}<div class="screen">${figureList(strategy, 'benchmark', BENCHMARK_MORE)}</div>`

/** Before and after the day of the first version. Trades or bars that come in after their day may be hindsight. */
export function publicationSection(strategy: StrategyData): Markup {
  const group = groupOf(strategy, 'since_publication')
  const count = (name: string) => html`<td>${figure(group[name], whole)}</td>`
  return comparisonTable(
    [
      [term('before', 'Before publication'), { ...toGroup(group.before), n_days: group.days_before ?? null }],
      [term('after', 'Since'), { ...toGroup(group.after), n_days: group.days_after ?? null }],
    ],
    [...HEADLINE, ['volatility_annualized_pct', 'Volatility', percent]],
    html`<tr><th scope="row">Days</th>${count('days_before')}${count('days_after')}</tr>`,
  )
}

export function costsSection(strategy: StrategyData): Markup {
  const twice = toGroup(groupOf(strategy, 'costs').at_twice_the_costs)
  if (numberOf(twice.net_return_pct) === null)
    return whyNone(strategy, 'costs/at_twice_the_costs/net_return_pct')
  return html`${figureList(strategy, 'costs', COSTS)}${comparisonTable(
    [
      ['Account', strategy.figures.values],
      [term('costs-twice', 'At twice the costs'), { ...twice, ...daysOf(strategy) }],
    ],
    HEADLINE,
  )}`
}

const daysOf = ({ figures }: StrategyData) => ({ n_days: figures.values.n_days ?? null })

const QUANTILES = [
  ['p5', '5 %'],
  ['p25', '25 %'],
  ['p50', 'Median'],
  ['p75', '75 %'],
  ['p95', '95 %'],
] as const

/** The distributions of the excursions: never one of a single trade. */
export function excursionsSection({ dataset }: Snapshot, strategy: StrategyData): Markup {
  const { mae_r, mfe_r } = groupOf(strategy, 'excursions')
  const [mae, mfe] = [toGroup(mae_r), toGroup(mfe_r)]
  if (numberOf(mae.mean) === null) return whyNone(strategy, 'excursions/mae_r/mean')
  const row = (label: string, kind: 'gain' | 'loss', values: FigureValues) => ({
    label,
    kind,
    quantiles: QUANTILES.map(([path]) => numberOf(values[path])!),
    mean: numberOf(values.mean)!,
  })
  const chart = boxStrip({
    id: 'excursions',
    title: `Excursions of ${strategy.name}, in R`,
    caveat: caveatOf(dataset),
    size: 'half',
    unit: 'ratio',
    rows: [row('MAE', 'loss', mae), row('MFE', 'gain', mfe)],
  })
  return html`<div class="columns"><div>${raw(chart)}<p class="note">Line: 5 to 95 % of the trades; box: 25 to 75 %, with the median; dot: mean.</p></div>
<table><thead><tr><td></td><th scope="col">${term('mae', 'MAE, R')}</th><th scope="col">${term('mfe', 'MFE, R')}</th></tr></thead>
<tbody>${[...QUANTILES, ['mean', 'Mean'] as const].map(
    ([path, name]) => html`
<tr><th scope="row">${name}</th><td>${figure(mae[path], hundredths)}</td><td>${figure(mfe[path], hundredths)}</td></tr>`,
  )}
</tbody></table></div>`
}

const RUNS: readonly FigureRow[] = [
  ...HEADLINE.filter(([path]) => path !== 'cagr_pct'),
  ['trade_count', 'Trades', whole],
  ['entries_asked', 'Entries asked', whole],
  ['entries_refused', 'Refused', whole],
]

const rowsOf = (table: FigureValue | undefined): FigureValues[] =>
  Array.isArray(table) ? table.map(toGroup) : []

export const hasReplays = (strategy: StrategyData): boolean =>
  rowsOf(groupOf(strategy, 'replays').table).length > 0

export function replaysSection(strategy: StrategyData): Markup {
  const run = (level: FigureValues, how: 'replayed' | 'rescaled') => {
    const values = { ...toGroup(level[how]), ...daysOf(strategy) }
    return html`
<tr><th scope="row">${percentOf(numberOf(level.risk_pct)!)} %, ${term(how, how)}</th>${RUNS.map(row => html`<td>${row[0] in values && figureOf(values, row)}</td>`)}</tr>`
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Replays"><table>
<thead><tr><td></td>${RUNS.map(([path, name]) => html`<th scope="col">${term(path, name)}</th>`)}</tr></thead>
<tbody>${rowsOf(groupOf(strategy, 'replays').table).map(level => [run(level, 'replayed'), run(level, 'rescaled')])}
</tbody></table></div>`
}

export function entriesOf(strategy: StrategyData): string {
  const { entries_asked, entries_refused } = groupOf(strategy, 'replays')
  const [asked, refused] = [numberOf(entries_asked), numberOf(entries_refused)]
  return asked === null || refused === null || refused === 0
    ? ''
    : ` On all days the leverage cap refused ${whole(refused)} of ${counted(asked, 'entry')} that the module asked for.`
}

/** What the names in these sections open, beside those of the head of the sheet. */
export const DEFINED_EXECUTION: readonly Defined[] = [
  ['costs-twice', 'At twice the costs', 'fund_dd/costs/at_twice_the_costs'],
  ['mae', 'MAE', 'fund_dd/excursions/mae_r'],
  ['mfe', 'MFE', 'fund_dd/excursions/mfe_r'],
]

export const DEFINED_REPLAYS: readonly Defined[] = [
  ['replayed', 'Replayed', 'fund_dd/replays/table/replayed'],
  ['rescaled', 'Rescaled', 'fund_dd/replays/table/rescaled'],
  ['entries_asked', 'Entries asked', 'fund_dd/replays/table/replayed/entries_asked'],
  ['entries_refused', 'Refused', 'fund_dd/replays/table/replayed/entries_refused'],
]
