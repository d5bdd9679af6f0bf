import { toRowShape, writeDatedRows } from './dated-rows.ts'
import type { Table } from './table.ts'
import { type ByteWriter, type Writing, writeAscii, writeText } from './text-writer.ts'

const LINE_END = '\r\n'

/**
 * A table as RFC 4180, made at once or in blocks: a header, a line a row, CRLF, UTF-8 without a byte order
 * mark.
 */
export const csvWriting = (table: Table): Writing =>
  function* (out, blockBytes) {
    writeHeader(out, table)
    if (table.series !== undefined) return writeDatedRows(out, table.series, SERIES_ROW)
    for (let row = 0; row < table.rows; row++) {
      writeRow(out, table, row)
      if (out.length >= blockBytes) yield
    }
  }

const SERIES_ROW = toRowShape('', ',', LINE_END, '')

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
