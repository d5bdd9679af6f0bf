import { createDotTile, TILE_COLUMNS, TILE_ROWS, TURN_POINTS } from './dot-kernel.ts'

/** Receives the dot product of columns `i < j`. */
type StoreDot = (i: number, j: number, dot: number) => void

/** Columns that are met by all rows before the next ones: as many as stay in the cache of a core. */
const NEAR_COLUMNS = 16

const PAGE_BYTES = 1 << 16
const POINT_BYTES = 8

/**
 * The dot products of the first `rowCount` columns with every column after them: the first rows of the upper triangle
 * of the matrix of all products. The columns have one length. A product is the sum over the even points plus that over
 * the odd ones, each in order: it has the same bits whatever its neighbours, whichever operand comes first, and on
 * every machine; it is within 1e-12 of the sum over all points in order where the columns have the norm 1.
 *
 * Cost: the columns once more in memory; about half the time of a plain loop in tiles (bench/results.md).
 */
export function dotProducts(columns: readonly Float64Array[], rowCount: number, store: StoreDot): void {
  const length = columns[0]?.length ?? 0
  const points = Math.max(Math.ceil(length / TURN_POINTS), 1) * TURN_POINTS
  // Tiles reach over the edge, into columns of zeros.
  const memory = layOut(columns, points, columns.length + TILE_COLUMNS)
  const tile = createDotTile(memory)
  const stride = points * POINT_BYTES
  const out = (columns.length + TILE_COLUMNS) * stride
  const dots = new Float64Array(memory.buffer, out, TILE_ROWS * TILE_COLUMNS)
  for (let near = 0; near < columns.length; near += NEAR_COLUMNS) {
    const end = Math.min(near + NEAR_COLUMNS, columns.length)
    for (let i = 0; i < Math.min(rowCount, end); i += TILE_ROWS) {
      for (let j = near; j < end; j += TILE_COLUMNS) {
        if (j + TILE_COLUMNS <= i + 1) continue // all on the other side of the diagonal
        tile(i * stride, j * stride, stride, out)
        storeTile(dots, i, j, Math.min(rowCount, i + TILE_ROWS), end, store)
      }
    }
  }
}

/** The columns one after the other, each filled up with zeros, and zeros behind them. */
function layOut(columns: readonly Float64Array[], points: number, places: number): WebAssembly.Memory {
  const bytes = (places * points + TILE_ROWS * TILE_COLUMNS) * POINT_BYTES
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) })
  const all = new Float64Array(memory.buffer)
  for (let i = 0; i < columns.length; i++) all.set(columns[i]!, i * points)
  return memory
}

/** The cells of a tile at row `i` and column `j` that are above the diagonal, before row `rowEnd` and column `end`. */
function storeTile(
  dots: Float64Array,
  i: number,
  j: number,
  rowEnd: number,
  end: number,
  store: StoreDot,
): void {
  for (let row = i; row < rowEnd; row++) {
    for (let column = Math.max(j, row + 1); column < Math.min(j + TILE_COLUMNS, end); column++) {
      store(row, column, dots[(row - i) * TILE_COLUMNS + column - j]!)
    }
  }
}
