import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { NO_LAST_BREAK } from '../table/lines.ts'
import { type PickRows, type Row, readRows } from '../table/rows.ts'
import { type Mapping, mapColumns } from './columns.ts'
import type { Cell, Kind } from './format.ts'
import { noteOf, type Repair, statedOf, type Tally } from './repair.ts'
import { type Statement, spellStatement } from './statement.ts'

/** Rows in which format and header are found; a history is short, and a cost may begin late in it. */
const PROBED_ROWS = 200
const PROBED_OF_HISTORY = 100_000

/** The role of all cells of a row together. */
export const WHOLE_ROW = '*'

export type OnRecord = (cell: Cell, row: number) => void

/**
 * A table that was read: what its columns are, how many rows the file has, and the last row if its line has no break: it may be
 * cut off.
 */
export type ReadTable = Mapping & {
  readonly path: string
  readonly total: number
  readonly openRow: number | null
}

type Request = { readonly statement: Statement; readonly tally: Tally; readonly pick?: PickRows }

/** Reads a table of a kind, and hands each row of data on. Null if the file cannot be read: its problems are reported. */
export async function readForeign(
  reading: Reading,
  path: string,
  kindOf: (rows: readonly Row[]) => Kind,
  { statement, tally, pick }: Request,
  onRecord: OnRecord,
): Promise<ReadTable | null> {
  const report = reporterOf(reading, path)
  const mapper = createMapper(kindOf, statement, report, onRecord)
  const dataRows = (): number => {
    const { headerRows, bannerRows } = mapper.end()
    return mapper.total() - headerRows.filter(row => row > 0).length - bannerRows.length
  }
  const read = await readRows(reading, path, mapper.onRow, dataRows, pick)
  if (read === null) return null
  const mapping = mapper.end()
  const openRow = mapping.kind.mayEndOpen ? read.openRow : null
  if (read.openRow !== openRow) report(NO_LAST_BREAK, read.openRow)
  for (const row of mapping.bannerRows) tally.drop('banner', path, row)
  return { ...mapping, path, openRow, total: mapper.total() }
}

/** Takes the rows of a file one by one: the first ones show its columns. */
function createMapper(
  kindOf: (rows: readonly Row[]) => Kind,
  statement: Statement,
  report: Report,
  onRecord: OnRecord,
) {
  const isHistory = kindOf([]).mayBeLong !== true
  const probe: { readonly cells: Row; readonly row: number }[] = []
  let [mapping, total]: [Mapping | null, number] = [null, 0]

  const take = ({ width, places }: Mapping, cells: Row, row: number): void => {
    if (cells.length !== width)
      report(`expected ${width} fields as in the header or the first row, got ${cells.length}`, row)
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
      else if (probe.push({ cells, row }) === (isHistory ? PROBED_OF_HISTORY : PROBED_ROWS)) begin()
    },
    end: (): Mapping => mapping ?? begin(),
    total: (): number => total,
  }
}

/** What pandas, R, JSON and old files of Yahoo write for a value that is not there. */
const BLANK = /^(?:null|nan|nat|none|na|n\/a)$/i

/** The texts of all columns of a role, with blanks between them. */
function textIn(cells: Row, places: readonly number[] = []): string {
  const [first, ...others] = places
  if (first === undefined) return ''
  const text = spelled(cells[first]!)
  return others.length === 0 ? text : [text, ...others.map(i => spelled(cells[i]!))].join(' ').trim()
}

const spelled = (cell: string): string => cell.trim().replace(BLANK, '')

/** Where data come from, what was found in their files, and what was stated. */
export type Origin = {
  readonly formats: readonly string[]
  /** Columns that were not read, and why. */
  readonly unread: Mapping['unread']
  readonly findings: readonly Repair[]
  /** What became of the rows of each file: what is neither of the header nor dropped was read. */
  readonly files: readonly Readonly<Record<'total' | 'header' | 'dropped', number> & { file: string }>[]
}

/** `43 rows = 41 read + 1 dropped + 1 of the header`. */
export const spellCounts = ({ total, header, dropped }: Omit<Origin['files'][number], 'file'>): string =>
  `${total} rows = ${total - header - dropped} read + ${dropped} dropped + ${header} of the header`

export const spellUnread = (unread: Origin['unread']): string =>
  `columns that are not read: ${unread.map(({ column, why }) => `${column} (${why})`).join(', ')}`

/** Keeps what was found, and what became of rows and columns, among the repairs of the reading, too. */
export function originOf(
  { repairs }: Reading,
  files: readonly ReadTable[],
  tally: Tally,
  spec: object,
): Origin {
  const stated = spellStatement({ ...spec })
  const findings = [...tally.findings(), ...(stated === null ? [] : [statedOf(files[0]!.path, stated)])]
  const counts = files.map(({ path: file, total, headerRows }) => ({
    file,
    total,
    header: headerRows.filter(row => row > 0).length,
    dropped: tally.dropped(file),
  }))
  const unread = [...new Map(files.flatMap(file => file.unread).map(each => [each.column, each])).values()]
  // A report of several files is that of the first.
  const { path } = files[0]!
  const notes = [
    ...counts.map(each => noteOf('rows', each.file, each.total, spellCounts(each))),
    ...(unread.length === 0 ? [] : [noteOf('unread', path, unread.length, spellUnread(unread))]),
  ]
  repairs.push(
    ...[...findings, ...notes].map(each =>
      each.file === path ? each : { ...each, file: path, message: `${each.file}: ${each.message}` },
    ),
  )
  return { formats: files.map(({ name }) => name), unread, findings, files: counts }
}
