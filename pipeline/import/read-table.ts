import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { NO_LAST_BREAK, toUnreadable } from '../table/lines.ts'
import { type PickRows, type Row, readRows } from '../table/rows.ts'
import { type Mapping, mapColumns } from './columns.ts'
import type { Cell, Kind } from './format.ts'
import { spellStated, type Tally } from './repair.ts'
import { type Statement, spellStatement } from './statement.ts'

/** Rows in which format and header are found; a history is short, and a cost may begin late in it. */
const PROBED_ROWS = 200
const PROBED_OF_HISTORY = 100_000

/** The role of all cells of a row together. */
export const WHOLE_ROW = '*'

/** The kind of a table, by its first rows. */
type KindOf = (rows: readonly Row[]) => Kind
type OnRecord = (cell: Cell, row: number) => void

export type ReadTable = NonNullable<Awaited<ReturnType<typeof readForeign>>>

type Request = { readonly statement: Statement; readonly tally: Tally; readonly pick?: PickRows }

/** Reads a table of a kind, and hands each row of data on. Null if the file cannot be read: its problems are reported. */
export async function readForeign(
  reading: Reading,
  path: string,
  kindOf: KindOf,
  { statement, tally, pick }: Request,
  onRecord: OnRecord,
) {
  const report = reporterOf(reading, path)
  const mapper = createMapper(kindOf, statement, report, onRecord)
  try {
    const { bytes, sha256, openRow: last } = await readRows(reading, path, mapper.onRow, pick)
    const table = mapper.end()
    reading.inputs.push({ path, bytes, sha256, rows: table.data })
    // The last row, if its line has no break: it may be cut off.
    const openRow = table.kind.mayEndOpen ? last : null
    if (last !== openRow) report(NO_LAST_BREAK, last)
    for (const row of table.bannerRows) tally.drop('banner', path, row)
    return { ...table, path, openRow }
  } catch (error) {
    const known = toUnreadable(error, 0)
    if (known === null) throw error
    return report(known.message, known.row)
  }
}

/** Takes the rows of a file one by one: the first ones show its columns. At the end their number is known. */
function createMapper(kindOf: KindOf, statement: Statement, report: Report, onRecord: OnRecord) {
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
    end() {
      const table = mapping ?? begin()
      const header = table.headerRows.filter(row => row > 0).length
      return { ...table, total, header, data: total - header - table.bannerRows.length }
    },
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

/** Where data come from, what was found in their files, what was stated, and what became of rows and columns. */
export type Origin = Readonly<ReturnType<typeof originOf>>

export function originOf(read: readonly ReadTable[], tally: Tally, spec: object) {
  const stated = spellStatement({ ...spec })
  const findings = tally.findings()
  if (stated !== null) {
    const { path: file } = read[0]!
    findings.push({ file, kind: 'stated', count: 1, rows: '', message: spellStated(stated) })
  }
  const files = read.map(({ path: file, total, header }) => {
    return { file, total, header, dropped: tally.dropped(file) }
  })
  const unread = [...new Map(read.flatMap(each => each.unread).map(each => [each.column, each])).values()]
  return { formats: read.map(({ name }) => name), unread, findings, files, stated }
}
