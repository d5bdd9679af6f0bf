// The page of the accumulation program: what the open preview says of it, in words, figures and drawings, and a form for
// another equity and cadence.
import { html, raw } from 'hono/html'
import { z } from 'zod'
import { DAY_MS } from '#core/calendar.ts'
import {
  type ProgramPreview,
  type ProgramSimulation,
  programPreview,
  type SimulationInput,
} from '#core/contract/payloads/program.ts'
import { BENCHMARK_NAMES, type BenchmarkName } from '#core/program/benchmarks.ts'
import type { TierName } from '#core/program/program.ts'
import { barChart } from './charts/bar-chart.ts'
import { escapeText, legend, tenth } from './charts/svg.ts'
import { caveatOf, dateText, dayText, decimal, hundredths, NONE, percent, whole } from './format.ts'
import { documentOf, type Integrity, integrityOf, type Markup, type PageDataset } from './layout.ts'

export type ProgramPage = {
  readonly preview: ProgramPreview
  readonly dataset: PageDataset
  /** Address of the history service; null if the operator does not state it. */
  readonly historyUrl: string | null
  readonly simulator: Simulator
  readonly style: string
  readonly integrity: Integrity
}

/** A pure function of the stored preview: nothing that needs the entitlement is in its reach. */
export function programPage({
  preview,
  dataset,
  historyUrl,
  style,
  integrity,
  ...page
}: ProgramPage): string {
  const { alias, instrument, window } = preview
  const about = `A program that buys ${instrument} by rules from ${dayText(window.from)} to ${dayText(window.to)}, compared with simple benchmarks.`
  return documentOf({
    title: `The program ${alias}`,
    about,
    dataset,
    head: html`<link rel="alternate" type="application/json" title="The same as JSON" href="/v1/program/preview">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${style}" ${integrityOf({ integrity }, 'style.css')}>`,
    nav: html`${siteLinks(dataset.name, historyUrl)}
<a href="/docs">Docs</a>`,
    body: html`<h1 dir="auto">The accumulation program <code>${alias}</code></h1>
<p class="lead">It buys <span dir="auto">${instrument}</span> by fixed rules, a little at a time, and never sells. It is judged by what one BTC has cost it, beside what
anybody could have done instead.</p>
${[state, rules, against, rolling].map(section => section(preview, caveatOf(dataset)))}
${simulator(page.simulator)}${keyed(preview)}`,
    footer: html`Published with version <code>${dataset.version}</code>. Every number here is in the
<a href="/docs#/Preview/program_preview">open preview</a> or follows from it. <a href="${dataset.methodology_url}">Method</a> · <a href="/docs">API</a>`,
  })
}

/** The pages of the history, if the operator states where they are: this service does not have them. */
const siteLinks = (name: string, url: string | null): Markup =>
  url === null
    ? html`<span class="home">${name}</span>`
    : html`<a class="home" href="${url}/">${name}</a>
<a href="${url}/explore">Explore</a>
<a href="${url}/versions">Versions</a>`

/** What a reader calls each benchmark; the API has the short names. */
const NAMES: Readonly<Record<BenchmarkName, string>> = {
  dca: 'cost averaging',
  vwap: 'market average',
  lump_sum: 'lump sum',
  hodl: 'holding',
}

const STATES: Readonly<Record<ProgramPreview['deployment_state'], string>> = {
  not_started: 'Not started: it buys nothing before the first bar of its window has closed.',
  accumulating: 'Accumulating: it receives its contributions and buys by its rules.',
  paused: 'Paused by the operator: contributions go on and wait as cash, and nothing is bought.',
  complete: 'Complete: the last bar of its window has closed, and it buys nothing more.',
}

const FIELDS = programPreview.shape

