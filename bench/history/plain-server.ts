// What a service would do without thought: the equity of a series at a risk level as objects, through JSON.stringify and
// Hono, with gzip 6 where it is accepted. Run by rescale.ts: plain-server.ts DAYS prints `ready URL`.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { generateSnapshot } from '../harness/generated-store.ts'

const [days = '4000'] = process.argv.slice(2)
const [strategy] = generateSnapshot(1, Number(days), '2026-07-01T00:15:00Z').strategies
if (strategy === undefined) throw new Error('the generated dataset is empty')
const { daily, base_risk_pct } = strategy
const dates = Array.from(daily.values, (_, i) =>
  new Date((daily.first + i) * 86_400_000).toISOString().slice(0, 10),
)

const compress = promisify(gzip)

const app = new Hono()
app.get('/curve', async c => {
  const level = Number(c.req.query('risk_pct'))
  let equity = 1
  const data = dates.map((t, i) => {
    equity *= 1 + (level / base_risk_pct) * daily.values[i]!
    return { t, equity }
  })
  const text = JSON.stringify({ data, meta: { risk_pct: level } })
  if (!c.req.header('accept-encoding')?.includes('gzip')) return c.body(text, 200, JSON_TYPE)
  return c.body(new Uint8Array(await compress(text, { level: 6 })), 200, {
    ...JSON_TYPE,
    'content-encoding': 'gzip',
  })
})

const JSON_TYPE = { 'content-type': 'application/json' }

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`ready http://127.0.0.1:${port}`),
)
