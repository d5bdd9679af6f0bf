import { html } from 'hono/html'
import { type Guide, type GuideFacts, importData, pinnedFolder, snippets } from './guide.ts'

export const recomputing: Guide = {
  name: 'recomputing',
  title: 'Recompute a figure',
  about: 'Compute a published statistic from the published returns, and compare.',
  body: facts => html`<p class="lead">Most figures follow from open data. <a href="/docs/reference#/Strategy/stats">The reference</a> has the definition, the formula and
<code>x-recomputable</code> of each. This page recomputes the Sharpe ratio of <code>${facts.strategy.id}</code>.</p>
<h2>The published figure</h2>
<p>Both sides must be of one version, so the addresses are pinned.</p>
${snippets('published', { sh: `curl -fsS '${facts.base}${pinnedFolder(facts)}/strategies/${facts.strategy.id}/stats' | jq .data.sharpe_daily_annualized | xargs printf '%.4f\\n'` }, printed(facts))}
<h2>The same from the returns</h2>
<p>Its formula is <code>mean(r) / sd(r) × √365</code>: <code>r</code> are the daily returns at base risk, <code>sd</code> is the sample deviation (n - 1), and a year has 365
days because the market never closes.</p>
${snippets('computed', codes(facts), printed(facts))}
<p>In Google Sheets the second formula uses column B, into which the first one reads the returns.</p>
<h2>All of them</h2>
<p>A checkout of Highwater has a program that downloads a version, computes its figures by their definitions with pandas, and compares every published digit.
Its exit code is 0 if everything is equal. The last line says what does not follow from open data.</p>
${snippets('all', { sh: `python3 examples/python/recompute.py ${facts.base}` })}
<p>Next: <a href="webhooks">receive the signals of the same strategies</a>.</p>`,
}

function printed({ strategy: { figures } }: GuideFacts): string | undefined {
  const { sharpe_daily_annualized: sharpe } = figures.values
  return typeof sharpe === 'number' ? sharpe.toFixed(4) : undefined
}

function codes({ base, dataset, strategy: { id } }: GuideFacts) {
  const csv = `${base}${pinnedFolder({ dataset })}/strategies/${id}/returns?format=csv`
  return {
    sh: `curl -fsS '${csv}' | awk -F, 'NR > 1 { n++; sum += $2; squares += $2 * $2 }
  END { mean = sum / n; printf "%.4f\\n", mean / sqrt((squares - n * mean * mean) / (n - 1)) * sqrt(365) }'`,
    pandas: `import pandas as pd

returns = pd.read_csv('${csv}')['ret']
print(f'{returns.mean() / returns.std() * 365 ** 0.5:.4f}')`,
    client: `from highwater_client import Highwater

returns = Highwater('${base}', version='${dataset.version}').returns('${id}')
print(f'{returns.mean() / returns.std() * 365 ** 0.5:.4f}')`,
    ts: `import { Highwater } from 'highwater-client'

const book = await Highwater.open('${base}', { version: '${dataset.version}' })
const { values } = await book.strategy('${id}').returns()
const mean = values.reduce((sum, r) => sum + r, 0) / values.length
const variance = values.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (values.length - 1)
console.log(((mean / Math.sqrt(variance)) * Math.sqrt(365)).toFixed(4))`,
    r: `returns <- read.csv('${csv}')
cat(sprintf('%.4f\\n', mean(returns$ret) / sd(returns$ret) * sqrt(365)))`,
    sheets: `${importData(csv)}
=AVERAGE(B2:B) / STDEV(B2:B) * SQRT(365)`,
  }
}
