// A book of reported returns, as many as a bench needs.
import { DAY_MS, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import { tableText } from '#pipeline/book/write-table.ts'
import { createMarket, marketFiles } from '#pipeline/sample/market.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { writeNewFolder } from '#pipeline/starter/write-starter-book.ts'

export const REPORTED_AS_OF = '2026-06-30'
const LAST_DAY = parseIsoDate(REPORTED_AS_OF) ?? 0

/** The name of a strategy. */
export const reportedId = (i: number): string => `s${String(i).padStart(5, '0')}`

/** Writes a book of reported returns: by chance, around a market that all strategies have in common, so that correlations differ. */
export async function writeReturnsBook(dir: string, strategies: number, count: number): Promise<void> {
  const random = createRandom(7)
  const first = LAST_DAY - count + 1
  const market = createMarket(4, first * DAY_MS, (LAST_DAY + 1) * DAY_MS)
  const days = Array.from({ length: count }, (_, i) => ({
    date: toIsoDate(first + i),
    common: 0.006 * random.normal(),
  }))
  const ids = Array.from({ length: strategies }, (_, i) => reportedId(i))
  await writeNewFolder(dir, {
    'catalogue.yaml': catalogue(ids, toIsoDate(first)),
    ...marketFiles('BTCUSDT-PERP', market),
    ...Object.fromEntries(
      ids.map((id, i) => {
        const rows = days.map(({ date, common }) => [
          date,
          ((i % 7) * 0.2 * common + 0.008 * random.normal()).toFixed(6),
        ])
        return [`returns/${id}.csv`, tableText('t,ret', rows)]
      }),
    ),
  })
}

const catalogue = (ids: readonly string[], inception: string): string => `service:
  name: Generated (synthetic)
  data_source: Synthetic returns, generated from a fixed seed; no market data
  engine: Reported returns
  methodology_url: https://example.com/methodology
  disclaimer: Synthetic; belongs to no market and no account.
defaults:
  instrument: BTCUSDT-PERP
  ccy: USDT
  denomination: USDT, linear perpetual (synthetic)
  tick_size: 0.1
  max_leverage: 15
  mark: 4h
strategies:
${ids.map(id => `  - { id: ${id}, name: ${id}, base_risk_pct: 0.02, source: returns, inception: ${inception}, commission_bps_per_side: 0, slippage_ticks: 0, engine: generated }\n`).join('')}`
