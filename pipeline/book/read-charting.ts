import type { ChartExport, ChartTrade } from '#core/replay/compare-charting.ts'
import { readMapped } from '../table/mapped.ts'
import type { Charting } from './book.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment } from './cell.ts'
import { got } from './field.ts'
import { type Folder, filesUnder } from './folder.ts'
import type { Claim } from './read-catalogue.ts'
import { pairTrades, type TradeRecord } from './read-trades.ts'
import { type Reading, reporterOf } from './reading.ts'
import { createTally } from './repair.ts'
import { LIST_OF_TRADES } from './trades-table.ts'
import { UTC } from './zone.ts'

/** `oak.csv` is the export of a ledger; `oak.2.csv` that of version 2 of a module. An id has no point. */
const NAME = /^([^.]+)(?:\.(.+))?\.csv$/

/** Whether a file of `charting/` is named after one of the strategies. */
export const isChartingOf = (name: string, ids: readonly string[]): boolean =>
  ids.includes(NAME.exec(name)?.[1] ?? '')

/** Reads the exports of a charting tool that lie beside the histories, by the id of the strategy. */
export async function readAllCharting(
  reading: Reading,
  folder: Folder,
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, readonly Charting[]>> {
  const ids = claims.map(({ id }) => id)
  const exports: (Charting & { readonly id: string })[] = []
  for (const name of filesUnder(folder, 'charting')) {
    if (!isChartingOf(name, ids)) continue // reported as a stray file
    const [, id = '', version = null] = NAME.exec(name) ?? []
    const path = `charting/${name}`
    exports.push({ id, path, version, ...(await readExport(reading, path)) })
  }
  return Map.groupBy(exports, ({ id }) => id)
}

/** Times stay those of the chart, whose zone the comparison finds. */
async function readExport(reading: Reading, path: string): Promise<ChartExport> {
  const rows: TradeRecord[] = []
  const report = reporterOf(reading, path)
  const request = { tally: createTally() }
  await readMapped(
    reading,
    path,
    () => LIST_OF_TRADES,
    request,
    (cell, row) => rows.push({ cell, row }),
  )
  const toFill = ({ cell, row }: TradeRecord): ChartTrade['entry'] => {
    const [t, price] = [parseForeignMoment(cell('time'), UTC), parseDecimal(cell('price'))]
    if (Number.isNaN(t)) report(`time: ${explainForeignMoment(cell('time'), UTC)}`, row)
    if (!(price > 0)) report(`price: expected a price above 0, got ${got(cell('price'))}`, row)
    return { t, price }
  }
  const trades = pairTrades(rows, report).map(({ side, entry, exit }) => ({
    side,
    entry: toFill(entry),
    exit: exit && toFill(exit),
  }))
  const times = rows.map(({ cell }) => parseForeignMoment(cell('time'), UTC)).filter(t => !Number.isNaN(t))
  return { trades, end: times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) }
}
