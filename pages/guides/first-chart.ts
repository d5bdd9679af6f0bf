import { html } from 'hono/html'
import { toIsoDate } from '#core/calendar.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { lastDay } from '#core/figures/series.ts'
import { type Guide, type GuideFacts, importData, powerQuery, snippets } from './guide.ts'

export const firstChart: Guide = {
  name: 'first-chart',
  title: 'Five minutes to the first chart',
  about: 'Read the equity curve of a strategy, and draw it.',
  body: facts => html`<p class="lead">Everything about the history is read with GET, without a key. A strategy has an id: this page uses
<a href="/strategies/${facts.strategy.id}"><code>${facts.strategy.id}</code></a>, and <a href="/v1/strategies">the catalogue</a> lists all of them.</p>
<h2>Read and draw a curve</h2>
<p>The curve is a table with two columns. <code>t</code> is a UTC day; <code>equity</code> is a multiple of the capital at the close before the first day.
Without <code>format=csv</code> the answer is JSON, with what the numbers are and which version they are of.</p>
${snippets('curve', codes(facts), printed(facts))}
<p>In a sheet, put the formula into a cell, select both columns and insert a line chart. In Excel, choose <em>Data, Get Data, From Other Sources,
Blank Query</em>, open the advanced editor and paste the query. The program in TypeScript has no library for charts: it writes the picture itself. Our clients are in a checkout of
Highwater: <code>python3 -m pip install ./clients/python</code>, and <code>npm install highwater-client</code>.</p>
<h2>Read all strategies at once</h2>
<p><a href="/v1/export?format=csv"><code>/v1/export?format=csv</code></a> has the daily returns of every strategy, a column each; Arrow and Parquet have
the same numbers with types. <code>from</code> and <code>to</code> choose the days: if you have yesterday's table, read only the new days.</p>
<p>Next: <a href="pinning">read the same numbers again next year</a>.</p>`,
}

const printed = ({ strategy: { daily } }: GuideFacts): string =>
  `${daily.values.length} days to ${toIsoDate(lastDay(daily))}, equity ${(equityCurve(daily.values).at(-1) ?? 1).toFixed(4)}`

function codes({ base, strategy: { id } }: GuideFacts) {
  const csv = `${base}/v1/strategies/${id}/curve?format=csv`
  return {
    sh: `curl -fsS '${csv}' > curve.csv
awk -F, 'NR > 1 { n++; t = $1; e = $2 } END { printf "%d days to %s, equity %.4f\\n", n, t, e }' curve.csv`,
    pandas: `import pandas as pd

curve = pd.read_csv('${csv}', index_col='t', parse_dates=True)['equity']
${DRAWN}`,
    client: `from highwater_client import Highwater

curve = Highwater('${base}').curve('${id}')
${DRAWN}`,
    ts: `import { writeFileSync } from 'node:fs'
import { Highwater } from 'highwater-client'

const book = await Highwater.open('${base}')
const { data, values } = await book.strategy('${id}').curve()
console.log(\`\${data.length} days to \${data.at(-1)?.t}, equity \${values.at(-1)?.toFixed(4)}\`)

const highest = Math.max(...values)
const points = Array.from(values, (equity, i) => \`\${(800 * i) / values.length},\${400 - (400 * equity) / highest}\`)
writeFileSync('curve.svg', \`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 400">
<polyline fill="none" stroke="navy" points="\${points.join(' ')}"/></svg>\`)`,
    r: `curve <- read.csv('${csv}')
cat(sprintf('%d days to %s, equity %.4f\\n', nrow(curve), tail(curve$t, 1), tail(curve$equity, 1)))
png('curve.png')
plot(as.Date(curve$t), curve$equity, type = 'l', log = 'y', xlab = '', ylab = 'equity')
invisible(dev.off())`,
    sheets: importData(csv),
    excel: powerQuery(csv, 'equity'),
  }
}

const DRAWN = `print(f'{len(curve)} days to {curve.index[-1]:%Y-%m-%d}, equity {curve.iloc[-1]:.4f}')
curve.plot(logy=True).figure.savefig('curve.png')  # needs matplotlib`
