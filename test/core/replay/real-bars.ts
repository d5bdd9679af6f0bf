import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Bars } from '#core/replay/bars.ts'
import { sharedData } from '../../support/shared-data.ts'

const FOUR_HOURS_MS = 4 * 3_600_000

/** The real perpetual's 4-hour bars without a gap, or null on a machine without the shared data. */
export const realBars: Bars | null =
  sharedData === null
    ? null
    : readBars(join(sharedData, 'bars/binance-perp_BTCUSDT_4h.csv.gz'), FOUR_HOURS_MS)

/** Lines of a gzipped CSV as fields, the header first. */
export function readRows(path: string): string[][] {
  const text = gunzipSync(readFileSync(path)).toString('utf8').trim()
  return text.split('\n').map(line => line.split(','))
}

/** Bars of the shared data: a time, its text, prices and volume. */
export function readBars(path: string, timeframeMs: number): Bars {
  const rows = readRows(path).slice(1)
  const column = (i: number) => Float64Array.from(rows, row => (row[i] ? Number(row[i]) : Number.NaN))
  const [t, o, h, l, c, v] = [column(0), column(2), column(3), column(4), column(5), column(6)]
  return { timeframeMs, t, o, h, l, c, v }
}
