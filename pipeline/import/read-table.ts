import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { NO_LAST_BREAK } from '../table/lines.ts'
import { type PickRows, type Row, readRows } from '../table/rows.ts'
import { type Mapping, mapColumns } from './columns.ts'
import type { Cell, Kind } from './format.ts'
import { noteOf, statedOf, type Tally } from './repair.ts'
import { type Statement, spellStatement } from './statement.ts'

/** Rows in which format and header are found; a history is short, and a cost may begin late in it. */
const PROBED_ROWS = 200
const PROBED_OF_HISTORY = 100_000

/** The role of all cells of a row together. */
export const WHOLE_ROW = '*'

type OnRecord = (cell: Cell, row: number) => void

/** A table that was read. */
export type ReadTable = NonNullable<Awaited<ReturnType<typeof readForeign>>>

type Request = { readonly statement: Statement; readonly tally: Tally; readonly pick?: PickRows }

/** Reads a table of a kind, and hands each row of data on. Null if the file cannot be read: its problems are reported. */
export async function readForeign(
  reading: Reading,
  path: string,
  kindOf: (rows: readonly Row[]) => Kind,
  { statement, tally, pick }: Request,
  onRecord: OnRecord,
) {
  const report = reporterOf(reading, path)
  const mapper = createMapper(kindOf, statement, report, onRecord)
  const dataRows = (): number => {
    const { headerRows, bannerRows, total } = mapper.end()
    return total - headerRows.filter(row => row > 0).length - bannerRows.length
  }
  const read = await readRows(reading, path, mapper.onRow, dataRows, pick)
  if (read === null) return null
  const table = mapper.end()
  // The last row, if its line has no break: it may be cut off.
  const openRow = table.kind.mayEndOpen ? read.openRow : null
  if (read.openRow !== openRow) report(NO_LAST_BREAK, read.openRow)
  for (const row of table.bannerRows) tally.drop('banner', path, row)
  return { ...table, path, openRow }
}

/** Takes the rows of a file one by one: the first ones show its columns. At the end their number is known. */
function createMapper(
  kindOf: (rows: readonly Row[]) => Kind,
  statement: Statement,
  report: Report,
  onRecord: OnRecord,
) {
  const most = kindOf([]).mayBeLong ? PROBED_ROWS : PROBED_OF_HISTORY
  const probe: { readonly cells: Row; readonly row: number }[] = []
  let [mapping, total]: [Mapping | null, number] = [null, 0]

  const take = ({ names, places }: Mapping, cells: Row, row: number): void => {
    if (cells.length !== names.length)
      report(`expected ${names.length} fields as in the header or the first row, got ${cells.length}`, row)
    else onRecord(role => (role === WHOLE_ROW ? cells.join('\n') : textIn(cells, places.get(role))), row)
  }
  const begin = (): Mapping => {
    mapping = mapColumns(kindOf(probe.map(({ cells }) => cells)), probe, statement)
    const above = new Set([...mapping.bannerRows, ...mapping.headerRows])
    for (const { cells, row } of probe) if (!above.has(row)) take(mapping, cells, row)
    return mapping
  }
  return {
    onRow(cells: Row, row: number): void {
      if (row > 0) total++ // names of columns beside records are no row
      if (mapping !== null) take(mapping, cells, row)
      else if (probe.push({ cells, row }) === most) begin()
    },
    end: () => ({ ...(mapping ?? begin()), total }),
  }
}

/** What pandas, R, JSON and old files of Yahoo write for a value that is not there. */
const BLANK = /^(?:null|nan|nat|none|na|n\/a)$/i

const spelled = (cell: string): string => cell.trim().replace(BLANK, '')

/** The texts of all columns of a role, with blanks between them. Nearly every role has one column or none. */
function textIn(cells: Row, places: readonly number[] = []): string {
  if (places.length < 2) return places.length === 0 ? '' : spelled(cells[places[0]!]!)
  return places
    .map(place => spelled(cells[place]!))
    .join(' ')
    .trim()
}

/** Where data come from, what was found in their files, and what was stated. */
export type Origin = Readonly<ReturnType<typeof originOf>>

/** `43 rows = 41 read + 1 dropped + 1 of the header`. */
export const spellCounts = ({ total, header, dropped }: ReturnType<typeof countsOf>): string =>
  `${total} rows = ${total - header - dropped} read + ${dropped} dropped + ${header} of the header`

export const spellUnread = (unread: Mapping['unread']): string =>
  `columns that are not read: ${unread.map(({ column, why }) => `${column} (${why})`).join(', ')}`

/** What became of the rows of a file: what is neither of the header nor dropped was read. */
const countsOf = ({ path: file, total, headerRows }: ReadTable, tally: Tally) => ({
  file,
  total,
  header: headerRows.filter(row => row > 0).length,
  dropped: tally.dropped(file),
})

/** Keeps what was found, and what became of rows and columns, among the repairs of the reading, too. */
export function originOf({ repairs }: Reading, read: readonly ReadTable[], tally: Tally, spec: object) {
  const stated = spellStatement({ ...spec })
  const { path } = read[0]!
  const findings = [...tally.findings(), ...(stated === null ? [] : [statedOf(path, stated)])]
  const files = read.map(each => countsOf(each, tally))
  const unread = [...new Map(read.flatMap(each => each.unread).map(each => [each.column, each])).values()]
  const notes = [
    ...files.map(each => noteOf('rows', each.file, each.total, spellCounts(each))),
    ...(unread.length === 0 ? [] : [noteOf('unread', path, unread.length, spellUnread(unread))]),
  ]
  // A report of several files is that of the first.
  repairs.push(
    ...[...findings, ...notes].map(each =>
      each.file === path ? each : { ...each, file: path, message: `${each.file}: ${each.message}` },
    ),
  )
  return { formats: read.map(({ name }) => name), unread, findings, files }
}
