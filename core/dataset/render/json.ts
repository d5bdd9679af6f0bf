import type { Series } from '#core/figures/series.ts'
import { toRowShape, writeDatedRows } from './dated-rows.ts'
import { type Column, isTable, type Table, writeCell } from './table.ts'
import {
  type ByteWriter,
  type Steps,
  toBytes,
  type Writing,
  writeAscii,
  writeBytes,
  writeNumber,
  writeText,
  writeWhole,
} from './text-writer.ts'

/**
 * The values that an answer may contain; items may be made one after the other while they are written. Tables are written row by
 * row, never turned into objects.
 */
export type Json = Scalar | Iterable<Json> | JsonObject | Table

type Scalar = null | boolean | number | string

type JsonObject = { readonly [key: string]: Json | undefined }

/** The bytes of a JSON answer. Throws on a number that is not finite. */
export const renderJson = (value: Json): Uint8Array<ArrayBuffer> => writeWhole(jsonWriting(value))

/** The same text, to be made at once or in blocks: pauses come between rows, items and fields. */
export const jsonWriting =
  (value: Json): Writing =>
  (out, blockBytes) =>
    writeJson(out, value, blockBytes)

function* writeJson(out: ByteWriter, value: Json, blockBytes: number): Steps {
  if (isScalar(value)) writeScalar(out, value)
  else if (Symbol.iterator in value) yield* writeItems(out, value, blockBytes)
  else if (isTable(value) && value.series !== undefined) writeSeries(out, value.series, value.columns)
  else if (isTable(value)) yield* writeRows(out, value, blockBytes)
  else yield* writeObject(out, value as JsonObject, blockBytes) // what is left of the union
}

const isScalar = (value: Json): value is Scalar => typeof value !== 'object' || value === null

function writeScalar(out: ByteWriter, value: Scalar): void {
  if (typeof value === 'number') writeNumber(out, value)
  else writeText(out, JSON.stringify(value))
}

function* writeItems(out: ByteWriter, values: Iterable<Json>, blockBytes: number): Steps {
  let separator = '['
  for (const value of values) {
    writeAscii(out, separator)
    if (isScalar(value)) writeScalar(out, value)
    else yield* writeJson(out, value, blockBytes)
    separator = ','
    if (out.length >= blockBytes) yield
  }
  writeAscii(out, separator === '[' ? '[]' : ']')
}

function* writeObject(out: ByteWriter, object: JsonObject, blockBytes: number): Steps {
  let separator = '{'
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue
    writeAscii(out, separator)
    writeText(out, `${JSON.stringify(key)}:`)
    if (isScalar(value)) writeScalar(out, value)
    else yield* writeJson(out, value, blockBytes)
    separator = ','
    if (out.length >= blockBytes) yield
  }
  writeAscii(out, separator === '{' ? '{}' : '}')
}

/** `[{"t":"2016-01-01","ret":0.01},...]` */
function writeSeries(out: ByteWriter, series: Series, columns: Table['columns']): void {
  const [date, value] = columns.map(({ name }) => JSON.stringify(name))
  writeAscii(out, '[')
  writeDatedRows(out, series, toRowShape(`{${date}:"`, `",${value}:`, '}', ','))
  writeAscii(out, ']')
}

function* writeRows(out: ByteWriter, table: Table, blockBytes: number): Steps {
  const cells = table.columns.map(column => ({
    ...column,
    key: toBytes(`${JSON.stringify(column.name)}:`),
  }))
  const nestKey = table.nest === undefined ? null : `,${JSON.stringify(table.nest)}:{`
  writeAscii(out, '[')
  for (let row = 0; row < table.rows; row++) {
    writeAscii(out, row > 0 ? ',{' : '{')
    writeCells(out, cells, nestKey, row)
    writeAscii(out, nestKey === null ? '}' : '}}')
    if (out.length >= blockBytes) yield
  }
  writeAscii(out, ']')
}

type Cell = Column & { readonly key: Uint8Array }

/** `nestKey` begins the object that holds all cells but the first. */
function writeCells(out: ByteWriter, cells: readonly Cell[], nestKey: string | null, row: number): void {
  let isFirst = true
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!
    if (i === 1 && nestKey !== null) {
      writeAscii(out, nestKey)
      isFirst = true
    }
    const isMissing = cell.has !== undefined && !cell.has(row)
    if (isMissing && cell.isNullable === undefined) continue
    if (!isFirst) writeAscii(out, ',')
    isFirst = false
    writeBytes(out, cell.key)
    if (isMissing) writeAscii(out, 'null')
    else writeQuoted(out, cell, row)
  }
}

/** Dates and texts are in quotes. */
function writeQuoted(out: ByteWriter, cell: Cell, row: number): void {
  if (cell.kind === 'text') writeText(out, JSON.stringify(cell.at(row)))
  else {
    if (cell.kind === 'date') writeAscii(out, '"')
    writeCell(out, cell, row)
    if (cell.kind === 'date') writeAscii(out, '"')
  }
}
