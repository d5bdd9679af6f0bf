import { type ByteWriter, createWriter, finish, writeAscii, writeText } from './byte-writer.ts'
import type { Table } from './table.ts'

const LINE_END = '\r\n'

/** The bytes of a table as RFC 4180: a header, a line a row, CRLF, UTF-8 without a byte order mark. */
export function renderCsv(table: Table): Uint8Array<ArrayBuffer> {
  const out = createWriter()
  writeHeader(out, table)
  for (let row = 0; row < table.rows; row++) writeRow(out, table, row)
  return finish(out)
}

function writeHeader(out: ByteWriter, table: Table): void {
  writeText(out, table.columns.map(column => quoteField(column.name)).join(','))
  writeAscii(out, LINE_END)
}

function writeRow(out: ByteWriter, table: Table, row: number): void {
  for (let i = 0; i < table.columns.length; i++) {
    const column = table.columns[i]!
    if (i > 0) writeAscii(out, ',')
    if (column.has === undefined || column.has(row)) column.write(out, row)
  }
  writeAscii(out, LINE_END)
}

/** Cells are numbers, dates and words; only a column name could need quotes. */
const quoteField = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
