// A book of real bars, made anew in a temporary folder and never kept.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sampleModules } from '#pipeline/sample/write-sample-book.ts'
import { moduleKit } from '#pipeline/starter/new-book.ts'
import { readRows } from '../../core/replay/real-bars.ts'

/** The six modules of the sample book, in the order of the catalogue; they trade the perpetual. */
export const REFERENCE_IDS = ['alder', 'birch', 'cedar', 'hazel', 'larch', 'maple'] as const

/**
 * Two histories that buy once, with the whole account and at no cost, and hold to the end: what they publish shows the
 * closes that they were marked at, because equity = close / entry price.
 */
export const HOLDERS = [
  { id: 'rowan', instrument: 'BTCUSDT-PERP', entry: '2019-09-09T00:00:00Z', entryPrice: 10_316.62 },
  { id: 'willow', instrument: 'BTCUSDT', entry: '2018-12-01T00:00:00Z', entryPrice: 4041.27 },
] as const

/** Writes the book into a folder, from the 4-hour bars of a perpetual and of a spot market. */
export async function writeRealBook(folder: string, sharedData: string): Promise<void> {
  const bars = (market: string) => barsText(join(sharedData, `bars/${market}_BTCUSDT_4h.csv.gz`))
  const files = {
    'catalogue.yaml': CATALOGUE,
    'bars/BTCUSDT-PERP/4h.csv': bars('binance-perp'),
    'bars/BTCUSDT/4h.csv': bars('binance-spot'),
    ...(await sampleModules()),
    ...(await moduleKit()),
    ...Object.fromEntries(HOLDERS.map(({ id, ...holder }) => [`ledgers/${id}.csv`, ledgerText(holder)])),
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** From `time_ms,time_utc,open,high,low,close,volume` to the columns of a book. */
function barsText(file: string): string {
  const rows = readRows(file).slice(1)
  return ['t,o,h,l,c,v', ...rows.map(row => row.toSpliced(1, 1).join())].map(line => `${line}\n`).join('')
}

const ledgerText = ({ entry, entryPrice }: { readonly entry: string; readonly entryPrice: number }): string =>
  `side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage\nlong,${entry},${entryPrice},,,,1\n`

const CATALOGUE = `service:
  name: Real bars
  methodology_url: https://example.org/method
  data_source: bars of an exchange, for a test alone
  engine: highwater
defaults: { mark: 4h }
strategies:
${REFERENCE_IDS.map(id => `  - { id: ${id}, name: ${id}, base_risk_pct: 0.02, source: module, timeframe: 4h }`).join('\n')}
${HOLDERS.map(
  ({ id, instrument }) =>
    `  - { id: ${id}, name: ${id}, base_risk_pct: 0.02, source: ledger, instrument: ${instrument}, commission_bps_per_side: 0, slippage_ticks: 0 }`,
).join('\n')}
`
