import { type Reading, reporterOf } from '../book/reading.ts'
import type { Repair, Tally } from '../book/repair.ts'
import { type Mapping, type MappingRequest, mapColumns, type TableKind } from './columns.ts'
import { NO_LAST_BREAK } from './lines.ts'
import { type PickRows, type Row, readRows } from './rows.ts'

/** Rows from which format and header are found. */
const PROBED_ROWS = 200

/** The text in the column of a role, without blanks around it; blank if the file lacks the column. */
export type Cell = (role: string) => string

type OnRecord = (cell: Cell, row: number) => void

export type MappedFile = Mapping & {
  /** The last row, if its line has no break: it may be cut off. */
  readonly openRow: number | null
}

type MappedRequest = MappingRequest & { readonly tally: Tally; readonly pick?: PickRows }

type KindOf = (rows: readonly Row[]) => TableKind

/**
 * Reads a table whose columns are known by name or order, and hands each row of data on. Null if the file cannot be read:
 * its problems are reported.
 */
export async function readMapped(
  reading: Reading,
  path: string,
  kindOf: KindOf,
  { pick, tally, ...request }: MappedRequest,
  onRecord: OnRecord,
): Promise<MappedFile | null> {
  const report = reporterOf(reading, path)
  const mapper = createMapper(kindOf, request, onRecord)
  const read = await readRows(reading, path, mapper.onRow, () => mapper.end().headerRows, pick)
  if (read === null) return null
  const mapping = mapper.end()
  const openRow = mapping.kind.mayEndOpen ? read.openRow : null
  for (const { row, message } of mapper.misfits) report(message, row)
  if (read.openRow !== openRow) report(NO_LAST_BREAK, read.openRow)
  tally.count('banner', mapping.bannerRows)
  return { ...mapping, openRow }
}

/** Takes the rows of a file one by one: the first ones show its columns. */
function createMapper(kindOf: KindOf, request: MappingRequest, onRecord: OnRecord) {
  const probe: { readonly cells: Row; readonly row: number }[] = []
  const misfits: { readonly row: number; readonly message: string }[] = []
  let mapping: Mapping | null = null

  const take = ({ width, places }: Mapping, cells: Row, row: number): void => {
    const message = `expected ${width} fields as in the first row of data, got ${cells.length}`
    if (cells.length !== width) misfits.push({ row, message })
    else onRecord(role => cells[places.get(role) ?? -1]?.trim() ?? '', row)
  }
  const begin = (): Mapping => {
    mapping = mapColumns(kindOf(probe.map(({ cells }) => cells)), probe, request)
    for (const { cells, row } of probe.slice(mapping.headerRows)) take(mapping, cells, row)
    return mapping
  }
  return {
    misfits,
    onRow: (cells: Row, row: number): void => {
      if (mapping !== null) take(mapping, cells, row)
      else if (probe.push({ cells, row }) === PROBED_ROWS) begin()
    },
    end: (): Mapping => mapping ?? begin(),
  }
}

/** Where data come from, and what was found in their files. */
export type Origin = {
  readonly formats: readonly string[]
  /** Columns that were not read. */
  readonly ignored: readonly string[]
  readonly findings: readonly Repair[]
}

/** Keeps what was found among the repairs of the reading, too. */
export function originOf(
  { repairs }: Reading,
  files: readonly MappedFile[],
  tally: Tally,
  subject: string,
): Origin {
  const findings = tally.findings(subject)
  repairs.push(...findings)
  const ignored = new Set(files.flatMap(file => file.ignored))
  return { formats: files.map(({ format }) => format), ignored: [...ignored], findings }
}
