// The binary formats as others read them: Arrow with Apache's own library, Parquet with the one written in Rust.
// Neither shares a line with the writers.
import { DataType, type Table, tableFromIPC } from 'apache-arrow'
import { readParquet } from 'parquet-wasm'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'

export const BINARY_FORMATS = ['arrow', 'parquet'] as const
export type BinaryFormat = (typeof BINARY_FORMATS)[number]

const OPEN: { readonly [F in BinaryFormat]: (bytes: Uint8Array) => Table } = {
  arrow: bytes => tableFromIPC(bytes),
  parquet: bytes => tableFromIPC(readParquet(bytes).intoIPCStream()),
}

/** Opens the bytes of a file and reads every cell, as CSV would name it, null where there is none. */
export function readTable(format: BinaryFormat, bytes: Uint8Array) {
  const { schema, numRows, ...table } = withColumns(OPEN[format](bytes))
  return {
    header: schema.fields.map(({ name }) => name),
    types: schema.fields.map(({ type }) => String(type)),
    nullable: schema.fields.map(({ nullable }) => nullable),
    rows: Array.from({ length: numRows }, (_, row) => table.columns.map(cells => cells[row]!)),
    metadata: Object.fromEntries(schema.metadata),
  }
}

function withColumns(table: Table) {
  const { schema, numRows } = table
  const columns = schema.fields.map(({ name, type }) =>
    [...table.getChild(name)!].map(value => toCell(type, value)),
  )
  return { schema, numRows, columns }
}

/** Dates come as milliseconds without a zone, which CSV spells as a day. */
function toCell(type: DataType, value: unknown): string | number | null {
  if (value === null || typeof value === 'string') return value
  if (typeof value !== 'number')
    throw new Error(`expected a number or a text in a cell, got ${String(value)}`)
  return DataType.isTimestamp(type) && !type.timezone ? toIsoDate(value / DAY_MS) : value
}
