import { join } from 'node:path'
import { DAY_MS } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import { sharedData } from '../../support/shared-data.ts'
import { readRows } from '../replay/real-bars.ts'

/** The real spot market's daily bars, or null on a machine without the shared data. */
export const realDays: Bars | null =
  sharedData === null ? null : readDays(join(sharedData, 'bars/binance-spot_BTCUSDT_1d.csv.gz'))

function readDays(path: string): Bars {
  const rows = readRows(path).slice(1)
  const column = (i: number) => Float64Array.from(rows, row => Number(row[i]))
  const [t, o, h, l, c, v] = [column(0), column(2), column(3), column(4), column(5), column(6)]
  return { timeframeMs: DAY_MS, t, o, h, l, c, v }
}
