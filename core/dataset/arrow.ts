// Columns as Arrow IPC files: one record batch, no nulls, so that reading them back copies nothing.
import {
  columnFromArray,
  dateDay,
  float64,
  int16,
  int32,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  uint8,
} from '@uwdata/flechette'
import { DAY_MS } from '#core/calendar.ts'

/** Columns are stored in the type of the array that holds them. */
export type ColumnValues = Float64Array | Int32Array | Int16Array | Uint8Array

export type Columns = Readonly<Record<string, ColumnValues>>

/**
 * The bytes of an Arrow IPC file with these columns, all of one length. An Int32Array named in `dates` holds epoch
 * days and is stored as date32, which other tools read as dates.
 */
export function toArrow(columns: Columns, dates: readonly string[] = []): Uint8Array {
  const built = Object.entries(columns).map(([name, values]) => {
    const column = dates.includes(name) ? toDateColumn(values) : toColumn(values)
    return [name, column] as [string, typeof column]
  })
  const bytes = tableToIPC(tableFromColumns(built), { format: 'file' })
  if (bytes === null) throw new Error('the Arrow writer gave no bytes')
  return bytes
}

const toDateColumn = (days: ColumnValues) =>
  columnFromArray(
    Float64Array.from(days, day => day * DAY_MS),
    dateDay(),
  ) // the writer takes milliseconds

/** The writer takes the type of a column from its values, and must be told it where there are none. */
const toColumn = (values: ColumnValues) =>
  values.length === 0 ? columnFromArray([], arrowTypeOf(values)) : columnFromArray(values)

function arrowTypeOf(values: ColumnValues) {
  if (values instanceof Float64Array) return float64()
  if (values instanceof Int32Array) return int32()
  return values instanceof Int16Array ? int16() : uint8()
}

/** The float columns of `names`, as views on `bytes` where the file is aligned. */
export const readFloats = <Name extends string>(bytes: Uint8Array, names: readonly Name[]) =>
  readColumns(bytes, names, Float64Array)

/** The integer columns of `names`. */
export const readIntegers = <Name extends string>(bytes: Uint8Array, names: readonly Name[]) =>
  readColumns(bytes, names, Int32Array)

/** The byte columns of `names`. */
export const readCodes = <Name extends string>(bytes: Uint8Array, names: readonly Name[]) =>
  readColumns(bytes, names, Uint8Array)

function readColumns<Name extends string, Values extends ColumnValues>(
  bytes: Uint8Array,
  names: readonly Name[],
  type: { new (length: number): Values; readonly name: string },
): Record<Name, Values> {
  const table = tableFromIPC(aligned(bytes))
  const entries = names.map(name => {
    const column = table.getChild(name)
    if (column === null || column === undefined) throw new Error(`the Arrow file has no column '${name}'`)
    const batch = column.data[0]
    if (batch === undefined) return [name, new type(0)]
    if (column.data.length > 1)
      throw new Error(`the column '${name}' is in ${column.data.length} batches, not in one`)
    if (!(batch.values instanceof type)) throw new Error(`the column '${name}' is not a ${type.name}`)
    return [name, batch.values.subarray(0, batch.length)]
  })
  return Object.fromEntries(entries) as Record<Name, Values> // one entry a name
}

/** The reader makes its views at multiples of 8; bytes that begin elsewhere in their buffer are copied to one. */
const aligned = (bytes: Uint8Array): Uint8Array =>
  bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes)
