// The cells of a column as the values that the writers of binary formats take.
import type { Cells, Column } from './table.ts'

/** Null where a row has no cell. A column without such rows is not nullable in any format. */
export type ColumnValues = readonly (number | null)[] | readonly (string | null)[]

/** The values of a column. Throws on a number that no format may publish, as the text formats do. */
export function columnValues({ cells, has }: Column, rows: number): ColumnValues {
  return cells.kind === 'word' ? collect(cells.at, has, rows) : collect(checked(cells), has, rows)
}

function collect<Value>(
  at: (row: number) => Value,
  has: Column['has'],
  rows: number,
): readonly (Value | null)[] {
  const values: (Value | null)[] = []
  for (let row = 0; row < rows; row++) values.push(has === undefined || has(row) ? at(row) : null)
  return values
}

const checked =
  ({ kind, at }: Exclude<Cells, { kind: 'word' }>) =>
  (row: number): number => {
    const value = at(row)
    const isFit = kind === 'number' ? Number.isFinite(value) : Number.isSafeInteger(value)
    if (!isFit) throw new Error(`refusing to publish the ${kind} ${value}`)
    return value
  }