function state(preview: ProgramPreview, caveat: string | null): Markup {
  const { deployment_state, window, as_of, avg_cost_basis, pct_deployed, benchmarks } = preview
  return html`<p class="facts"><strong>${STATES[deployment_state]}</strong></p>
<dl class="tiles">
<div><dt>Average cost, US$</dt><dd>${digits(avg_cost_basis, hundredths)}</dd></div>
<div><dt>Cheaper than cost averaging</dt><dd>${digits(benchmarks.dca.pct_cheaper, exactPercent)}</dd></div>
<div><dt>Deployed</dt><dd>${digits(pct_deployed, percent)}</dd></div>
</dl>
<section><h2>Where it is</h2>
${raw(shareBar('Part of the planned window that has passed', partsOf('passed', 'to come', passed(preview)), caveat))}
<dl class="record">
${row('Window', html`${dateText(window.from)} to ${dateText(window.to)}, both days included, in bars of ${window.bars}`, 'Planned, so each contribution is known from the first day on.')}
${row('Newest bar', as_of === null ? 'none yet' : dateText(as_of), definitionOf(FIELDS.as_of))}
${row('First close, US$', digits(window.start_close, hundredths), definitionOf(FIELDS.window.shape.start_close))}
${row('Average cost, US$', digits(avg_cost_basis, hundredths), definitionOf(FIELDS.avg_cost_basis))}
${row('Deployed', digits(pct_deployed, percent), `${definitionOf(FIELDS.pct_deployed)} The rest waits as cash.`)}
${row(
  'In the cheapest quarter',
  digits(preview.pct_capital_cheapest_quartile, fraction => percent(100 * fraction)),
  `${definitionOf(FIELDS.pct_capital_cheapest_quartile)} Equal spending gives about a quarter.`,
)}
</dl></section>`
}

const exactPercent = (value: number): string => percent(value, 2)

const row = (name: string, value: Markup | string, definition: string): Markup =>
  html`<div><dt>${name}</dt><dd>${value} <span class="note">${definition}</span></dd></div>`

function passed({ window, as_of }: ProgramPreview): number {
  const [from, to] = [Date.parse(window.from), Date.parse(window.to) + DAY_MS]
  return Math.min(Math.max((Date.parse(as_of ?? window.from) - from) / (to - from), 0), 1)
}

const partsOf = (name: string, others: string, fraction: number): Share[] => [
  { name, kind: 'main', fraction },
  { name: others, kind: 'other', fraction: 1 - fraction },
]

const RULES: Readonly<Record<TierName, string>> = {
  core: 'Spends all of its cash with each contribution.',
  cyclical:
    'Spends a part of its cash with each contribution, by the Mayer multiple: the close over the mean of the last 200 days of closes. Above the highest of its bands it waits.',
  tactical:
    'Spends a part of its cash on the first close that touches a step below the highest close so far, on any bar. A new high arms all steps again.',
}

function rules({ tiers }: ProgramPreview, caveat: string | null): Markup {
  const shares = tiers.map(({ tier, weight }, i) => ({ name: tier, kind: `series${i}`, fraction: weight }))
  return html`<section><h2>How it decides</h2>
<p>Equal contributions come in at even steps over the window, and each is split by weight among the tiers. A tier has cash of its own, sees only the closes
up to the bar that is closing, and buys at that close. Every purchase pays fee and slippage, and they are in the average cost.</p>
${raw(shareBar('Weights of the tiers', shares, caveat))}
<dl class="record">${tiers.map(({ tier, weight }) => row(tier, html`<data value="${weight}">${percent(100 * weight)}</data> of each contribution.`, RULES[tier]))}</dl></section>`
}

function against({ avg_cost_basis, benchmarks }: ProgramPreview, caveat: string | null): Markup {
  const bars = BENCHMARK_NAMES.map(name => ({ label: NAMES[name], value: benchmarks[name].pct_cheaper }))
  return html`<section><h2 id="benchmarks">Compared with its benchmarks</h2>
<p class="note">By how many percent one BTC was cheaper than by each benchmark. Below zero it was dearer.</p>
${avg_cost_basis === null ? 'Nothing is bought yet.' : raw(barChart({ id: 'cheaper', title: 'Percent cheaper than each benchmark', unit: 'percent', height: 200, caveat, bars }))}
${comparison('benchmarks', avg_cost_basis, benchmarks)}
<p class="note">Cash that waits has bought nothing yet, so the program may have spent less than cost averaging. The comparison with cost averaging that has spent as much
(<code>at_equal_cash</code>) and the money-weighted return are in the <a href="/docs#/Program/program_performance">performance</a>, which needs the entitlement.</p></section>`
}

