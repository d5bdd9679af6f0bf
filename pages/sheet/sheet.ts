// The fact sheet of a strategy: what decides an allocation, on one printed page; the rest follows on the screen.
import { html, raw } from 'hono/html'
import { riskLevel } from '#core/dataset/resources/risk-level.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { type Defined, definition, definitions } from '../definitions.ts'
import { dateText, percent } from '../format.ts'
import { dataBlock, daysOf, type Markup, type Page } from '../layout.ts'
import { riskSteps } from '../risk-steps.ts'
import { sheetFacts, sheetSeries } from './facts.ts'
import {
  benchmarkSection,
  costsSection,
  DEFINED_EXECUTION,
  DEFINED_REPLAYS,
  entriesOf,
  evidenceSection,
  excursionsSection,
  GROUPS,
  hasReplays,
  publicationSection,
  replaysSection,
} from './groups.ts'
import { liveOf, liveSection } from './live.ts'
import { noteOf, percentOf, type SheetModel, sheetModel } from './model.ts'
import {
  aliveness,
  citeSection,
  correlationDefinitions,
  correlationSection,
  OF_TRADES,
  originOf,
  presentOf,
  recordSection,
  stateName,
  statePopover,
} from './record.ts'
import { AT_LEVEL, LATER, SECTIONS, type SectionName, term, WORST } from './sections.ts'
import { verdictSection } from './verdict.ts'

/** The sheet of a strategy; `requested` is a risk level, or null for base risk. */
export function sheetPage(snapshot: Snapshot, strategy: StrategyData, requested: number | null): Page {
  const { dataset } = snapshot
  const facts = sheetFacts(snapshot, strategy)
  const level = riskLevel(requested, dataset.max_modelled_risk_pct)
  const model = sheetModel(facts, sheetSeries(snapshot, strategy), level)
  return {
    title: strategy.name,
    about: aboutOf(strategy),
    script: 'page.js',
    files: ['returns.daily.csv', 'curve.csv', 'trades.csv'].map(name => `strategies/${strategy.id}/${name}`),
    window: strategy.window,
    since: strategy.published_since,
    sources: [strategy.data_source],
    body: bodyOf(snapshot, strategy, model),
    isCited: true,
  }
}

const sourceOf = ({ marking, module_version }: StrategyData): string =>
  marking === 'reported'
    ? 'reported returns'
    : module_version === null
      ? 'from a trade ledger'
      : 'replayed from code'

const aboutOf = (strategy: StrategyData): string => {
  const { name, blurb, instrument, window } = strategy
  return `${name}: ${instrument}, ${daysOf(window)}, ${originOf(strategy)}, ${stateName(strategy)}.${blurb === null ? '' : ` ${blurb}`}`
}

function bodyOf(snapshot: Snapshot, strategy: StrategyData, model: SheetModel): Markup {
  const { name, blurb, instrument, ccy, window, daily } = strategy
  const sealed = liveOf(snapshot, strategy)
  const span = html`${dateText(window.from ?? '')} to ${dateText(window.to ?? '')}`
  return html`<article class="sheet">
<header>
<p class="crumbs"><a href="../../index.html">${snapshot.dataset.name}</a></p>
<h1 dir="auto">${name}</h1>
<p class="facts">${instrument} · ${ccy} · ${daily.values.length === 0 ? 'no day yet' : span} · ${sourceOf(strategy)}${aliveness(strategy)}</p>
${blurb === null ? '' : html`<p class="blurb" dir="auto">${blurb}</p>`}
${presentOf(strategy)}
</header>
${verdictSection(snapshot, strategy, model)}
<div class="bar">
${riskForm(model)}
${rangeButtons(model)}
</div>
<p class="warning" id="problem" role="alert" hidden></p>
${live(model, 'headline', null)}
${live(model, 'equity', 'Equity')}
${live(model, 'underwater', 'Under water')}
${live(model, 'months', term('month', 'Monthly returns, percent'))}
<div class="columns">
${live(model, 'years', term('year', 'Calendar years'))}
${live(model, 'drawdowns', 'Deepest drawdowns')}
</div>
<div class="screen">
<div class="columns">
${live(model, 'ahead', 'A year ahead', 'Years drawn from these days, at this risk: what they were like, not what will be.')}
${live(model, 'starts', 'Result by start date', 'Equity on the last day of an account that began with 1 on the first day of the record or of a later month; the results overlap.')}
${live(model, 'days', 'Days', 'Daily returns at this risk: how many days in each step, percent.')}
${live(model, 'stress', 'Days of stress')}
</div>
${sealed === null ? '' : fixed('live', 'Live', liveSection(sealed))}
</div>
<div class="columns">
${fixed('record', 'What this record is', recordSection(snapshot, strategy))}
${fixed('publication', 'Before and after publication', publicationSection(strategy), 'At base risk, all days. Later days are out of sample if live signals agree with them; nothing else shows it.')}
</div>
<div class="columns">
${fixed('evidence', 'Confidence in the Sharpe ratio', evidenceSection(strategy), 'At base risk, all days.')}
${fixed('benchmark', `Against holding ${instrument}`, benchmarkSection(strategy), 'At base risk, all days.')}
</div>
<div class="screen">
${live(model, 'rolling', 'Rolling 365 days')}
${live(model, 'exposure', 'Long, short and flat')}
${live(model, 'trades', 'Trades', `Time from entry to exit, and the return on notional. Trades within one bar are at the left edge.${entriesOf(strategy)}`)}
${fixed('excursions', 'How far trades went', excursionsSection(snapshot, strategy), 'All days. Furthest move of the price against an open trade (MAE) and for it (MFE), in units of the base risk.')}
${hasReplays(strategy) ? fixed('replays', 'Replayed at other risk levels', replaysSection(strategy), 'All days. A replay sizes every position by the level; a rescale multiplies the returns.') : ''}
<div class="columns">
${fixed('costs', 'What costs take', costsSection(strategy), 'At base risk, all days.')}
${fixed('correlation', 'Correlation', correlationSection(snapshot, strategy), 'Daily returns, at base risk, all days.')}
</div>
</div>
${fixed('cite', 'Cite and check', citeSection(snapshot, strategy))}
<script type="application/json" id="facts">${dataBlock(model.facts)}</script>
${definitionsOf(strategy)}
</article>`
}

