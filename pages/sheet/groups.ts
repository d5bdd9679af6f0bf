// Groups of the published figures of a strategy, and how a sheet lists them.
import { html } from 'hono/html'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import type { StrategyData } from '#core/dataset/snapshot.ts'
import type { FigureValue, FigureValues, UndefinedReason } from '#core/figures/figure.ts'
import { type FigureRow, figureOf } from '../format.ts'
import type { Markup } from '../layout.ts'
import { term } from './sections.ts'

/** A group of `fund_dd` as it is published; empty in versions that were made before it was defined. */
export const groupOf = ({ figures }: StrategyData, name: string): FigureValues =>
  publishFigures(toGroup(toGroup(figures.values.fund_dd)[name]))

const isGroup = (value: FigureValue | undefined): value is FigureValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const toGroup = (value: FigureValue | undefined): FigureValues => (isGroup(value) ? value : {})

export const figureList = (strategy: StrategyData, group: string, rows: readonly FigureRow[]): Markup => {
  const values = { ...groupOf(strategy, group), n_days: strategy.figures.values.n_days ?? null }
  return html`<dl class="figures">${rows.map(
    row => html`<div><dt>${term(`${group}-${row[0]}`, row[1])}</dt><dd>${figureOf(values, row)}</dd></div>`,
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

/** Why a figure of `fund_dd` is null, as a sentence. */
export function whyNone({ figures }: StrategyData, path: string): Markup {
  const reason = figures.undefined[`fund_dd/${path}`]
  const why = reason === undefined ? 'the figures of this version have no such group' : NEEDS[reason]
  return html`<p>Not computed: ${why ?? reason?.replaceAll('_', ' ')}.</p>`
}