function rolling({ rolling }: ProgramPreview, caveat: string | null): Markup {
  if (rolling === null) {
    return html`<section><h2>Every start in the history</h2><p>The history is too short for programs of a year.</p></section>`
  }
  const { win_rate_pct, median_pct_cheaper, windows } = rolling
  const fields = FIELDS.rolling.unwrap().shape
  return html`<section><h2>Every start in the history</h2>
<p>One window proves little, so the same program also runs for a year from every day that leaves room for it.</p>
${raw(shareBar('Years in which it bought cheaper than cost averaging', partsOf('cheaper', 'not cheaper', win_rate_pct / 100), caveat))}
<dl class="record">
${row(
  'Starts',
  digits(windows, whole),
  `${definitionOf(fields.windows)} They overlap, so they are not independent.`,
)}
${row('Cheaper', digits(win_rate_pct, percent), definitionOf(fields.win_rate_pct))}
${row('Median', digits(median_pct_cheaper, exactPercent), 'Of how much cheaper than cost averaging they bought, by the definition above.')}
</dl></section>`
}

const KEYED = [
  ['program', '/v1/program', 'its cadence, costs and reference equity'],
  [
    'program_basket',
    '/v1/program/basket',
    'dollars, BTC and cash of each tier, also for an equity of your own',
  ],
  ['program_deploys', '/v1/program/deploys', 'every purchase with its day, price and tier'],
  ['program_performance', '/v1/program/performance', 'at equal cash, and the money-weighted return'],
] as const

const keyed = ({ alias }: ProgramPreview): Markup => html`<section><h2>What needs the entitlement</h2>
<p>This page shows the open preview and no more: it has no single purchase, and none is drawn. With a key that is entitled to
<code>${alias}</code>, the API also answers</p>
<ul>${KEYED.map(([id, path, what]) => html`<li><a href="/docs#/Program/${id}"><code>${path}</code></a>: ${what}</li>`)}</ul></section>`

export type Simulator = {
  /** Least and most of each input; the service brings others to these bounds. */
  readonly bounds: { readonly [Field in keyof SimulationInput]: readonly [least: number, most: number] }
  /** Null until a reader sends the form. */
  readonly answer: { readonly simulation: ProgramSimulation; readonly isClamped: boolean } | null
}

const FIRST_INPUT: SimulationInput = { equity_usd: 10_000, contribution_cadence_bars: 7 }

/** It needs no script: the form leads to the page with the answer in it. */
function simulator({ bounds, answer }: Simulator): Markup {
  const input = answer?.simulation.input ?? FIRST_INPUT
  const field = (name: keyof SimulationInput, label: string, step: 'any' | 1) =>
    html`<label>${label} <input type="number" name="${name}" value="${input[name]}" min="${bounds[name][0]}" max="${bounds[name][1]}" step="${step}" required></label>`
  return html`<section><h2 id="simulation">With an equity and a cadence of your own</h2>
<p>The same rules over what has happened of the window. The equity is the sum of all contributions of the whole window.</p>
<form class="risk" action="/program#simulation">
${field('equity_usd', 'Equity, US$', 'any')}
${field('contribution_cadence_bars', 'Bars between contributions', 1)}
<button>Simulate</button>
</form>
${answer === null ? '' : answered(answer)}</section>`
}

