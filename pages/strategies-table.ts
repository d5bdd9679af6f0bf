// The table of all strategies, on the page of the book and in the explorer: a row each, with figures at base risk.
import { extent } from 'd3-array'
import { html, raw } from 'hono/html'
import { openSince } from '#core/dataset/resources/risk.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { FEWEST_DAYS } from '#core/figures/series.ts'
import { logarithmicScale } from './charts/axes.ts'
import { pathText, runsOf } from './charts/path.ts'
import { definitions } from './definitions.ts'
import { counted, type FigureRow, figure, figureOf, isShort, NONE, shortDate, whole } from './format.ts'
import type { Markup } from './layout.ts'
import { liveOf, spanOf } from './sheet/live.ts'
import { acceptedOf, aliveness, badge, LIMIT, STATES, stateName, statePopover } from './sheet/record.ts'
import { HEADLINE, stackedCell, term } from './sheet/sections.ts'

const FIGURES: readonly FigureRow[] = [...HEADLINE, ['trade_count', 'Trades', whole]]

/** After the name; a script sorts them by the `data` value of their cells, or by their text. */
const COLUMNS: readonly (readonly [
  title: string,
  cellOf: (strategy: StrategyData, snapshot: Snapshot) => unknown,
])[] = [
  ...FIGURES.map(row => [row[1], (strategy: StrategyData) => figureIn(strategy, row)] as const),
  ['History', historyOf],
  [
    'Verified',
    (strategy, snapshot) => {
      const { length: count } = acceptedOf(snapshot, strategy)
      return html`${badge(strategy)}${count === 0 ? '' : html`<br>accepted findings: ${count}`}`
    },
  ],
]

/** Without a day there is no figure, not even a return of 0. */
function figureIn({ daily, figures: { values } }: StrategyData, row: FigureRow): Markup {
  const line = row === FIGURES[0] ? raw(sparkline(equityCurve(daily.values))) : ''
  const isNone = values.n_days === 0 && row[0] !== 'trade_count'
  return html`${line}${isNone ? figure(null, row[2]) : figureOf(values, row)}`
}

function historyOf(strategy: StrategyData, snapshot: Snapshot): Markup {
  const { window, daily, ended, figures } = strategy
  const live = liveOf(snapshot, strategy)
  const { ruin_t } = figures.values
  const since = openSince(strategy)
  const days = html`<data value="${daily.values.length}" title="from ${window.from ?? NONE} on">${counted(daily.values.length, 'day')}</data>`
  const present = [
    since !== null && html`open since ${shortDate(since)}`,
    typeof ruin_t === 'string' && html`ruined on ${shortDate(ruin_t)}`,
    ended !== null && html`ended: ${ended.reason}`,
    live !== null &&
      html`<a href="strategies/${strategy.id}/sheet.html#live">live ${spanOf(live)}</a>: ${counted(live.days, 'day')}, ${whole(live.count('sealed'))} of ${whole(live.count('judged'))} by the strategy in time`,
  ].filter(part => part !== false)
  return html`${days}${window.to === null ? '' : html` to ${shortDate(window.to)}`}${present.map(part => html`, <br>${part}`)}`
}

/** A longer table scrolls in its place, so that what follows it can be reached. */
const MOST_ROWS = 40

/** The table with its filters, and what the names of its columns and of `others` open; `isChoice` puts a box beside each name. */
export const strategiesTable = (
  snapshot: Snapshot,
  isChoice: boolean,
  others: readonly FigureRow[] = [],
): Markup => html`<section aria-labelledby="all"><h2 id="all">Strategies</h2>
<p class="note">Each at its own base risk. A name opens the fact sheet. Those that ended, were ruined or have fewer than ${FEWEST_DAYS} days stay last, however the table is sorted. Of “Verified”: ${LIMIT} What the columns say: ${FIGURES.map(([path, name], i) => html`${i === 0 ? '' : ' · '}${term(`of-${path}`, name)}`)}.</p>
${filters(snapshot)}
<div class="scroll${isChoice || snapshot.strategies.length > MOST_ROWS ? ' tall' : ''}" tabindex="0" role="region" aria-label="Table of all strategies"><table class="book stacked" id="strategies" data-sortable>
<thead><tr><th scope="col">Strategy</th>${COLUMNS.map(([title]) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${snapshot.strategies
  .toSorted((a, b) => rankOf(a) - rankOf(b))
  .map(
    strategy => html`
