// The explorer: every strategy in a table; what a script makes of those that are chosen stands below it.
import { html } from 'hono/html'
import { toText } from '#core/contract/decimal.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { percent } from '../format.ts'
import { dataBlock, type Markup, type Page } from '../layout.ts'
import { riskSteps } from '../risk-steps.ts'
import { strategiesTable } from '../strategies-table.ts'
import { MOST_CHOSEN } from './choice.ts'
import { type ExploreFacts, exploreFacts } from './model.ts'
import { FIGURES, SECTIONS } from './sections.ts'

export const explorePage = (snapshot: Snapshot): Page => ({
  title: 'Explorer',
  about: `Every strategy of ${snapshot.dataset.name}, alone and as a portfolio of up to ${MOST_CHOSEN}.`,
  script: 'explore.js',
  body: body(snapshot, exploreFacts(snapshot)),
})

/** What needs a script is hidden until the script runs. */
const body = (snapshot: Snapshot, facts: ExploreFacts): Markup => html`<h1>Explorer</h1>
<p class="lead" data-with-script>Choose up to ${MOST_CHOSEN} strategies in the table. <a href="#portfolio">Below it</a> they are drawn side by side, and as one portfolio, at any risk level, over the days that all of them have or any range.</p>
<p data-without-script>The table below lists every strategy, with a link to its sheet. To choose strategies and to see them as a portfolio, allow scripts of this site.</p>
${strategiesTable(snapshot, true, FIGURES)}
<section data-with-script class="portfolio" aria-labelledby="portfolio">
<h2 id="portfolio">Portfolio</h2>
<form id="choice" class="controls">
<label>Risk a trade <select name="risk_pct"><option value="">own base risk of each</option>${riskSteps(
  facts.max_modelled_risk_pct,
).map(level => html`<option value="${toText(level)}">${percent(100 * level, 2)}</option>`)}</select></label>
<label>Days <select name="days"><option value="common">that all have</option><option value="own">each its own</option></select></label>
<label>From <input type="date" name="from"></label>
<label>To <input type="date" name="to"></label>
<button type="button" name="whole">Whole range</button>
<button type="button" name="equal">Equal weights</button>
<button type="button" name="csv" disabled>CSV of the portfolio</button>
</form>
<p class="warning" id="problem" role="alert" hidden></p>
<p data-section="status" role="status"></p>
${Object.keys(SECTIONS)
  .filter(name => name !== 'status')
  .map(name => html`<div data-section="${name}"></div>`)}
</section>
<script type="application/json" id="facts">${dataBlock(facts)}</script>`
