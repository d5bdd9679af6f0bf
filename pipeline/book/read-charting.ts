import { CsvError, parse } from 'csv-parse/sync'
import type { ChartExport } from '#core/replay/compare-charting.ts'
import type { Charting } from './book.ts'
import { parseDecimal } from './cell.ts'
import { got } from './field.ts'
import { type Folder, filesUnder } from './folder.ts'
import type { Claim } from './read-catalogue.ts'
import { type Reading, readWhole } from './reading.ts'

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

/** The names of the columns that are needed, in all generations of the export; currencies end some of them. */
const COLUMNS = {
  trade: /^trade (?:#|number)$/i,
  type: /^type$/i,
  time: /^date(?: and |\/)time$/i,
  price: /^price(?: .+)?$/i,
} as const

const EXPECTED =
  'expected the list of trades of a charting tool, with the columns Trade #, Type, Date and time and Price'

async function readExport(reading: Reading, path: string): Promise<ChartExport> {
  const report = (message: string, row?: number) =>
    reading.problems.add({ file: path, message, ...(row === undefined ? {} : { row }) })
  const bytes = await readWhole(reading, path)
  const [header = [], ...rows] = bytes === null ? [] : parseRows(bytes, report)
  const places = Object.values(COLUMNS).map(pattern => header.findIndex(name => pattern.test(name.trim())))
  if (places.includes(-1)) {
    if (bytes !== null && header.length > 0) report(`${EXPECTED}, got ${got(header.join())}`, 1)
    return NOTHING
  }
  return readRows(
    rows.map(row => places.map(place => row[place] ?? '')),
    report,
  )
}

const NOTHING: ChartExport = { entries: [], end: Number.NEGATIVE_INFINITY }

type Report = (message: string, row?: number) => void

function parseRows(bytes: Buffer, report: Report): string[][] {
  try {
    const rows: string[][] = parse(bytes, { bom: true, relax_column_count: true, skip_empty_lines: true })
    if (rows.length === 0) report(`${EXPECTED}, got an empty file`)
    return rows
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { lines } = error
    report(`expected a table, got ${error.message}`, typeof lines === 'number' ? lines : undefined)
    return []
  }
}

/** Each trade has two rows, an exit and an entry. */
const TYPE = /^(entry|exit) (long|short)$/i

const MINUTE = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))?$/

function readRows(rows: readonly (readonly string[])[], report: Report): ChartExport {
  const entries: ChartExport['entries'][number][] = []
  let { end } = NOTHING
  rows.forEach(([, type = '', time = '', priceText = ''], i) => {
    const [, kind, side] = TYPE.exec(type.trim()) ?? []
    const [, date, clock = '00:00'] = MINUTE.exec(time.trim()) ?? []
    const [t, price] = [Date.parse(`${date}T${clock}Z`), parseDecimal(priceText.trim())]
    if (kind === undefined) report(`expected Entry or Exit long or short, got ${got(type)}`, i + 2)
    if (Number.isNaN(t)) report(`expected a time as 2026-06-30 20:00, got ${got(time)}`, i + 2)
    if (!(price > 0)) report(`expected a price above 0, got ${got(priceText)}`, i + 2)
    end = Math.max(end, t)
    if (kind?.toLowerCase() !== 'entry') return
    entries.push({ side: side?.toLowerCase() === 'long' ? 'long' : 'short', t, price })
  })
  return { entries, end }
}