<tr${filteredBy(strategy)}><th scope="row" dir="auto">${isChoice ? html`<input data-with-script type="checkbox" name="with" value="${strategy.id}" aria-label="Choose ${strategy.name}"> ` : ''}<a href="strategies/${strategy.id}/sheet.html">${strategy.name}</a>${aliveness(strategy)}<br><span class="note">${strategy.instrument}</span></th>${COLUMNS.map(([title, cellOf]) => stackedCell(title, cellOf(strategy, snapshot)))}</tr>`,
  )}</tbody></table></div>
${definitions([...new Map([...FIGURES, ...others].map(([path, name]) => [path, [`of-${path}`, name, path] as const])).values()])}${STATES.map(statePopover)}</section>`

/** Those with a Sharpe ratio come first, those that ended or were ruined last, and each part is in the order of the catalogue. */
const rankOf = ({ ended, figures: { values } }: StrategyData): number =>
  ended !== null || values.ruined === true ? 2 : isShort(values) ? 1 : 0

/** What a script filters and sorts a row by. */
function filteredBy(strategy: StrategyData): Markup {
  const { verification_state, instrument, daily, ended, figures } = strategy
  const states = [
    ended !== null ? 'ended' : figures.values.ruined === true ? 'ruined' : 'running',
    ...(openSince(strategy) === null ? [] : ['open']),
    ...(isShort(figures.values) ? ['short'] : []),
  ]
  return html` data-rank="${rankOf(strategy)}" data-days="${daily.values.length}" data-verified="${verification_state}" data-instrument="${instrument}" data-state="${states.join(' ')}"`
}

const STATE_NAMES = [
  ['running', 'running'],
  ['open', 'with an open position'],
  ['short', `shorter than ${FEWEST_DAYS} days`],
  ['ruined', 'ruined'],
  ['ended', 'ended'],
] as const

/** Controls whose names are those of the address. Without a script every strategy is listed. */
function filters({ strategies }: Snapshot): Markup {
  const count = html`<span id="strategies-matches" role="status">${counted(strategies.length, 'strategy')}</span>`
  if (strategies.length < 2) return html`<p>${count}</p>`
  const verified = [...Map.groupBy(strategies, each => each.verification_state)].map(
    ([state, of]) => [state, [...new Set(of.map(stateName))].join(' or ')] as const,
  )
  const names = new Set(strategies.map(({ instrument }) => instrument))
  const instruments = [...names].sort().map(each => [each, each] as const)
  return html`<form class="controls" data-filter="strategies" data-with-script>
<label>Search <input type="search" name="search" autocomplete="off"></label>
${choiceAmong('verified', 'Verified', verified)}
${choiceAmong('state', 'State', STATE_NAMES)}
${choiceAmong('instrument', 'Instrument', instruments)}
<label>Days, at least <input type="number" name="min_days" min="0"></label>
${count}</form>`
}

const choiceAmong = (
  name: string,
  label: string,
  options: readonly (readonly [string, string])[],
): Markup | '' =>
  options.length < 2
    ? ''
    : html`<label>${label} <select name="${name}"><option value="">all</option>${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></label>`

const [WIDTH, HEIGHT] = [160, 32]

/**
 * An `svg` element with equity on a logarithmic scale up to a ruin, a cross, in whole units: half a kilobyte for any number of
 * `values`. It has no name, because the figures of its row say the same.
 */
export function sparkline(values: Float64Array): string {
  const ruin = values.findIndex(value => value <= 0)
  const alive = ruin < 0 ? values : values.subarray(0, ruin)
  const known = alive.map(value => (Number.isFinite(value) ? value : Number.NaN))
  const [low = 1, high = 1] = extent(known)
  const { y } = logarithmicScale(low, high, { left: 2, right: WIDTH - 2, top: 2, bottom: HEIGHT - 2 })
  const step = (WIDTH - 4) / Math.max(values.length - 1, 1)
  const path = runsOf(known, i => 2 + i * step, y, 3)
    .map(pathText)
    .join('')
  const left = Math.min(Math.max(Math.round((ruin - 1) * step) - 3, 0), WIDTH - 10)
  const top = Math.min(Math.max(Math.round(y(known.at(-1) || 1)) - 5, 0), HEIGHT - 10)
  const cross = ruin > 0 ? `M${left} ${top}l10 10M${left + 10} ${top}l-10 10` : ''
  return `<svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true"><path class="line main" d="${path}${cross}"/></svg>`
}
