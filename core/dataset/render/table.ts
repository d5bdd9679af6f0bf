import { dayOf, type Series } from '#core/figures/series.ts'
import { type ByteWriter, writeDate, writeNumber, writeSignificant } from './text-writer.ts'

/** A date is an epoch day, an instant epoch milliseconds; a `number` is rounded already, a `significant` is not: 10 digits. */
type NumberCells = {
  readonly kind: 'date' | 'instant' | 'number' | 'significant'
  readonly at: (row: number) => number
}

/** JSON escapes the text, CSV quotes it. */
type TextCells = { readonly kind: 'text'; readonly at: (row: number) => string }

/** A column of a published table. All formats carry the same digits. */
export type Column = {
  readonly name: string
  /** False if a row has no cell: absent in JSON, empty in CSV, null in binary formats. */
  readonly has?: (row: number) => boolean
  /** In JSON such a cell is null instead of absent. */
  readonly isNullable?: true
} & (NumberCells | TextCells)

/** A published table: an array of objects in JSON, a header and rows in CSV, columns in Arrow and Parquet. */
export type Table = {
  readonly kind: 'table'
  readonly rows: number
  readonly columns: readonly Column[]
  /** In JSON the columns after the first may stand in an object of this name. */
  readonly nest?: string
  /** The series that the rows are, if the columns are its dates and its values and nothing else. */
  readonly series?: Series
}

export const isTable = (value: object): value is Table => 'kind' in value && value.kind === 'table'

/** Writes the bare text of a cell, which is the same in JSON and CSV. */
export function writeCell(out: ByteWriter, { kind, at }: NumberCells, row: number): void {
  if (kind === 'significant') writeSignificant(out, at(row))
  else if (kind === 'date') writeDate(out, at(row))
  else writeNumber(out, at(row))
}

export const dateColumn = (name: string, series: Pick<Series, 'period' | 'first'>): Column => ({
  name,
  kind: 'date',
  at: row => dayOf(series, row),
})

/** Returns and equity, each times `factor` if there is one: 10 significant digits. */
export const significantColumn = (name: string, values: Float64Array, factor = 1): Column & NumberCells => ({
  name,
  kind: 'significant',
  at: row => values[row]! * factor,
})

/** Numbers that are rounded already. */
export const numberColumn = (name: string, at: (row: number) => number): Column => ({
  name,
  kind: 'number',
  at,
})

/** Figures of many rows: 10 significant digits, which are written faster than 6 decimals; null if NaN. */
export const figureColumn = (name: string, values: Float64Array): Column => ({
  ...significantColumn(name, values),
  has: row => !Number.isNaN(values[row]),
  isNullable: true,
})

/** Moments: epoch milliseconds in text, timestamps in binary formats. */
export const instantColumn = (name: string, at: (row: number) => number): Column => ({
  name,
  kind: 'instant',
  at,
})

export const textColumn = (name: string, at: (row: number) => string): Column => ({ name, kind: 'text', at })
