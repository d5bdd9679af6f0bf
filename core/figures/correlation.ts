import { isFlat, mean, sampleVariance } from './moments.ts'
import { clampCorrelation, correlatePair, MIN_OVERLAP } from './pearson.ts'
import { assertFinite, type Period, type Series } from './series.ts'

/**
 * Correlations of `size` series, row by row: cell (i, j) is at `i * size + j`. Exactly symmetric. An
 * undefined cell is NaN; on the diagonal, which is 1 otherwise, NaN means that the series itself is flat or
 * too short.
 */
export type CorrelationMatrix = {
  readonly size: number
  readonly rho: Float64Array
  /** Points that both series have; on the diagonal, the length of the series. */
  readonly overlap: Int32Array
}

/** Why a cell with this overlap is undefined: it is too short, or else one of the series is flat over it. */
export const undefinedCellReason = (overlap: number, period: Period): 'too_few_points' | 'zero_variance' =>
  overlap < MIN_OVERLAP[period] ? 'too_few_points' : 'zero_variance'

/**
 * Rows `fromRow` to `toRow` (excluded) of the upper triangle of a correlation matrix, packed: row i has the
 * cells (i, i) to (i, size - 1), and the next row follows. A task computes one block.
 */
export type CorrelationRows = {
  readonly size: number
  readonly fromRow: number
  readonly toRow: number
  readonly rho: Float64Array
  readonly overlap: Int32Array
}

/**
 * Pearson correlations of the series of some rows with every series from that row on, over their common
 * points, which are an interval because the series have no gaps. Two passes, clamped to [-1, 1]; NaN if fewer
 * than 30 days or 12 weeks are common, or if one of the series is flat over them (`max - min <= 1e-12`).
 *
 * A cell depends on its two series alone: splitting the rows, reordering the series or omitting some never
 * changes a bit. All must be of one period, and weeks end on one day. Throws if a return is not finite.
 *
 * Cost: series over the same window are multiplied four at a time, 3 us a pair over 3 650 points; pairs with different
 * windows are computed one by one, about 15 us each over 3 650 points.
 */
export function correlateRows(series: readonly Series[], fromRow: number, toRow: number): CorrelationRows {
  series.slice(fromRow).forEach(assertFinite)
  const size = series.length
  const cells = packedCell(size, fromRow, toRow, toRow)
  const [rho, overlap] = [new Float64Array(cells).fill(Number.NaN), new Int32Array(cells)]
  const rows = { size, fromRow, toRow, rho, overlap }
  correlateSameWindow(series, rows)
  correlateOthers(series, rows)
  return rows
}

/** Index of cell (row, column) of the upper triangle in packed rows that begin with `fromRow`. */
function packedCell(size: number, fromRow: number, row: number, column: number): number {
  const above = row - fromRow
  return above * size - (above * (fromRow + row - 1)) / 2 + column - row
}

/** Series over the same window are standardised once; their correlations are then dot products. */
function correlateSameWindow(series: readonly Series[], { size, fromRow, toRow, rho }: CorrelationRows) {
  for (const members of sameWindows(series, fromRow)) {
    const rows = members.filter(i => i < toRow)
    if (rows.length === 0) continue
    const columns = members.map(i => standardize(series[i]!.values))
    for (const i of rows) rho[packedCell(size, fromRow, i, i)] = 1
    dotProducts(columns, rows.length, (a, b, dot) => {
      rho[packedCell(size, fromRow, members[a]!, members[b]!)] = clampCorrelation(dot)
    })
  }
}

/** The series from `fromRow` on that are long enough and not flat, in order, grouped by window. */
function sameWindows(series: readonly Series[], fromRow: number): Iterable<number[]> {
  const fit = [...series.keys()].slice(fromRow).filter(i => {
    const { period, values } = series[i]!
    return values.length >= MIN_OVERLAP[period] && !isFlat(values)
  })
  return Map.groupBy(fit, i => `${series[i]!.first}:${series[i]!.values.length}`).values()
}

/** The overlaps of all pairs, and the correlations of pairs with different windows. */
function correlateOthers(series: readonly Series[], { size, fromRow, toRow, rho, overlap }: CorrelationRows) {
  for (let i = fromRow, cell = 0; i < toRow; i++) {
    const x = series[i]!
    for (let j = i; j < size; j++, cell++) {
      const y = series[j]!
      if (x.first === y.first && x.values.length === y.values.length) {
        overlap[cell] = x.values.length
        continue
      }
      const pair = correlatePair(x, y)
      overlap[cell] = pair.overlap
      rho[cell] = pair.rho
    }
  }
}

