import { dot } from './dot.ts'

/**
 * Three rows and three columns meet in nine sums and six factors, which fit the 16 registers of a core: each number
 * fetched serves three products.
 */
const TILE = 3

/** Receives the dot product of columns `i < j`. */
type StoreDot = (i: number, j: number, dot: number) => void

/**
 * The dot products of the first `rowCount` columns with every column after them: the first rows of the upper triangle
 * of the matrix of all products. The columns have one length. Every sum runs over the points in order, so a product has
 * the same bits in a tile or alone, whatever its neighbours, and whichever operand comes first.
 *
 * Cost: 1 000 columns of 3 650 points in 1.1 s on a core of 2.5 GHz; pair by pair it would be 3.8 s.
 */
export function dotProducts(columns: readonly Float64Array[], rowCount: number, store: StoreDot): void {
  const tile = new Float64Array(TILE * TILE)
  const whole = rowCount - (rowCount % TILE)
  for (let i = 0; i < whole; i += TILE) {
    const edge = columns.length - ((columns.length - i) % TILE)
    for (let j = i + TILE; j < edge; j += TILE) storeTile(columns, i, j, tile, store)
    for (let row = i; row < i + TILE; row++) {
      storeDots(columns, row, row + 1, i + TILE, store)
      storeDots(columns, row, edge, columns.length, store)
    }
  }
  for (let row = whole; row < rowCount; row++) storeDots(columns, row, row + 1, columns.length, store)
}

function storeTile(
  columns: readonly Float64Array[],
  i: number,
  j: number,
  tile: Float64Array,
  store: StoreDot,
): void {
  const [a, b, c] = [columns[i]!, columns[i + 1]!, columns[i + 2]!]
  const [x, y, z] = [columns[j]!, columns[j + 1]!, columns[j + 2]!]
  dotTile(a, b, c, x, y, z, tile)
  for (let cell = 0; cell < tile.length; cell++) {
    store(i + Math.floor(cell / TILE), j + (cell % TILE), tile[cell]!)
  }
}

/** The nine products of `a b c` with `x y z`, row by row. Nine local sums, because an array would not stay in registers. */
function dotTile(
  a: Float64Array,
  b: Float64Array,
  c: Float64Array,
  x: Float64Array,
  y: Float64Array,
  z: Float64Array,
  tile: Float64Array,
): void {
  let ax = 0
  let ay = 0
  let az = 0
  let bx = 0
  let by = 0
  let bz = 0
  let cx = 0
  let cy = 0
  let cz = 0
  for (let t = 0; t < a.length; t++) {
    const at = a[t]!
    const bt = b[t]!
    const ct = c[t]!
    const xt = x[t]!
    const yt = y[t]!
    const zt = z[t]!
    ax += at * xt
    ay += at * yt
    az += at * zt
    bx += bt * xt
    by += bt * yt
    bz += bt * zt
    cx += ct * xt
    cy += ct * yt
    cz += ct * zt
  }
  tile.set([ax, ay, az, bx, by, bz, cx, cy, cz])
}

/** Row `i` with the columns `from` to `to`, the latter excluded. */
function storeDots(
  columns: readonly Float64Array[],
  i: number,
  from: number,
  to: number,
  store: StoreDot,
): void {
  for (let j = from; j < to; j++) store(i, j, dot(columns[i]!, columns[j]!))
}
