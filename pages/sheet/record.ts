// The parts of a fact sheet that no risk level changes: what kind of record it is, how far to trust it, and how to cite it.
import { html } from 'hono/html'
import { effectiveInstant, isLongBefore } from '#core/dataset/entered.ts'
import { equalWeightBookOf } from '#core/dataset/equal-weight-book.ts'
import { declarationsOf, type Restatement, reasonOf } from '#core/dataset/lineage.ts'
import { nearestOf } from '#core/dataset/part.ts'
import { openSince } from '#core/dataset/resources/risk.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { bookWithout } from '#core/figures/book.ts'
import { correlatePair } from '#core/figures/pearson.ts'
import { definition } from '../definitions.ts'
import { counted, dateText, decimal, type FigureRow, figure, hundredths, percent, whole } from '../format.ts'
import { citation, type Markup } from '../layout.ts'
import { term } from './sections.ts'

const ABOUT_STATES = {
  dual_verified: [
    'computed twice, equal',
    'The result of every trade was recomputed, and two independent computations of the daily returns agree.',
  ],
  single_verified: [
    'results recomputed',
    'The result of every trade was recomputed from its prices and costs.',
  ],
  unverified: ['unverified', 'A result could not be recomputed: it is as its maker reported it.'],
  failed: ['failed', 'The recomputation disagrees.'],
} as const satisfies Record<StrategyData['verification_state'], readonly [name: string, text: string]>

/** What no computation shows: beside every badge. */
export const LIMIT = 'This does not show when the rules were written.'

/** Without a closed trade there is nothing to check yet. */
export function stateName({ verification_state, measured, marking, trades }: StrategyData): string {
  const isNew = measured !== null && marking !== 'reported' && trades.entry_time.length === 0
  return verification_state === 'unverified' && isNew
    ? 'nothing to check yet'
    : ABOUT_STATES[verification_state][0]
}

export const STATES = ['dual_verified', 'single_verified', 'unverified', 'failed'] as const

/** Days of a ledger may have been traded, or computed afterwards. */
export const kindOf = ({ marking, module_version }: StrategyData) =>
  marking === 'reported' ? 'reported returns' : module_version === null ? 'trade ledger' : 'backtest'

/** `backtest, entered 2026-11-27`, for previews. */
export const originOf = (strategy: StrategyData): string =>
  `${kindOf(strategy)}, ${strategy.published_since === null ? 'entry not recorded' : `entered ${strategy.published_since.slice(0, 10)}`}`

const ABOUT_MARKING: Readonly<Record<StrategyData['marking'], string>> = {
  marked: 'open positions are marked at every close',
  realised:
    'a trade is booked on the day of its exit, because its leverage is unknown: drawdowns within trades do not show',
  reported: 'by its provider; Highwater recomputes none of them',
}

export const badge = (strategy: StrategyData): Markup => {
  const { verification_state: state } = strategy
  return html`<button type="button" class="badge ${state}" popovertarget="state-${state}">${stateName(strategy)}</button>`
}

type Accepted = Snapshot['dataset']['accepted_findings'][number]
const describeAccepted = ({ what, reason }: Accepted) =>
  html`<br>Accepted finding: ${what}. Reason: ${reason}`

/** What stands beside a badge: what it does not show, and what the operator accepts of the record itself. */
export const besideBadge = (snapshot: Snapshot, strategy: StrategyData): Markup =>
  html`<a href="#publication">${LIMIT}</a>${acceptedOf(snapshot, strategy).map(describeAccepted)}`

export const acceptedOf = ({ dataset }: Snapshot, { id }: StrategyData): readonly Accepted[] =>
  dataset.accepted_findings.filter(({ of }) => of === id)

export const statePopover = (state: StrategyData['verification_state']) =>
  html`<div id="state-${state}" popover class="about"><strong>${ABOUT_STATES[state][0]}</strong> ${ABOUT_STATES[state][1]} ${LIMIT}</div>`

export function aliveness({ ended, idle_since }: StrategyData): Markup {
  if (ended !== null) return html` <span class="badge ended">ended ${dateText(ended.on)}</span>`
  return idle_since === null
    ? html``
    : html` <span class="badge ended">last trade ${dateText(idle_since)}</span>`
}

