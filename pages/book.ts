// The page of a book: what it is, how all of it did together, and every strategy in a table.
import { html, raw } from 'hono/html'
import { toIsoDate } from '#core/calendar.ts'
import { equalWeightBookOf } from '#core/dataset/equal-weight-book.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { FigureValues } from '#core/figures/figure.ts'
import { BOOK_SECTIONS, type BookFacts, bookModel } from './book-charts.ts'
import { type Defined, definitions } from './definitions.ts'
import { caveatOf, counted, dayText, decimal, type FigureRow, figureOf, hundredths, NONE } from './format.ts'
import { dataBlock, type Markup, type Page } from './layout.ts'
import { chainText, clockOfSeals } from './sheet/live.ts'
import { correlationCell } from './sheet/record.ts'
import { HEADLINE, term } from './sheet/sections.ts'
import { strategiesTable } from './strategies-table.ts'

export function bookPage(snapshot: Snapshot): Page {
  const { dataset, strategies } = snapshot
  const { from, to } = dataset.window
  const days = from === null || to === null ? 'no day yet' : `${dayText(from)} to ${dayText(to)}`
  return {
    title: 'The book',
    about: `The recomputable history of ${counted(strategies.length, 'strategy')}, ${days}: returns, drawdowns, trades and statistics of each.`,
    script: dataset.window.from === null ? 'table.js' : 'book.js',
    body: html`<h1 dir="auto">${dataset.name}</h1>
<p class="lead">The history of ${counted(strategies.length, 'strategy')}, ${days}, computed again every night and published in versions that never
change. Every number here can be <a href="check.html">checked</a> and downloaded, and every return series is available at any risk level; <a href="explore.html">the explorer</a>
combines strategies.</p>
${dataset.seals === null ? '' : html`<p class="note">${dataset.synthetic ? 'Simulated live trading' : 'Live trading'}: ${chainText(dataset.seals)}; ${clockOfSeals(dataset.seals)}.${absentText(dataset.seals)}</p>`}
${together(snapshot)}
${strategiesTable(snapshot, false)}
${removedStrategies(dataset.removed)}
${correlations(snapshot)}
${definitions(DEFINED)}`,
  }
}

const absentText = ({ absent }: NonNullable<Snapshot['dataset']['seals']>): string =>
  absent.length === 0
    ? ''
    : ` ${counted(absent.length, 'strategy')} ${absent.length === 1 ? 'was live and is' : 'were live and are'} not in the catalogue: ${absent.join(', ')}.`

const removedStrategies = (removed: Snapshot['dataset']['removed']): Markup =>
  removed.length === 0
    ? html``
    : html`<section><h2>Removed strategies</h2><ul>${removed.map(
        ({ id, name, on, reason, published_since, days }) =>
          html`<li>${name} (${id}), ${counted(days, 'day')}, published since ${published_since === null ? NONE : dayText(published_since)}, removed on ${dayText(on)}. Reason: ${reason}</li>`,
      )}</ul></section>`

const SPREAD: readonly FigureRow[] = [
  ['mean_correlation', 'Mean correlation', hundredths],
  ['effective_bets', 'Effective bets', value => decimal(value, 1)],
]

const DEFINED: readonly Defined[] = [
  ...HEADLINE.map(([path, name]) => [path, name, `equal_weight_book/${path}`, 'summary'] as const),
  ...SPREAD.map(([path, name]) => [path, name, `diversification/${path}`, 'summary'] as const),
]

const tiles = (rows: readonly FigureRow[], values: FigureValues) =>
  rows.map(row => html`<div><dt>${term(row[0], row[1])}</dt><dd>${figureOf(values, row)}</dd></div>`)

