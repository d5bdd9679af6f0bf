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

/** Bars of a gzipped CSV of the shared data, below its header: a time, its text, prices and volume. */
export function readBars(path: string, timeframeMs: number): Bars {
  const lines = gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n')
  const rows = lines.slice(1).map(line => line.split(','))
  const column = (i: number) => Float64Array.from(rows, row => (row[i] ? Number(row[i]) : Number.NaN))
  const [t, o, h, l, c, v] = [column(0), column(2), column(3), column(4), column(5), column(6)]
  return { timeframeMs, t, o, h, l, c, v }
}
