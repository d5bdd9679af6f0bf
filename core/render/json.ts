import { toText } from '#core/contract/decimal.ts'
import type { Series } from '#core/numerics/series.ts'
import { type ByteWriter, toBytes, writeAscii, writeBytes, writeText, written } from './byte-writer.ts'
import { toRowShape, writeDatedRows } from './dated-rows.ts'
import { isTable, type Table } from './table.ts'

/** What an answer may hold. Tables are written row by row, never turned into objects. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }
  | Table

/** The bytes of a JSON answer. Throws on a number that is not finite. */
export function renderJson(value: Json): Uint8Array<ArrayBuffer> {
  return written(out => writeJson(out, value))
}

function writeJson(out: ByteWriter, value: Json): void {
  if (typeof value === 'number') writeAscii(out, toText(value))
  else if (typeof value !== 'object' || value === null) writeText(out, JSON.stringify(value))
  else if (Array.isArray(value)) writeArray(out, value)
  else if (isTable(value)) writeTable(out, value)
  else writeObject(out, value as { readonly [key: string]: Json | undefined }) // what is left of the union
}

function writeArray(out: ByteWriter, values: readonly Json[]): void {
  writeAscii(out, '[')
  for (let i = 0; i < values.length; i++) {
    if (i > 0) writeAscii(out, ',')
    writeJson(out, values[i]!)
  }
  writeAscii(out, ']')
}

function writeObject(out: ByteWriter, object: { readonly [key: string]: Json | undefined }): void {
  let separator = '{'
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue
    writeAscii(out, separator)
    writeText(out, `${JSON.stringify(key)}:`)
    writeJson(out, value)
    separator = ','
  }
  writeAscii(out, separator === '{' ? '{}' : '}')
}

function writeTable(out: ByteWriter, table: Table): void {
  if (table.series !== undefined) writeSeries(out, table.series, table.columns)
  else writeRows(out, table)
}

/** `[{"t":"2016-01-01","ret":0.01},...]` */
function writeSeries(out: ByteWriter, series: Series, columns: Table['columns']): void {
  const [date, value] = columns.map(({ name }) => JSON.stringify(name))
  writeAscii(out, '[')
  writeDatedRows(out, series, toRowShape(`{${date}:"`, `",${value}:`, '}', ','))
  writeAscii(out, ']')
}

function writeRows(out: ByteWriter, table: Table): void {
  writeAscii(out, '[')
  const cells = table.columns.map(column => ({ ...column, key: toBytes(`${JSON.stringify(column.name)}:`) }))
  const nestAt = table.nest === undefined ? -1 : 1
  const nestKey = `${JSON.stringify(table.nest ?? '')}:{`
  for (let row = 0; row < table.rows; row++) {
    writeAscii(out, row > 0 ? ',{' : '{')
    let isFirst = true
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i]!
      if (i === nestAt) {
        writeAscii(out, `,${nestKey}`)
        isFirst = true
      }
      if (cell.has !== undefined && !cell.has(row)) continue
      if (!isFirst) writeAscii(out, ',')
      isFirst = false
      writeBytes(out, cell.key)
      if (cell.quoted) writeAscii(out, '"')
      cell.write(out, row)
      if (cell.quoted) writeAscii(out, '"')
    }
    writeAscii(out, nestAt < 0 ? '}' : '}}')
  }
  writeAscii(out, ']')
}