function together(snapshot: Snapshot): Markup {
  const { dataset, book, benchmarks, diversification } = snapshot
  const { published } = equalWeightBookOf(snapshot)
  if (published.values.length === 0) return html`<p>No strategy has a day yet.</p>`
  const facts: BookFacts = { caveat: caveatOf(dataset) }
  const held = new Map(benchmarks.map(({ instrument, daily }) => [instrument, daily]))
  const model = bookModel(facts, published, held)
  return html`<section><h2>All of them, equally weighted</h2>
<p class="note">Equal parts of the strategies alive on each day, at base risk, rebalanced daily.
Days before a strategy was published are in it; adding or removing one changes the past. The figures are of all days: ${dayText(toIsoDate(model.all.from))} to ${dayText(toIsoDate(model.all.to))}.</p>
<dl class="tiles">${tiles(HEADLINE, publishFigures(book.values))}${tiles(SPREAD, diversification.values)}</dl>
${rangeButtons()}
<div data-section="equity">${raw(BOOK_SECTIONS.equity(model))}</div>
<div data-section="underwater">${raw(BOOK_SECTIONS.underwater(model))}</div>
<p class="files">Download: <a href="benchmark.csv" download>returns of the book and of its instruments</a>, <a href="export.daily.csv" download>daily</a> and
<a href="export.weekly.csv" download>weekly returns of all strategies</a> (CSV); <a href="summary.json">figures of the book</a>, <a href="strategies.json">of the strategies</a> (JSON).</p>
<script type="application/json" id="facts">${dataBlock(facts)}</script>
</section>`
}

function correlations({ strategies, correlation }: Snapshot): Markup {
  const { rho, size } = correlation.daily
  if (size < 2) return html``
  const note = html`Pearson, over the days that both strategies have, 30 or more. Files: <a href="correlation.daily.json">daily</a> and <a href="correlation.weekly.json">weekly</a> correlations of all`
  const isMap = size <= 30 // a larger map cannot be read, and does not fit on paper
  return html`<section><h2 id="correlation">Correlation of daily returns</h2><p class="note">${note}${isMap ? '' : html`; <a href="explore.html">the explorer</a> shows those of chosen strategies`}.</p>
${isMap ? correlationMap(strategies, rho) : extremes(strategies, rho)}</section>`
}

const correlationMap = (strategies: Snapshot['strategies'], rho: Float64Array): Markup =>
  html`<div class="scroll" tabindex="0" role="region" aria-labelledby="correlation"><table class="map"><thead><tr><td></td>${strategies.map(({ id }) => html`<th scope="col"><span>${id}</span></th>`)}</tr></thead>
<tbody>${strategies.map(
    (strategy, i) => html`
<tr><th scope="row">${sheetLink(strategy)}</th>${strategies.map((_, j) => (i === j ? html`<td class="own"></td>` : correlationCell(rho[i * strategies.length + j]!)))}</tr>`,
  )}</tbody></table></div>`

/** Pairs of each kind that stand for a matrix that is too large to be read. */
const EXTREMES = 8

function extremes(strategies: Snapshot['strategies'], rho: Float64Array): Markup {
  const { length } = strategies
  const pairs = Array.from(rho, (value, at) => ({ value, a: Math.floor(at / length), b: at % length }))
    .filter(({ value, a, b }) => a < b && !Number.isNaN(value))
    .sort((p, q) => q.value - p.value)
  const table = (title: string, some: typeof pairs) =>
    html`<table class="map"><caption>${title}</caption><tbody>${some.map(({ value, a, b }) => html`<tr><th scope="row">${sheetLink(strategies[a]!)} and ${sheetLink(strategies[b]!)}</th>${correlationCell(value)}</tr>`)}</tbody></table>`
  if (pairs.length === 0) return html`<p>No two strategies share so many days.</p>`
  return html`<div class="columns">${table('Highest', pairs.slice(0, EXTREMES))}${table('Lowest', pairs.slice(-EXTREMES).reverse())}</div>`
}

const sheetLink = ({ id, name }: StrategyData): Markup =>
  html`<a href="strategies/${id}/sheet.html">${name}</a>`

/** Buttons for the days of charts and for the numbers behind them, and a place for what a script cannot show. */
const rangeButtons =
  (): Markup => html`<p class="ranges" data-with-script>${[1, 3, 5].map(years => html`<button type="button" data-years="${years}">${years} y</button> `)}<button type="button" data-years="all">All days</button> <button type="button" id="numbers">Tables and CSV</button> <span class="note">Ranges are of the charts; figures stay of all days.</span></p>
<p class="warning" id="problem" role="alert" hidden></p>`