/** What the verdict has no room for: what kind of record this is, with which costs, and each declaration with its reason. */
export function recordSection(snapshot: Snapshot, strategy: StrategyData): Markup {
  const { dataset } = snapshot
  const restated = restatementsOf(snapshot, strategy.id)
  const accepted = dataset.accepted_findings.filter(
    ({ of, strategies }) => of !== strategy.id && strategies.includes(strategy.id),
  )
  const { idle_since } = strategy
  const rows: readonly (readonly [string, Markup | string | null])[] = [
    ['Record', `${kindOf(strategy)}: ${ABOUT_MARKING[strategy.marking]}`],
    ['Results', resultsOf(strategy)],
    ['Published since', publishedOf(snapshot, strategy)],
    ['Published at once', atOnceOf(snapshot, strategy)],
    ['Last trade', idle_since && html`${dateText(idle_since)}; the time since is its longest without one`],
    ['Same rules', sameRulesOf(snapshot, strategy)],
    ['Restatements', restated.length === 0 ? null : html`<ul>${restated}</ul>`],
    ['Trades', tradesOf(strategy)],
    ['Costs', costsOf(strategy)],
    [
      'Risk',
      `${percent(100 * strategy.base_risk_pct, 2)} of equity per trade, lost at its stop: ${lossOf(strategy)}${leverageOf(strategy)}`,
    ],
    ['Engine', `declared: ${strategy.engine}`],
    ['Data', html`declared: ${strategy.data_source}${accepted.map(describeAccepted)}`],
  ]
  return html`<dl class="record">${rows.map(([name, text]) => (text === null ? '' : html`<div><dt>${name}</dt><dd>${text}</dd></div>`))}</dl>`
}

/** If its history begins with a version that did not add it: by a restatement, another module, or after a lost version. */
export function formOf({ lineage }: Snapshot['dataset'], { id, published_since }: StrategyData): string {
  const begin = lineage.find(each => effectiveInstant(each) === published_since)
  return begin?.added.includes(id) === false ? 'in its present form, ' : ''
}

function publishedOf(snapshot: Snapshot, strategy: StrategyData): Markup | string {
  const { published_since: since, time_stamp: stamp } = strategy
  if (since === null) return 'not recorded by older builds'
  const at = dateText(stamp?.at ?? since)
  const seen = stamp === null ? '' : html` on ${at}, as the certificate in the time stamp says`
  const isLate = stamp !== null && isLongBefore(since, stamp.at)
  const caution = isLate ? html`; before ${at} nothing but the publisher's own clock shows it` : ''
  return html`${dateText(since)}, ${formOf(snapshot.dataset, strategy)}${clockOf(strategy)}${seen}${caution}`
}

export const clockOf = ({ time_stamp: stamp }: StrategyData): string =>
  stamp === null ? "by the publisher's own clock" : `time-stamped by ${stamp.by}`

/** Declared by the operator: nothing else shows that files of a module that differ have the same rules. */
function sameRulesOf({ dataset }: Snapshot, { id }: StrategyData): Markup | null {
  const declared = declarationsOf(dataset, 'same_rules', id).map(
    ({ at, reason }) =>
      html`<li>${dateText(at)}: other files, declared the same rules. Reason: ${reason}</li>`,
  )
  return declared.length === 0 ? null : html`<ul>${declared}</ul>`
}

/** The most days since publication that one version added. */
function atOnceOf({ dataset: { lineage } }: Snapshot, { id, published_since }: StrategyData) {
  const later = lineage.filter(each => effectiveInstant(each) > (published_since ?? ''))
  const added = later.flatMap(({ at_once = [] }) => at_once).filter(each => each.id === id)
  const most = Math.max(...added.map(({ n }) => n))
  return added.length === 0 ? null : `up to ${counted(most, 'day')} after it, not as they happened`
}

/** Why it is over, and a position that is open at the end of the series: it is in its returns, and in no table of trades. */
export function presentOf(strategy: StrategyData): Markup | string {
  const { ended } = strategy
  const since = openSince(strategy)
  const reason =
    ended === null ? '' : html`<p class="facts">Ended on ${dateText(ended.on)}. Reason: ${ended.reason}</p>`
  if (since === null) return reason
  return html`${reason}<p class="facts">A position that was opened on ${dateText(since)} is still open at the end of the record: it is in the returns, not among the trades.</p>`
}

/** Figures of the closed trades, which no risk level changes. */
export const OF_TRADES: readonly FigureRow[] = [
  ['trade_count', 'Closed', whole],
  ['win_rate_pct', 'Win rate', percent],
  ['profit_factor', 'Profit factor', hundredths],
]

const tradesOf = ({ figures }: StrategyData): Markup =>
  html`${OF_TRADES.map(([path, name, print], i) => html`${i === 0 ? '' : ', '}${term(path, name)} ${figure(figures.values[path], print)}`)}; at base risk`

function costsOf({ commission_bps_per_side, slippage_ticks, tick_size, ...strategy }: StrategyData): string {
  const { funding, measured, trades } = strategy
  const paid = funding === 'historical' ? 'historical funding' : `funding: ${funding.replaceAll('_', ' ')}`
  const stated = measured?.stated_costs?.map(
    each =>
      `; as the ledger states, ${whole(each.trades)} of ${whole(trades.entry_time.length)} trades ` +
      `${each.cost === 'fees' ? 'paid' : 'received'} ${each.cost} of ${hundredths(each.mean_bps)} bp of notional in the mean`,
  )
  return `${commission_bps_per_side} bps a side, slippage of ${slippage_ticks} ticks of ${tick_size}, ${paid}${stated?.join('') ?? ''}`
}

