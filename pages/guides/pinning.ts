import { html } from 'hono/html'
import { toCompactInstant, toIsoDate } from '#core/calendar.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import { lastDay } from '#core/figures/series.ts'
import { type Guide, type GuideFacts, importData, pinnedFolder, powerQuery, snippets } from './guide.ts'

export const pinning: Guide = {
  name: 'pinning',
  title: 'Pin and cite',
  about: 'Read the same bytes for ever, and let others read them.',
  body: facts => html`<p class="lead">The data change by a new version, usually once a night. A published version never changes: a pinned address has the
same bytes today and in ten years.</p>
<h2>Find the version</h2>
<p>Every answer names its pinned address in <code>Content-Location</code>. <a href="/version"><code>/version</code></a> has the version that is served now,
<a href="/v1/dataset/versions">the list of versions</a> has all of them, and <code>/v1/dataset/versions?as_of=2026-11-20</code> leads to the one that was
served at the end of that day.</p>
${snippets(
  'find',
  {
    sh: `curl -fsS -o returns.csv -w '%header{content-location}\\n' '${facts.base}/v1/strategies/${facts.strategy.id}/returns?format=csv'`,
  },
  `${pinnedFolder(facts)}/strategies/${facts.strategy.id}/returns?format=csv`,
)}
<h2>Read it</h2>
<p>Below <code>/v1/snapshots/</code> and the version, the addresses are the same. <code>?dataset_version=${facts.dataset.version}</code> pins any other
address. Our clients pin when they open a book: everything that one of them answers is of one version.</p>
${snippets('read', codes(facts), printed(facts))}
<h2>Cite it</h2>
<p>State the version and the pinned address. Whoever reads the citation finds the same page, and can
<a href="/check">check its bytes</a> against the signed manifest of the version.</p>
<pre tabindex="0"><code>${citation(facts)}</code></pre>
<p>A version that was removed is answered with 410, and an unknown one with 404; neither is ever answered with other numbers. If a version restated what was
published before, <a href="/versions">the list of versions</a> says what.</p>
<p>Next: <a href="rescaling">ask for another risk level</a>.</p>`,
}

const printed = ({ strategy: { daily } }: GuideFacts): string =>
  `${toIsoDate(lastDay(daily))} ${(daily.values.at(-1) ?? 0).toFixed(6)}`

function codes({ base, dataset, strategy: { id } }: GuideFacts) {
  const csv = `${base}${pinnedFolder({ dataset })}/strategies/${id}/returns?format=csv`
  return {
    sh: `curl -fsS '${csv}' | tail -n 1 | awk -F, '{ printf "%s %.6f\\n", $1, $2 }'`,
    pandas: `import pandas as pd

returns = pd.read_csv('${csv}', index_col='t')['ret']
print(returns.index[-1], f'{returns.iloc[-1]:.6f}')`,
    client: `from highwater_client import Highwater

book = Highwater('${base}', version='${dataset.version}')
returns = book.returns('${id}')
print(f'{returns.index[-1]:%Y-%m-%d} {returns.iloc[-1]:.6f}')`,
    ts: `import { Highwater } from 'highwater-client'

const book = await Highwater.open('${base}', { version: '${dataset.version}' })
const { data } = await book.strategy('${id}').returns()
console.log(data.at(-1)?.t, data.at(-1)?.ret.toFixed(6))`,
    r: `returns <- read.csv('${csv}')
cat(sprintf('%s %.6f\\n', tail(returns$t, 1), tail(returns$ret, 1)))`,
    sheets: importData(csv),
    excel: powerQuery(csv, 'ret'),
  }
}

function citation({ base, dataset, strategy: { id } }: GuideFacts): string {
  return `@misc{${id}-${toCompactInstant(dataset.version)},
  author = {${dataset.name}},
  title = {Strategy ${id}, version ${dataset.version}},
  year = {${effectiveInstant(dataset).slice(0, 4)}},
  url = {${base}${pinnedFolder({ dataset })}/strategies/${id}/sheet.html}
}`
}
