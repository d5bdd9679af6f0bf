// The parts of a fact sheet that a night computes from bars or a module: costs, excursions, replays. All at base risk.
import { html, raw } from 'hono/html'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { FigureValue, FigureValues } from '#core/figures/figure.ts'
import { boxStrip } from '../charts/box-strip.ts'
import type { Defined } from '../definitions.ts'
import {
  caveatOf,
  type FigureRow,
  figure,
  figureOf,
  hundredths,
  numberOf,
  percent,
  whole,
} from '../format.ts'
import type { Markup } from '../layout.ts'
import { comparisonTable, figureList, groupOf, toGroup, whyNone } from './groups.ts'
import { percentOf } from './model.ts'
import { HEADLINE, term } from './sections.ts'

export const COSTS: readonly FigureRow[] = [
  ['fees_pct_of_gross_profit', 'Fees, share of gross profit', percent],
  ['slippage_pct_of_gross_profit', 'Slippage', percent],
  ['funding_pct_of_gross_profit', 'Funding', percent],
]

/** What costs took of the gross profit, and the account at twice the costs beside the account. */
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
<tr><th scope="row">${name}</th><td>${figure(numberOf(mae[path]), hundredths)}</td><td>${figure(numberOf(mfe[path]), hundredths)}</td></tr>`,
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

/** Each level as it was replayed, and as it is rescaled. */
export function replaysSection(strategy: StrategyData): Markup {
  const run = (head: Markup, values: FigureValues) =>
    html`<tr><th scope="row">${head}</th>${RUNS.map(row =>
      row[0] in values
        ? html`<td>${figureOf({ ...values, ...daysOf(strategy) }, row)}</td>`
        : html`<td></td>`,
    )}</tr>`
  const level = ({ risk_pct, replayed, rescaled }: FigureValues) => html`
${run(html`${percentOf(numberOf(risk_pct)!)} %, ${term('replayed', 'replayed')}`, toGroup(replayed))}
${run(html`${percentOf(numberOf(risk_pct)!)} %, ${term('rescaled', 'rescaled')}`, toGroup(rescaled))}`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Replays"><table>
<thead><tr><td></td>${RUNS.map(([path, name]) => html`<th scope="col">${term(path, name)}</th>`)}</tr></thead>
<tbody>${rowsOf(groupOf(strategy, 'replays').table).map(level)}
</tbody></table></div>`
}

/** How many entries the leverage cap refused, if it is known. */
export function entriesOf(strategy: StrategyData): string {
  const { entries_asked, entries_refused } = groupOf(strategy, 'replays')
  const [asked, refused] = [numberOf(entries_asked), numberOf(entries_refused)]
  return asked === null || refused === null
    ? ''
    : ` Of ${whole(asked)} entries that the module asked for, the leverage cap refused ${whole(refused)}.`
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
