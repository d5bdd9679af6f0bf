// Tables as Arrow and Parquet files, column by column.
import {
  Table as ArrowTable,
  columnFromArray,
  type DataType,
  float64,
  TimeUnit,
  tableFromColumns,
  tableToIPC,
  timestamp,
  utf8,
} from '@uwdata/flechette'
import { parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { DAY_MS } from '#core/calendar.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import type { Column, Table } from './table.ts'

/**
 * The values of a column, null if a row has no cell: a column without such rows is not nullable in any
 * format. Throws on a number that no format may publish, as the text formats do.
 */
function columnValues({ kind, at, has }: Column, rows: number) {
  const values: (number | string | null)[] = []
  for (let row = 0; row < rows; row++) {
    values.push(has === undefined || has(row) ? checked(kind, at(row)) : null)
  }
  return values
}

/** Days as milliseconds, as both formats store them, and numbers as their published text reads back. */
function checked(kind: Column['kind'], cell: number | string): number | string {
  if (typeof cell === 'string') return cell
  const value = kind === 'date' ? cell * DAY_MS : kind === 'significant' ? toSignificant(cell) : cell
  const isTime = kind === 'date' || kind === 'instant'
  if (isTime ? Number.isSafeInteger(value) : Number.isFinite(value)) return value
  throw new Error(`refusing to publish the ${isTime ? kind : 'number'} ${value}`)
}

/**
 * The bytes of a table as an Arrow IPC file of one record batch: dates as timestamps without a zone, because
 * pandas reads those as datetime64 and date32 as objects, instants as timestamps in UTC, both of milliseconds, numbers as float64, texts as utf8. `about` goes into the metadata of the schema. Same
 * table in, same bytes out.
 */
export function renderArrow(table: Table, about: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const { schema, children } = tableFromColumns(
    table.columns.map(column => [column.name, toArrowColumn(column, table.rows)]),
  )
  const named = new ArrowTable({ ...schema, metadata: new Map(Object.entries(about)) }, children)
  const bytes = tableToIPC(named, { format: 'file' })
  if (bytes === null) throw new Error('the Arrow writer gave no bytes')
  return Uint8Array.from(bytes)
}

const toArrowColumn = (column: Column, rows: number) =>
  columnFromArray(columnValues(column, rows), ARROW_TYPES[column.kind]())

const ARROW_TYPES: { readonly [Kind in Column['kind']]: () => DataType } = {
  date: () => timestamp(TimeUnit.MILLISECOND),
  instant: () => timestamp(TimeUnit.MILLISECOND, 'UTC'),
  number: float64,
  significant: float64,
  text: utf8,
}

/**
 * The bytes of a table as a Parquet file, Snappy inside: dates as local TIMESTAMP, instants as TIMESTAMP in
 * UTC, both of milliseconds, numbers as DOUBLE, texts as STRING. A column is OPTIONAL if rows may have no cell. `about` goes
 * into the metadata of the file. Same table in, same bytes out.
 */
export function renderParquet(
  table: Table,
  about: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer> {
  const { columns, rows } = table
  const bytes = parquetWriteBuffer({
    schema: [{ name: 'schema', num_children: columns.length }, ...columns.map(toElement)],
    columnData: columns.map(column => ({ name: column.name, data: columnValues(column, rows) })),
    rowGroupSize: 100_000, // rows that a reader must take at once: a century of days is one group
    kvMetadata: Object.entries(about).map(([key, value]) => ({ key, value })),
  })
  return rows === 0 ? withTypedRowGroups(new Uint8Array(bytes)) : new Uint8Array(bytes)
}

const toElement = ({ name, kind, has }: Column): SchemaElement => ({
  name,
  repetition_type: has === undefined ? 'REQUIRED' : 'OPTIONAL',
  ...PARQUET_TYPES[kind],
})

/** `num_rows` 0 and then `row_groups`, a list of no elements and no type, as they stand in the footer. */
const NO_ROW_GROUPS = [0x16, 0x00, 0x19, 0x00]
const STRUCT_LIST = 0x0c

/**
 * A file without rows has no row group, which readers expect; but the writer names no type for the elements
 * of an empty list, and strict readers refuse the file for it. Names of columns hold none of these bytes, and
 * texts stand behind, so the first occurrence is the list.
 */
function withTypedRowGroups(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const at = file.findIndex((_, start) => NO_ROW_GROUPS.every((byte, i) => file[start + i] === byte))
  if (at < 0)
    throw new Error('the footer of a Parquet file without rows is not as the writer used to write it')
  file[at + NO_ROW_GROUPS.length - 1] = STRUCT_LIST
  return file
}

const timestampOf = (isAdjustedToUTC: boolean): Omit<SchemaElement, 'name'> => ({
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MILLIS' },
})

/** Old readers know the converted type, new ones the logical type. */
const PARQUET_TYPES: { readonly [Kind in Column['kind']]: Omit<SchemaElement, 'name'> } = {
  date: timestampOf(false),
  instant: timestampOf(true),
  number: { type: 'DOUBLE' },
  significant: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
}
