// The table of all strategies, on the page of the book and in the explorer: a row each, with figures at base risk.
import { extent } from 'd3-array'
import { html, raw } from 'hono/html'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { logarithmicScale } from './charts/axes.ts'
import { pathText, runsOf } from './charts/path.ts'
import { definitions } from './definitions.ts'
import { type FigureRow, figureOf, hundredths, isShort, NONE, percent, whole } from './format.ts'
import type { Markup } from './layout.ts'
import { acceptedOf, aliveness, badge, LIMIT, STATES, statePopover } from './sheet/record.ts'
import { term } from './sheet/sections.ts'

const FIGURES: readonly FigureRow[] = [
  ['cagr_pct', 'CAGR', percent],
  ['max_drawdown_pct', 'Max drawdown', percent],
  ['sharpe_daily_annualized', 'Sharpe', hundredths],
  ['trade_count', 'Trades', whole],
]

/** A column after the name. A script sorts by the `data` value of its cells, or by their text. */
type Column = {
  readonly title: string
  /** Left out on narrow screens: the fact sheet has it. */
  readonly isWide?: boolean
  readonly isSorted?: false
  cell(strategy: StrategyData, snapshot: Snapshot): unknown
}

const COLUMNS: readonly Column[] = [
  {
    title: 'Equity',
    isWide: true,
    isSorted: false,
    cell: ({ daily }) => raw(sparkline(equityCurve(daily.values))),
  },
  ...FIGURES.map(row => ({
    title: row[1],
    isWide: row[0] === 'trade_count',
    cell: ({ figures: { values } }: StrategyData) => figureOf(values, row),
  })),
  { title: 'Instrument', isWide: true, cell: ({ instrument }) => instrument },
  {
    title: 'History',
    isWide: true,
    cell: ({ window }) => html`${window.from ?? NONE} to<br>${window.to ?? NONE}`,
  },
  {
    title: 'Verified',
    isWide: true,
    cell: (strategy, snapshot) => {
      const { length: count } = acceptedOf(snapshot, strategy)
      return html`${badge(strategy)}${count === 0 ? '' : html`<br>accepted findings: ${count}`}`
    },
  },
]

const wide = ({ isWide }: Column) => (isWide ? raw(' class="wide"') : '')

/** The table with its search, and what the names of its columns and of `others` open; `isChoice` puts a box beside each name. */
export const strategiesTable = (
  snapshot: Snapshot,
  isChoice: boolean,
  others: readonly FigureRow[] = [],
): Markup => html`<section aria-labelledby="all"><h2 id="all">Strategies</h2>
<p class="note">Each at its own base risk. A name opens the fact sheet. Of “Verified”: ${LIMIT} What the columns say: ${FIGURES.map(([path, name], i) => html`${i === 0 ? '' : ' · '}${term(`of-${path}`, name)}`)}.</p>
<p data-with-script><label>Search <input type="search" data-filter="strategies" autocomplete="off"></label> <span id="strategies-matches" role="status"></span></p>
<div class="scroll${isChoice ? ' tall' : ''}" tabindex="0" role="region" aria-label="Table of all strategies"><table class="book" id="strategies" data-sortable>
<thead><tr><th scope="col">Strategy</th>${COLUMNS.map(column => html`<th scope="col"${wide(column)}${column.isSorted === false ? raw(' data-sortable="no"') : ''}>${column.title}</th>`)}</tr></thead>
<tbody>${snapshot.strategies
  .toSorted((a, b) => rankOf(a) - rankOf(b))
  .map(
    strategy => html`
<tr><th scope="row" dir="auto">${isChoice ? choiceOf(strategy) : ''}<a href="strategies/${strategy.id}/sheet.html">${strategy.name}</a>${aliveness(strategy)}</th>${COLUMNS.map(column => html`<td${wide(column)}>${column.cell(strategy, snapshot)}</td>`)}</tr>`,
  )}</tbody></table></div>
${definitions([...new Map([...FIGURES, ...others].map(([path, name]) => [path, [`of-${path}`, name, path] as const])).values()])}${STATES.map(statePopover)}</section>`

/** Those with a Sharpe ratio come first, those that ended last, and each part is in the order of the catalogue. */
const rankOf = ({ ended, figures }: StrategyData): number =>
  ended !== null ? 2 : isShort(figures.values) ? 1 : 0

const choiceOf = ({ id, name }: StrategyData): Markup =>
  html`<input data-with-script type="checkbox" name="with" value="${id}" aria-label="Choose ${name}"> `

/** Of a line as small as a word. */
const [WIDTH, HEIGHT] = [160, 32]

/**
 * An `svg` element with equity on a logarithmic scale, in whole units: half a kilobyte for any number of `values`. It has no name,
 * because the figures of its row say the same.
 */
export function sparkline(values: Float64Array): string {
  const known = values.map(value => (Number.isFinite(value) ? value : Number.NaN))
  const [low = 1, high = 1] = extent(known, value => (value > 0 ? value : Number.NaN))
  const { y } = logarithmicScale(low, high, { left: 2, right: WIDTH - 2, top: 2, bottom: HEIGHT - 2 })
  const step = (WIDTH - 4) / Math.max(values.length - 1, 1)
  const path = runsOf(known, i => 2 + i * step, y, 3)
    .map(pathText)
    .join('')
  return `<svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true"><path class="line main" d="${path}"/></svg>`
}
