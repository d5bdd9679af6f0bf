import type { CorrelationMatrix } from './correlation.ts'
import { type CorrelationRows, correlateRows, packedCell } from './correlation-rows.ts'
import type { Series } from './series.ts'

/** Columns whose lines of both matrices stay in the nearest cache of a core. */
const NEAR_COLUMNS = 64

/** The whole matrix in one go, on this thread. */
export const correlationMatrix = (series: readonly Series[]): CorrelationMatrix =>
  assembleCorrelation(series.length, [correlateRows(series, 0, series.length)])

/**
 * The matrix of `size` series from the blocks of its rows, in any order. Throws where they are not exactly the rows of
 * such a matrix.
 */
export function assembleCorrelation(size: number, blocks: readonly CorrelationRows[]): CorrelationMatrix {
  assertWhole(size, blocks)
  const matrix = { size, rho: new Float64Array(size * size), overlap: new Int32Array(size * size) }
  for (const block of blocks) mirror(block, matrix)
  return matrix
}

/**
 * Splits the rows of a matrix into at most `count` blocks `[from, to)` of about equally many cells: the first rows of
 * the triangle are the long ones.
 */
export function rowBlocks(size: number, count: number): [from: number, to: number][] {
  const blocks: [number, number][] = []
  const cells = packedCell(size, 0, size, size)
  for (let from = 0; from < size; ) {
    const target = (cells * (blocks.length + 1)) / count
    let to = from + 1
    while (to < size && packedCell(size, 0, to, to) < target) to++
    blocks.push([from, to])
    from = to
  }
  return blocks
}

function assertWhole(size: number, blocks: readonly CorrelationRows[]): void {
  let next = 0
  for (const { size: theirs, fromRow, toRow } of blocks.toSorted((a, b) => a.fromRow - b.fromRow)) {
    if (theirs !== size || fromRow !== next)
      throw notWhole(size, `rows ${fromRow} to ${toRow} of ${theirs}`, next)
    next = toRow
  }
  if (next !== size) throw notWhole(size, 'no more', next)
}

const notWhole = (size: number, got: string, next: number): RangeError =>
  new RangeError(
    `the blocks of a correlation matrix must be all rows of ${size}, each once, got ${got} where row ${next} is ` +
      'next; assemble the blocks of one list of series',
  )

/** Near columns at a time, or the lines of the lower triangle would leave the cache before they are full. */
function mirror({ size, fromRow, toRow, rho, overlap }: CorrelationRows, matrix: CorrelationMatrix): void {
  for (let near = fromRow; near < size; near += NEAR_COLUMNS) {
    const end = Math.min(near + NEAR_COLUMNS, size)
    for (let i = fromRow; i < Math.min(toRow, end); i++) {
      const first = Math.max(i, near)
      let cell = packedCell(size, fromRow, i, first)
      for (let j = first; j < end; j++, cell++) {
        matrix.rho[i * size + j] = matrix.rho[j * size + i] = rho[cell]!
        matrix.overlap[i * size + j] = matrix.overlap[j * size + i] = overlap[cell]!
      }
    }
  }
}
