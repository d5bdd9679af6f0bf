// The dot products of all pairs of columns, four at a time: a loop with one sum would wait for it at every point.

/** Receives the dot product of columns `i < j`. */
type StoreDot = (i: number, j: number, dot: number) => void

/** The columns to multiply: `column(i)` is called once for each `i`, in order, and may reuse its array. */
export type Columns = {
  readonly count: number
  readonly length: number
  readonly column: (i: number) => Float64Array
}

/** Columns that each row is multiplied with at a time. */
const ABREAST = 4

/** Rows that go over the same columns while these are in the cache of a core. */
const NEAR_ROWS = 64

/**
 * The dot products of the first `rowCount` columns with every column after them: the first rows of the upper
 * triangle of the matrix of all products. A product is the sum over the points in order, bit for bit that of
 * a plain loop: it depends neither on other columns, nor on the order of the two, nor on the machine.
 *
 * Cost: a copy of the columns in memory.
 */
export function dotProducts({ count, column }: Columns, rowCount: number, store: StoreDot): void {
  const columns = Array.from({ length: count }, (_, i) => column(i).slice())
  for (let from = 0; from < rowCount; from += NEAR_ROWS) {
    for (let j = from + 1; j < count; j += ABREAST) {
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
