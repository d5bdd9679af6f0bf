import { accepts } from 'hono/accepts'
import { html, raw } from 'hono/html'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { equityCurve } from '#core/figures/equity-curve.ts'
import { CACHING, COMMON_HEADERS } from '../../http/headers.ts'
import {
  answerHeaders,
  type Exchange,
  type Handler,
  type InfrastructureAnswer,
  sendLive,
} from '../exchange.ts'
import { ROUTES } from '../routes.ts'
import type { ServedVersion } from '../versions/served-version.ts'

/** The page has no script and loads nothing; its one style sheet is in it. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** The index as a page for people: the strategies at a glance, and the endpoints. */
export const indexPage = (snapshot: Snapshot | null): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${snapshot?.dataset.name ?? 'Highwater'}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${snapshot?.dataset.name ?? 'Highwater'}</h1>
${snapshot === null ? html`<p>No dataset is loaded yet.</p>` : glance(snapshot)}
<h2>Endpoints</h2>
<table class="endpoints"><tbody>${ROUTES.map(({ path, about }) => endpointRow(path, about))}</tbody></table>
<p>The whole interface is described at <a href="/docs">/docs</a>, and for programs in
<a href="/openapi.json">/openapi.json</a>.</p>
${snapshot === null ? '' : html`<footer>${snapshot.dataset.disclaimer}</footer>`}
</main>
</body>
</html>`)

const index = (served: ServedVersion | null): InfrastructureAnswer => ({
  data: {
    service: served?.snapshot.dataset.name ?? 'Highwater',
    endpoints: ROUTES.map(({ path, about }) => ({ path, about })),
  },
  links: {
    self: '/',
    docs: '/docs',
    openapi: '/openapi.json',
    version: '/version',
    strategies: '/v1/strategies',
  },
})

const glance = ({ dataset, strategies }: Snapshot) => html`
<p>${strategies.length} strategies, ${dataset.window.from} to ${dataset.window.to}, dataset
<code>${dataset.version}</code>. Every figure at base risk; <code>?risk_pct=0.01</code> rescales it.</p>
<table>
<thead><tr><th>Strategy</th><th>Equity</th><th class="n">CAGR</th><th class="n">Max drawdown</th><th class="n">Sharpe</th><th class="n">Trades</th><th>Verified</th></tr></thead>
<tbody>${strategies.map(strategyRow)}</tbody>
</table>`

function strategyRow({ id, name, daily, figures, verification_state }: StrategyData) {
  const { cagr_pct, max_drawdown_pct, sharpe_daily_annualized, trade_count } = figures.values
  return html`<tr>
<td><a href="/v1/strategies/${id}">${name}</a></td>
<td><a href="/v1/strategies/${id}/curve" aria-label="equity curve of ${name}">${sparkline(daily.values)}</a></td>
<td class="n">${percent(cagr_pct)}</td>
<td class="n">${percent(max_drawdown_pct)}</td>
<td class="n">${decimal(sharpe_daily_annualized, 2)}</td>
<td class="n"><a href="/v1/strategies/${id}/trades">${trade_count}</a></td>
<td>${verification_state.replaceAll('_', ' ')}</td>
</tr>`
}

/** Only paths that can be followed as they stand are links. */
const endpointRow = (path: string, about: string) => html`<tr>
<td>${path.includes('{') ? html`<code>${path}</code>` : html`<a href="${path}"><code>${path}</code></a>`}</td>
<td>${about}</td>
</tr>`

const percent = (value: unknown): string => decimal(value, 1, ' %')

/** A dash for a missing value, and no minus on a value that rounds to zero. */
function decimal(value: unknown, places: number, unit = ''): string {
  if (typeof value !== 'number') return '–'
  const text = value.toFixed(places)
  return (Number(text) === 0 ? text.replace('-', '') : text) + unit
}

const STYLE = `
:root { color-scheme: light dark; --ink: #14213d; --dim: #5c677d; --rule: #d9dee7; --line: #1d6fa5; --paper: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf5; --dim: #94a0b8; --rule: #2c364a; --line: #6cb6e8; --paper: #10151f }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 62rem; overflow-x: auto; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { margin: 0 0 .25rem; font-size: 1.7rem }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.15rem }
p, footer { color: var(--dim) }
footer { margin-top: 2.5rem; font-size: .85rem }
table { width: 100%; border-collapse: collapse }
th { text-align: left; font-size: .8rem; font-weight: 600; color: var(--dim) }
td, th { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--rule); vertical-align: middle }
.n { text-align: right; font-variant-numeric: tabular-nums }
.endpoints td:first-child { white-space: nowrap }
a { color: var(--line); text-decoration: none }
a:hover { text-decoration: underline }
svg { display: block }
svg path { fill: none; stroke: var(--line); stroke-width: 1.5 }
svg line { stroke: var(--rule) }
`

/** `/`: the endpoints, as a page for browsers and as JSON for other clients. */
export function createIndexHandler(): Handler {
  let drawn: { readonly of: ServedVersion | null; readonly page: Uint8Array<ArrayBuffer> } | null = null
  return (c, parts) => {
    const served = c.get('served')
    if (!wantsPage(c)) return sendLive(c, parts, index(served), CACHING.pointer, null, VARY)
    if (drawn === null || drawn.of !== served) {
      drawn = { of: served, page: new TextEncoder().encode(indexPage(served?.snapshot ?? null)) }
    }
    c.set('bytes', drawn.page.length)
    const length = { 'content-length': String(drawn.page.length) }
    return new Response(drawn.page, { headers: { ...answerHeaders(c, parts), ...PAGE_HEADERS, ...length } })
  }
}

/** Browsers accept `text/html` explicitly; clients that accept anything get JSON. */
const wantsPage = (c: Exchange): boolean => accepts(c, NEGOTIATION) === 'text/html'

const NEGOTIATION: Parameters<typeof accepts>[1] = {
  header: 'Accept',
  supports: ['application/json', 'text/html'],
  default: 'application/json',
}

const VARY = { vary: `${COMMON_HEADERS.vary}, Accept` }

const PAGE_HEADERS = {
  ...VARY,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': CACHING.pointer,
  'content-security-policy': PAGE_POLICY,
}

const WIDTH = 160
const HEIGHT = 32

/** A point each two pixels: more cannot be seen. */
const POINTS = WIDTH / 2

/** Room for half the stroke at the edges. */
const MARGIN = 1

/** The equity curve of daily returns as a small SVG on a logarithmic scale, with a line at the opening equity. */
export function sparkline(daily: Float64Array) {
  const logs = thin(equityCurve(daily)).map(equity => Math.log(Math.max(equity, 1e-6))) // a ruined account has no logarithm
  const low = Math.min(0, ...logs)
  const high = Math.max(0, ...logs)
  const y = (value: number): string => {
    const share = high === low ? 0.5 : (value - low) / (high - low)
    return (HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN)).toFixed(1)
  }
  const x = (i: number): string => ((i / Math.max(logs.length - 1, 1)) * WIDTH).toFixed(1)
  const path = logs.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(value)}`).join('')
  return raw(
    `<svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">` +
      `<line x1="0" x2="${WIDTH}" y1="${y(0)}" y2="${y(0)}"/><path d="${path}"/></svg>`,
  )
}

/** At most `POINTS` values, evenly spread, the first and the last among them. */
function thin(values: Float64Array): number[] {
  const count = Math.min(POINTS, values.length)
  return Array.from(
    { length: count },
    (_, i) => values[Math.round((i * (values.length - 1)) / Math.max(count - 1, 1))]!,
  )
}
