import type { ChartExport, ChartTrade } from '#core/replay/compare-charting.ts'
import { readMapped } from '../table/mapped.ts'
import type { Charting } from './book.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment } from './cell.ts'
import { got } from './field.ts'
import { type Folder, filesUnder } from './folder.ts'
import type { Claim } from './read-catalogue.ts'
import type { Reading } from './reading.ts'
import { LIST_OF_TRADES, ROW_TYPE } from './trades-table.ts'
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

const NOTHING: ChartExport = { trades: [], end: Number.NEGATIVE_INFINITY }

/** The signal of the exit of an open trade, which has the last price. Old exports have no such column. */
const OPEN = /^open$/i

type Half = Pick<ChartTrade, 'side' | 'entry'> & { readonly isOpen: boolean }

type Report = (message: string, row?: number) => void

/** Each trade has two rows, an exit and an entry. Times stay those of the chart, whose zone the comparison finds. */
async function readExport(reading: Reading, path: string): Promise<ChartExport> {
  const [entries, exits] = [new Map<string, Half>(), new Map<string, Half>()]
  let { end } = NOTHING
  const report: Report = (message, row) =>
    reading.problems.add({ file: path, message, ...(row === undefined ? {} : { row }) })
  await readMapped(
    reading,
    path,
    () => LIST_OF_TRADES,
    {},
    (cells, row) => {
      const [number = '', type = '', time = '', price = '', signal = ''] = cells.map(cell => cell.trim())
      const reportRow = (message: string) => report(message, row)
      const [, kind, side] = ROW_TYPE.exec(type) ?? []
      const halves = kind?.toLowerCase() === 'entry' ? entries : exits
      if (kind === undefined) reportRow(`type: expected Entry or Exit long or short, got ${got(type)}`)
      if (halves.has(number)) reportRow(`expected one ${kind} of trade ${number}, got another`)
      // An old export has an open trade without its exit.
      if (kind === undefined || (halves === exits && time === '' && price === '')) return
      const entry = readFill(time, price, reportRow)
      end = Math.max(end, entry.t)
      halves.set(number, {
        side: side?.toLowerCase() === 'long' ? 'long' : 'short',
        entry,
        isOpen: OPEN.test(signal),
      })
    },
  )
  return { trades: pair(entries, exits, end, report), end }
}

function readFill(time: string, priceText: string, report: (message: string) => void): ChartTrade['entry'] {
  const [t, price] = [parseForeignMoment(time, UTC), parseDecimal(priceText)]
  if (Number.isNaN(t)) report(`time: ${explainForeignMoment(time, UTC)}`)
  if (!(price > 0)) report(`price: expected a price above 0, got ${got(priceText)}`)
  return { t, price }
}

function pair(
  entries: ReadonlyMap<string, Half>,
  exits: ReadonlyMap<string, Half>,
  end: number,
  report: Report,
): ChartTrade[] {
  for (const number of exits.keys()) {
    if (!entries.has(number)) report(`expected an entry of trade ${number}, got its exit alone`)
  }
  return [...entries].map(([number, { side, entry }]) => {
    const exit = exits.get(number)
    // An order may have the name Open too, but only an open trade is listed with the last time of the export.
    const isOpen = exit === undefined || (exit.isOpen && exit.entry.t === end)
    return { side, entry, exit: isOpen ? null : exit.entry }
  })
}