function resultsOf({ result_tolerance_bps: tolerance, measured }: StrategyData): string | null {
  const { trades_checked = 0, mean_deviation_bps: mean = null, largest_deviation_bps: most } = measured ?? {}
  if (tolerance === null) return null
  const found =
    mean === null
      ? 'none recomputed'
      : `${whole(trades_checked)} recomputed; in the mean ${meanOf(mean)}, and ${hundredths(most ?? 0)} bp apart at most`
  return `given with the trades, to within ${decimal(tolerance, 1)} bp of equity: ${found}`
}

const meanOf = (bps: number): string =>
  Math.abs(bps) < 0.005
    ? 'as the prices'
    : `${bps < 0 ? 'worse' : 'better'} than the prices by ${hundredths(Math.abs(bps))} bp a trade`

const lossOf = ({ measured }: StrategyData): string =>
  measured === null || measured.loss_at_stop === null
    ? 'declared, not checked'
    : `declared; measured ${hundredths(measured.loss_at_stop)} times that, the median of ${whole(measured.trades_at_stop)} trades that ended at their stop`

const leverageOf = ({ leverage_typical: typical, leverage_max: most }: StrategyData): string =>
  typical === null || most === null
    ? ''
    : `; leverage at entry, notional over equity, at base risk: typically ${decimal(typical, 1)}×, at most ${decimal(most, 1)}×`

const restatementsOf = ({ dataset: { lineage } }: Snapshot, sid: string): Markup[] =>
  lineage.flatMap(ancestor =>
    ancestor.restated
      .filter(({ id }) => id === sid)
      .map(
        each =>
          html`<li>${dateText(effectiveInstant(ancestor))}: ${describeRestatement(each)}.${reasonOf(ancestor, 'restate', sid)}</li>`,
      ),
  )

/** `2 daily returns, 1 trade, another version of the module`. */
export function describeRestatement(restatement: Restatement): string {
  const { daily, weekly, trades, base_risk, module_version } = restatement
  const some = (count: number, what: string) => (count > 0 ? [counted(count, what)] : [])
  return [
    ...some(daily, 'daily return'),
    ...some(weekly, 'weekly return'),
    ...some(trades, 'trade'),
    ...(base_risk ? ['another base risk'] : []),
    ...(module_version ? ['another version of the module'] : []),
  ].join(', ')
}

/** What the names of the correlations open: no answer of the API has these. */
const CORRELATIONS = [
  [
    'book',
    'Equal-weight book',
    'Correlation of the daily returns of the strategy with those of the equal-weight book at base risk, the column equal_weight_book of benchmark.csv. The strategy is a part of this book, so the value is above 0 even if it is independent of the others.',
  ],
  [
    'rest',
    'The book without this strategy',
    'The same with the equal-weight book of the other strategies, which shows what the strategy adds. Days without another strategy count as 0.',
  ],
] as const

export const correlationDefinitions = (): Markup =>
  html`${CORRELATIONS.map(([id, name, text]) => definition(id, name, `${text} Pearson, over the days that both have, 30 or more.`))}`

/** The correlation with the book, and with the strategies whose daily returns move most with these, first the closest. */
export function correlationSection(snapshot: Snapshot, { id, daily }: StrategyData): Markup {
  const book = equalWeightBookOf(snapshot)
  const ofBook = { book: book.published, rest: bookWithout(book, daily) }
  const others = nearestOf(snapshot, id)
  if (others.length === 0) return html`<p>No other strategy shares enough days with this one.</p>`
  return html`<table class="map"><tbody>${CORRELATIONS.map(
    ([key, name]) => html`
<tr><th scope="row">${term(key, name)}</th>${correlationCell(correlatePair(daily, ofBook[key]).rho)}</tr>`,
  )}${others.map(
    other => html`
<tr><th scope="row"><a href="../${other.id}/sheet.html">${other.name}</a></th>${correlationCell(other.rho)}</tr>`,
  )}
</tbody></table>`
}

const BOUNDS = [0.1, 0.3, 0.6] as const

/** A correlation, in one of seven colours; a dash if it is not defined. */
export function correlationCell(value: number): Markup {
  if (Number.isNaN(value)) return html`<td>${figure(null, hundredths)}</td>`
  const step = BOUNDS.filter(bound => Math.abs(value) >= bound).length
  return html`<td class="${value >= 0 ? 'gain' : 'loss'}${step}">${figure(value, hundredths)}</td>`
}

export function citeSection({ dataset }: Snapshot, { id, name }: StrategyData): Markup {
  return html`<p class="files">Download:
<a href="returns.daily.csv" download>daily returns</a>, <a href="returns.weekly.csv" download>weekly returns</a>,
<a href="curve.csv" download>equity</a>, <a href="trades.csv" download>trades</a> (CSV);
<a href="stats.json">statistics</a>, <a href="meta.json">assumptions</a> (JSON). <a href="../../check.html?of=${id}">Check these files</a>.</p>
<p>Cite: <cite id="citation">${citation(dataset, name, `strategies/${id}/sheet.html`)}</cite> <button type="button" id="copy" data-with-script aria-label="Copy the citation">Copy</button></p>`
}
