import { html } from 'hono/html'
import { toSignificant } from '#core/contract/rounding.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { type Guide, type GuideFacts, importData, snippets } from './guide.ts'

export const rescaling: Guide = {
  name: 'rescaling',
  title: 'Ask for another risk level',
  about: 'Returns, curves and statistics at the risk that you would take.',
  body: facts => html`<p class="lead">A strategy is published at its base risk: <code>${facts.strategy.id}</code> risks ${facts.strategy.base_risk_pct} of its equity in each
trade, where 0.01 is 1 %. With <code>risk_pct</code> the service answers at any other level.</p>
<h2>Ask the service</h2>
<p>Returns, curve, rolling years, statistics and the export take the parameter, and <a href="/strategies/${facts.strategy.id}?risk_pct=${levelOf(facts)}">the fact
sheet</a> has a slider. The deepest drawdown at half the base risk:</p>
${snippets('ask', asking(facts), printed(facts))}
<p>A level above the maximum of ${facts.dataset.max_modelled_risk_pct} is lowered to it: <code>meta.risk_pct_clamped</code> is true then, and
<code>meta.effective_risk_pct</code> is the level that was used. A table says the same in <code>X-Risk-Pct-Clamped</code> and <code>X-Risk-Pct-Effective</code>.</p>
<h2>Compute it yourself</h2>
<p>Every base return is multiplied by <code>risk_pct / base_risk_pct</code> and compounded again. So one download is enough for every level:</p>
${snippets('compute', computing(facts), printed(facts))}
<p>In a sheet the returns are in column B from row 2 on: type 1 into C1 and <code>=C1*(1+B2*${levelOf(facts)}/${facts.strategy.base_risk_pct})</code> into C2, and fill
down. <code>=C2/MAX(C$1:C2)-1</code> in D2 is the drawdown of the day.</p>
<h2>What it is not</h2>
<p>A rescale is arithmetic, and no replay: trading at that risk holds the size of a position until its exit, where the rescale adjusts it every day. Ratios
such as Sharpe do not change; drawdown and growth do. Above <code>refused_above_risk_pct</code> of the statistics the engine would have refused entries.</p>
<p>Next: <a href="recomputing">recompute a figure</a>.</p>`,
}

const FACTOR = 0.5

const levelOf = ({ strategy: { base_risk_pct } }: GuideFacts): number => toSignificant(base_risk_pct * FACTOR)

const printed = ({ strategy: { daily, weekly } }: GuideFacts): string =>
  performanceFigures(daily, weekly, FACTOR).max_drawdown_pct.toFixed(2)

function asking(facts: GuideFacts) {
  const { base, strategy } = facts
  const address = `${base}/v1/strategies/${strategy.id}/stats?risk_pct=${levelOf(facts)}`
  return {
    sh: `curl -fsS '${address}' | jq .data.max_drawdown_pct | xargs printf '%.2f\\n'`,
    pandas: `import json, urllib.request

answer = json.load(urllib.request.urlopen('${address}'))
print(f'{answer["data"]["max_drawdown_pct"]:.2f}')`,
    client: `from highwater_client import Highwater

stats = Highwater('${base}').stats('${strategy.id}', risk_pct=${levelOf(facts)})
print(f'{stats["max_drawdown_pct"]:.2f}')`,
    ts: `import { Highwater } from 'highwater-client'

const book = await Highwater.open('${base}')
const { data } = await book.strategy('${strategy.id}').stats({ risk_pct: ${levelOf(facts)} })
console.log(data.max_drawdown_pct.toFixed(2))`,
  }
}

function computing(facts: GuideFacts) {
  const { base, strategy } = facts
  const csv = `${base}/v1/strategies/${strategy.id}/returns?format=csv`
  const factor = `${levelOf(facts)} / ${strategy.base_risk_pct}`
  return {
    pandas: `import pandas as pd

returns = pd.read_csv('${csv}')['ret']
equity = (1 + returns * ${factor}).cumprod()
print(f'{100 * (equity / equity.cummax().clip(lower=1) - 1).min():.2f}')`,
    r: `returns <- read.csv('${csv}')
equity <- cumprod(1 + returns$ret * ${factor})
cat(sprintf('%.2f\\n', 100 * min(equity / pmax(1, cummax(equity)) - 1)))`,
    sheets: importData(csv),
  }
}
