import type { EpochDay } from '#core/calendar.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import { dayOf, type Series } from '#core/figures/series.ts'
import { type ByteWriter, writeDate, writeNumber, writeSignificant, writeText } from './text-writer.ts'

/**
 * The typed cells of a column, for the formats that have types: a date as an epoch day, an instant in epoch
 * milliseconds. A number is the double that its published text reads back as, so all formats carry the same
 * ones.
 */
export type Cells = NumberCells | TextCells

export type TextCells = { readonly kind: 'text'; readonly at: (row: number) => string }

type NumberCells = {
  readonly kind: 'date' | 'instant' | 'number'
  readonly at: (row: number) => number
}

/**
 * A column of a published table. `write` puts the cell of a row into the answer as bare text; JSON puts
 * quotes around dates and texts, CSV never does. Both carry the same digits. Binary formats take `cells`.
 */
export type Column = {
  readonly name: string
  readonly write: (out: ByteWriter, row: number) => void
  readonly cells: Cells
  /** False if a row has no cell: absent in JSON, empty in CSV, null in binary formats. */
  readonly has?: (row: number) => boolean
  /** In JSON such a cell is null instead of absent. */
  readonly isNullable?: true
}

/** A published table: an array of objects in JSON, a header and rows in CSV, columns in Arrow and Parquet. */
export type Table = {
  readonly kind: 'table'
  readonly rows: number
  readonly columns: readonly Column[]
  /** In JSON the columns after the first may stand in an object of this name. */
  readonly nest?: string
  /** The series that the rows are, if the columns are its dates and its values and nothing else. */
  readonly series?: Series
  readonly extent?: { readonly first: EpochDay; readonly last: EpochDay }
}

export const isTable = (value: object): value is Table => 'kind' in value && value.kind === 'table'

export const dateColumn = (name: string, series: Pick<Series, 'period' | 'first'>): Column => ({
  name,
  write: (out, row) => writeDate(out, dayOf(series, row)),
  cells: { kind: 'date', at: row => dayOf(series, row) },
})

/** Returns and equity, each times `factor` if there is one: 10 significant digits. */
export const significantColumn = (
  name: string,
  values: Float64Array,
  factor = 1,
): Column & { readonly cells: NumberCells } => ({
  name,
  write: (out, row) => writeSignificant(out, values[row]! * factor),
  cells: { kind: 'number', at: row => toSignificant(values[row]! * factor) },
})

/** Numbers that are rounded already. */
export const numberColumn = (name: string, at: (row: number) => number): Column => ({
  name,
  write: (out, row) => writeNumber(out, at(row)),
  cells: { kind: 'number', at },
})

/** Figures of many rows: 10 significant digits, which are written faster than 6 decimals; null if NaN. */
export const figureColumn = (name: string, values: Float64Array): Column => ({
  ...significantColumn(name, values),
  has: row => !Number.isNaN(values[row]),
  isNullable: true,
})

/** Moments: epoch milliseconds in text, timestamps in binary formats. */
export const instantColumn = (name: string, at: (row: number) => number): Column => ({
  ...numberColumn(name, at),
  cells: { kind: 'instant', at },
})

/** Any text: JSON escapes it, CSV quotes it. */
export const textColumn = (name: string, at: (row: number) => string): Column => ({
  name,
  write: (out, row) => writeText(out, JSON.stringify(at(row)).slice(1, -1)),
  cells: { kind: 'text', at },
})
