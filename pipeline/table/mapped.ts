import type { Reading } from '../book/reading.ts'
import { type Mapping, type MappingRequest, mapColumns, strayRow, type TableKind } from './columns.ts'
import { NO_LAST_BREAK, UnreadableFile } from './lines.ts'
import { type OnRow, type PickRows, type Row, readRows } from './rows.ts'

/** Rows from which format and header are found. */
const PROBED_ROWS = 200

export type MappedFile = Mapping & {
  readonly kind: TableKind
  /** The last row, if its line has no break: it may be cut off. */
  readonly openRow: number | null
}

const STRAY = 'expected a row of data as those below it, got one without its numbers'

type MappedRequest = MappingRequest & {
  readonly pick?: PickRows | undefined
}

/**
 * Reads a table whose columns are known by name or order, and hands each row of data on as its fields in the order of
 * the roles; a column that the file lacks is blank. Null if the file cannot be read: its problems are reported.
 */
export async function readMapped(
  reading: Reading,
  path: string,
  kindOf: (rows: readonly Row[]) => TableKind,
  request: MappedRequest,
  onRow: OnRow,
): Promise<MappedFile | null> {
  const probe: { readonly cells: Row; readonly row: number }[] = []
  const short: { readonly row: number; readonly message: string }[] = []
  const found: { mapping: (Mapping & Pick<MappedFile, 'kind'>) | null; places: readonly number[] } = {
    mapping: null,
    places: [],
  }
  const take: OnRow = (cells, row) => {
    const { width } = found.mapping!
    if (cells.length === width)
      onRow(
        found.places.map(place => cells[place] ?? ''),
        row,
      )
    else
      short.push({
        row,
        message: `expected ${width} fields as in the first row of data, got ${cells.length}`,
      })
  }
  const begin = (): void => {
    const rows = probe.map(({ cells }) => cells)
    const kind = kindOf(rows)
    const stray = strayRow(kind, rows)
    if (stray >= 0) throw new UnreadableFile(STRAY, probe[stray]!.row)
    const mapping = mapColumns(kind, rows, request)
    if (typeof mapping === 'string') throw new UnreadableFile(mapping, probe[0]?.row || 1)
    found.mapping = { ...mapping, kind }
    found.places = Object.keys(kind.roles).map(role => mapping.places.get(role) ?? -1)
    for (const { cells, row } of probe.slice(mapping.headerRows)) take(cells, row)
  }
  const collect: OnRow = (cells, row) => {
    if (found.mapping !== null) take(cells, row)
    else if (probe.push({ cells, row }) === PROBED_ROWS) begin()
  }
  const onEnd = (): number => {
    if (found.mapping === null) begin()
    return found.mapping!.headerRows
  }
  const read = await readRows(reading, path, collect, { pick: request.pick, onEnd })
  if (read === null) return null
  const file = { ...found.mapping!, ...read }
  const { openRow } = file.kind.mayEndOpen ? read : { openRow: null }
  for (const problem of short) if (problem.row !== openRow) reading.problems.add({ file: path, ...problem })
  if (read.openRow !== openRow)
    reading.problems.add({ file: path, row: read.openRow!, message: NO_LAST_BREAK })
  return file
}