function answered({ simulation, isClamped }: NonNullable<Simulator['answer']>): Markup {
  const { input, total_usd_deployed, total_btc_accumulated, avg_cost_basis, benchmarks } = simulation
  return html`${isClamped ? html`<p class="warning" role="note">The input was brought to the bounds: ${hundredths(input.equity_usd)} US$, every ${input.contribution_cadence_bars} bars.</p>` : ''}
<dl class="tiles">
<div><dt>Spent so far, US$</dt><dd>${digits(total_usd_deployed, hundredths)}</dd></div>
<div><dt>Bought, BTC</dt><dd>${digits(total_btc_accumulated, value => decimal(value, 6))}</dd></div>
<div><dt>Average cost, US$</dt><dd>${digits(avg_cost_basis, hundredths)}</dd></div>
</dl>
${comparison('simulation', avg_cost_basis, benchmarks)}
<p class="note">Cost averaging has the cadence of the input.</p>`
}

/** A published number with all of its digits for programs, and a rounded one for people. */
const digits = (value: number | null, print: (value: number) => string): Markup =>
  html`<data value="${value ?? ''}">${value === null ? NONE : print(value)}</data>`

/** What a field means, by the document of the API: its first clause, without the notation of the wire. */
function definitionOf(field: z.ZodType): string {
  const inner = field instanceof z.ZodNullable ? (field.unwrap() as z.ZodType) : field // of a schema of zod
  const [, clause = ''] =
    /^(.*?)(?:, \d+ decimals)?[.;](?: |$)/.exec(field.description ?? inner.description ?? '') ?? []
  return `${clause.replaceAll(/`(\w+)`/g, (_, word: string) => NAMES[word as BenchmarkName] ?? word)}.`
}

/** What the same dollars cost and bought, by the program and by each benchmark. `labelledBy` is the id of a heading. */
const comparison = (
  labelledBy: string,
  average: number | null,
  against: ProgramSimulation['benchmarks'],
): Markup => html`
<div class="scroll" tabindex="0" role="region" aria-labelledby="${labelledBy}"><table class="compared">
<thead><tr><th scope="col">By</th><th scope="col">Cost of 1 BTC, US$</th><th scope="col">BTC for 1000 US$</th><th scope="col">Cheaper, %</th></tr></thead>
<tbody><tr class="total"><th scope="row">The program</th>${cost(average)}<td></td></tr>
${BENCHMARK_NAMES.map(name => html`<tr><th scope="row">${NAMES[name]} <span class="note">${definitionOf(programPreview.shape.benchmarks.shape[name])}</span></th>${cost(against[name].value)}<td>${digits(against[name].pct_cheaper, hundredths)}</td></tr>`)}</tbody></table></div>
<p class="note">The program, cost averaging and the lump sum pay the costs of their purchases; the market average and holding pay none. The API calls them <code>dca</code>, <code>lump_sum</code>, <code>vwap</code> and <code>hodl</code>. Cheaper: (1 − cost of the program ÷ cost by the benchmark) × 100.</p>`

const cost = (value: number | null): Markup =>
  html`<td>${digits(value, hundredths)}</td><td>${value === null ? NONE : decimal(1000 / value, 6)}</td>`

type Share = {
  readonly name: string
  /** Class of its colour: `series0`, `other`. */
  readonly kind: string
  /** 0 to 1; all of them sum to 1. */
  readonly fraction: number
}

const WIDTH = 720

/** A bar as wide as its place, with the names and percents of its parts, and a caveat, below. */
function shareBar(title: string, shares: readonly Share[], caveat: string | null): string {
  const named = shares.map(({ name, kind, fraction }) => ({
    name: `${name} ${decimal(100 * fraction, 1)}\u202f%`,
    kind: `share ${kind}`,
    width: tenth(fraction * WIDTH),
  }))
  let left = 0
  const parts = named.map(({ name, kind, width }) => {
    const part = `<path class="line ${kind}" d="M${tenth(left)} 8h${width}"><title>${escapeText(name)}</title></path>`
    left += width
    return part
  })
  return `<svg class="shares" viewBox="0 0 ${WIDTH} 16" preserveAspectRatio="none" role="img" aria-label="${escapeText(title)}">${parts.join('')}</svg>${legend(named)}${caveat === null ? '' : `<p class="note">${escapeText(caveat)}</p>`}`
}