/** A form without a script; with one, the slider. The address decides. */
function riskForm({ facts, level }: SheetModel): Markup {
  const { base_risk_pct: base, max_modelled_risk_pct: cap } = facts
  const value = level?.effective ?? base
  const steps = riskSteps(cap, base)
  return html`<form class="risk" id="risk" action="sheet.html">
<label for="risk_pct">Risk a trade</label>
<span data-without-script><select name="risk_pct" id="risk_pct">${riskSteps(cap, base, value).map(
    each =>
      html`<option value="${each}"${each === value ? raw(' selected') : ''}>${percentOf(each)} %</option>`,
  )}</select> <button>Show</button></span>
<input data-with-script type="range" id="risk-slider" aria-label="Risk a trade" min="0" max="${steps.length - 1}" value="${steps.findLastIndex(step => step <= value)}" autocomplete="off">
<output id="risk-output">${percent(percentOf(value), 2)}${level === null ? ' (base)' : ''}</output>
<span class="note">${noteOf(facts, level)}</span>
</form>`
}

/** Buttons for the days of all figures and charts that follow the risk level, and for the numbers behind charts. */
function rangeButtons({ publishedDay, all }: SheetModel): Markup {
  const entry =
    publishedDay !== null && publishedDay >= all.from && publishedDay + 1 < all.to
      ? html`<button type="button" data-from="${publishedDay + 1}">since entry</button>`
      : ''
  return html`<p class="ranges" data-with-script>${[1, 3, 5].map(years => html`<button type="button" data-years="${years}">${years} y</button>`)}${entry}<button type="button" data-years="all" aria-pressed="true">all</button><button type="button" id="numbers">Tables and CSV</button></p>`
}

const live = (model: SheetModel, name: SectionName, title: Markup | string | null, note = ''): Markup => {
  const text = LATER.includes(name) ? WITHOUT_SCRIPT : SECTIONS[name](model)
  return fixed(name, title, html`<div data-section="${name}">${raw(text)}</div>`, note)
}

const WITHOUT_SCRIPT =
  '<p data-without-script>Drawn by a script. The numbers: <a href="risk.json">risk</a>, <a href="trades.csv">trades</a>.</p>'

const fixed = (name: string, title: Markup | string | null, body: Markup, note = ''): Markup =>
  html`<section class="${name}" id="${name}">${title === null ? '' : html`<h2>${title}</h2>`}${note === '' ? '' : html`<p class="note">${note}</p>`}${body}</section>`

const DEFINED: readonly Defined[] = [
  ...[...AT_LEVEL, ...OF_TRADES].map(([path, name]) => [path, name, path] as const),
  ...Object.entries(GROUPS).flatMap(([group, rows]) =>
    rows.map(([path, name]) => [`${group}-${path}`, name, `fund_dd/${group}/${path}`] as const),
  ),
  ...WORST.map(([path, name]) => [path, name, `fund_dd/drawdowns/worst/${path}`] as const),
  ['month', 'Monthly return', 'fund_dd/monthly/table/return_pct'],
  ['year', 'Calendar year', 'fund_dd/annual/table/return_pct'],
  ['before', 'Before publication', 'fund_dd/since_publication/before'],
  ['after', 'Since', 'fund_dd/since_publication/after'],
  ['volatility_annualized_pct', 'Volatility', 'fund_dd/since_publication/after/volatility_annualized_pct'],
  ['rolling-sharpe', 'Sharpe ratio of 365 days', 'sharpe', 'rolling'],
  ['rolling-volatility', 'Volatility of 365 days', 'volatility_pct', 'rolling'],
  ...[
    ['year_ahead', 'A year ahead'],
    ['year_ahead/return_p5_pct', 'Return of a drawn year'],
    ['year_ahead/max_drawdown_p5_pct', 'Max drawdown of a drawn year'],
    ...[10, 20, 50].map(loss => [`year_ahead/loss_${loss}_probability_pct`, `Loss of ${loss} %`] as const),
    ['year_ahead/below_start_probability_pct', 'A losing year'],
    ['stress/rows/return_pct', 'Return in a period'],
    ['stress/rows/max_drawdown_pct', 'Max drawdown in a period'],
    ['stress/rows/instrument_return_pct', 'Holding in a period'],
  ].map(([path, name]) => [path!, name!, path!, 'risk'] as const),
  ...DEFINED_EXECUTION,
]

const LEVERAGE = definition(
  'leverage',
  'Leverage',
  'Notional over equity at entry, median and largest, times risk level / base risk, as if no entry were refused.',
)

/** The same on every sheet, with replays and without. */
const made = new Map<boolean, Markup>()

function definitionsOf(strategy: StrategyData): Markup {
  const isReplayed = hasReplays(strategy)
  const found =
    made.get(isReplayed) ??
    html`${LEVERAGE}${definitions(isReplayed ? [...DEFINED, ...DEFINED_REPLAYS] : DEFINED)}${correlationDefinitions()}`
  made.set(isReplayed, found)
  return html`${statePopover(strategy.verification_state)}${found}`
}