/**
 * The values minus their mean, divided by their norm: the dot product of two such columns is their Pearson
 * correlation. The values must not be flat.
 */
function standardize(values: Float64Array): Float64Array {
  const center = mean(values)
  const norm = Math.sqrt(sampleVariance(values, center) * (values.length - 1))
  return values.map(value => (value - center) / norm)
}

/** The whole matrix, computed on this thread. */
export const correlationMatrix = (series: readonly Series[]): CorrelationMatrix =>
  assembleCorrelation(series.length, [correlateRows(series, 0, series.length)])

/** The matrix of `size` series from the blocks of its rows, in any order. Throws unless they are complete. */
export function assembleCorrelation(size: number, blocks: readonly CorrelationRows[]): CorrelationMatrix {
  const matrix = { size, rho: new Float64Array(size * size), overlap: new Int32Array(size * size) }
  let next = 0
  for (const block of blocks.toSorted((a, b) => a.fromRow - b.fromRow)) {
    if (block.size !== size || block.fromRow !== next) throw notWhole(size, next)
    mirror(block, matrix)
    next = block.toRow
  }
  if (next !== size) throw notWhole(size, next)
  return matrix
}

const notWhole = (size: number, next: number): RangeError =>
  new RangeError(
    `the blocks of a correlation matrix must be all rows of ${size}, each once, and from row ${next} on they are not; ` +
      'assemble the blocks of one list of series',
  )

/**
 * Splits the rows of a matrix into at most `count` blocks `[from, to)` of about equally many cells: the first
 * rows of the triangle are the long ones.
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

function mirror({ size, fromRow, toRow, rho, overlap }: CorrelationRows, matrix: CorrelationMatrix): void {
  for (let i = fromRow, cell = 0; i < toRow; i++) {
    for (let j = i; j < size; j++, cell++) {
      matrix.rho[i * size + j] = matrix.rho[j * size + i] = rho[cell]!
      matrix.overlap[i * size + j] = matrix.overlap[j * size + i] = overlap[cell]!
    }
  }
}

// The dot products of all pairs of columns, four at a time: a loop with one sum would wait for it at every point.

/** Receives the dot product of columns `i < j`. */
type StoreDot = (i: number, j: number, dot: number) => void

/** Columns that each row is multiplied with at a time. */
const ABREAST = 4

/** Rows that go over the same columns while these are in the cache of a core. */
const NEAR_ROWS = 64

/**
 * The dot products of the first `rowCount` columns with every column after them: the first rows of the upper
 * triangle of the matrix of all products. A product is the sum over the points in order, bit for bit that of
 * a plain loop: it depends neither on other columns, nor on the order of the two, nor on the machine.
 */
function dotProducts(columns: readonly Float64Array[], rowCount: number, store: StoreDot): void {
  for (let from = 0; from < rowCount; from += NEAR_ROWS) {
    for (let j = from + 1; j < columns.length; j += ABREAST) {
      for (let i = from; i < Math.min(from + NEAR_ROWS, rowCount, j + ABREAST - 1); i++) {
        storeFour(columns, i, j, store)
      }
    }
  }
}

/** The products of column `i` with the columns from `j` on that come after it. */
function storeFour(columns: readonly Float64Array[], i: number, j: number, store: StoreDot): void {
  const x = columns[i]!
  const last = columns.length - 1
  const a = columns[j]!
  const b = columns[Math.min(j + 1, last)]!
  const c = columns[Math.min(j + 2, last)]!
  const d = columns[Math.min(j + 3, last)]!
  let [sumA, sumB, sumC, sumD] = [0, 0, 0, 0]
  for (let point = 0; point < x.length; point++) {
    const value = x[point]!
    sumA += value * a[point]!
    sumB += value * b[point]!
    sumC += value * c[point]!
    sumD += value * d[point]!
  }
  const sums = [sumA, sumB, sumC, sumD]
  for (let k = 0; k < ABREAST; k++) if (j + k > i && j + k <= last) store(i, j + k, sums[k]!)
}
