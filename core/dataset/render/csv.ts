import { instantOf } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import { toRowShape, writeDatedRows } from './dated-rows.ts'
import { type Column, type Table, textColumn, writeCell } from './table.ts'
import { type ByteWriter, type Writing, writeAscii, writeText } from './text-writer.ts'

const LINE_END = '\r\n'

/**
 * A table as RFC 4180, made at once or in blocks: a header, a line a row, CRLF, UTF-8 without a byte order
 * mark. Instants are epoch milliseconds, and again in ISO 8601 at the end of the row, before `live`.
 */
export const csvWriting = (table: Table): Writing =>
  function* (out, blockBytes) {
    const columns = withInstants(table.columns, instantsOf(table))
    writeText(out, columns.map(({ name }) => quoteField(name)).join(',') + LINE_END)
    if (table.series !== undefined) return writeDatedRows(out, table.series, SERIES_ROW)
    for (let row = 0; row < table.rows; row++) {
      writeRow(out, columns, row)
      if (out.length >= blockBytes) yield
    }
  }

const SERIES_ROW = toRowShape('', ',', LINE_END, '')

/** `entry_time_utc` of `entry_time`. */
export const utcNameOf = (name: string): string => `${name}_utc`

/** `live` is the newest column of trades and the last, so that all others keep their places. */
export const withInstants = <Named extends { readonly name: string }>(
  columns: readonly Named[],
  instants: readonly Named[],
): readonly Named[] =>
  columns.toSpliced(columns.findLastIndex(({ name }) => name !== 'live') + 1, 0, ...instants)

const instantsOf = ({ columns }: Table): Column[] =>
  columns.flatMap(({ name, kind, at }) =>
    kind === 'instant' ? [textColumn(utcNameOf(name), row => instantOf(at(row)))] : [],
  )

function writeRow(out: ByteWriter, columns: readonly Column[], row: number): void {
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!
    if (i > 0) writeAscii(out, ',')
    if (column.has !== undefined && !column.has(row)) continue
    if (column.kind === 'text') writeText(out, quoteField(column.at(row)))
    else writeCell(out, column, row)
  }
  writeAscii(out, LINE_END)
}

const quoteField = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

// Records of named fields, in their order, as the same text.

type Value = string | number | boolean

export const toCsvHeader = (fields: readonly string[]): string => fields.join(',') + LINE_END

export const toCsvRow = <Field extends string>(
  fields: readonly Field[],
  record: { readonly [Name in Field]?: Value | undefined },
): string => fields.map(field => toCell(record[field])).join(',') + LINE_END

const toCell = (value: Value = ''): string =>
  typeof value === 'number' ? toText(value) : quoteField(String(value))
