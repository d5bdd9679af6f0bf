import {
  Table as ArrowTable,
  columnFromArray,
  type DataType,
  dateDay,
  float64,
  TimeUnit,
  tableFromColumns,
  tableToIPC,
  timestamp,
  utf8,
} from '@uwdata/flechette'
import { DAY_MS } from '#core/calendar.ts'
import { columnValues } from './column-values.ts'
import type { Cells, Column, Table } from './table.ts'

/**
 * The bytes of a table as an Arrow IPC file of one record batch: dates as date32, instants as timestamps of
 * milliseconds in UTC, numbers as float64, words as utf8. `about` goes into the metadata of the schema. Same table in,
 * same bytes out.
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
  columnFromArray(
    columnValues(column, rows).map(value => toWritten(column.cells.kind, value)),
    TYPES[column.cells.kind](),
  )

/** The writer takes days as milliseconds. */
const toWritten = (kind: Cells['kind'], value: number | string | null) =>
  kind === 'date' && typeof value === 'number' ? value * DAY_MS : value

const TYPES: { readonly [Kind in Cells['kind']]: () => DataType } = {
  date: dateDay,
  instant: () => timestamp(TimeUnit.MILLISECOND, 'UTC'),
  number: float64,
  word: utf8,
}
