// The dot products of all pairs of columns, by a WebAssembly kernel that multiplies eight columns with eight
// others, two sums in each of its registers. WebAssembly has the same arithmetic on every machine, so the
// published bytes do not depend on where they were made; fused products would be faster, but differ between
// machines and are not used.
//
// Why a kernel: the correlations of 1 000 series of 3 650 points take 0.25 s of processor time; a plain
// TypeScript loop, which waits for each sum, takes 2.4 s for the products alone (2026-11-22,
// bench/results.md, "Kernels"). Measure it again with `make bench PART=kernels`.
import {
  advance,
  compile,
  f64x2,
  functionOn,
  I32,
  i32,
  local,
  loop,
  repeatIf,
  V128,
  v128,
} from './wasm-code.ts'

/** Receives the dot product of columns `i < j`. */
type StoreDot = (i: number, j: number, dot: number) => void

/** The columns to multiply: `column(i)` is called once for each `i`, in order, and may reuse its array. */
export type Columns = {
  readonly count: number
  readonly length: number
  readonly column: (i: number) => Float64Array
}

/** Points of a panel that are processed at a time: two panels of that many points fit in the L1 cache. */
const NEAR_POINTS = 192

/** Panels that all rows are multiplied with at a time: that many fit in the L2 cache. */
const NEAR_PANELS = 16

/** Columns of a panel, interleaved point by point: one point of all eight fills a cache line. */
const PANEL_COLUMNS = 8

/** Sums of two panels, row by row. */
const PANEL_SUMS = PANEL_COLUMNS * PANEL_COLUMNS

/** Points of one turn of the innermost loop. Panels are padded with zeros, which change no sum. */
const TURN_POINTS = 8

const PAGE_BYTES = 1 << 16
const NUMBER_BYTES = 8
const REGISTER_BYTES = 16
const POINT_BYTES = PANEL_COLUMNS * NUMBER_BYTES

/**
 * The dot products of the first `rowCount` columns with every column after them: the first rows of the upper
 * triangle of the matrix of all products. A product is the sum over the points in order, bit for bit that of
 * a plain loop: it depends neither on other columns, nor on the order of the two, nor on the machine.
 *
 * Cost: a copy of the columns in memory, and eight bytes per cell of the rows.
 */
export function dotProducts(columns: Columns, rowCount: number, store: StoreDot): void {
  const layout = layOut(columns, rowCount)
  const memory = new WebAssembly.Memory({ initial: Math.ceil(layout.bytes / PAGE_BYTES) })
  const numbers = new Float64Array(memory.buffer)
  for (let i = 0; i < columns.count; i++) interleave(columns.column(i), i, layout, numbers)
  addAll(layout, createAddPanels(memory))
  storeSums(layout, numbers, columns.count, rowCount, store)
}

/**
 * The memory: the columns in panels of eight, and after them the sums of each pair of panels. The last panel
 * is padded with columns of zeros, and each panel with points of zeros.
 */
type Layout = {
  readonly panels: number
  readonly points: number
  /** Panels that have rows of the result. */
  readonly rowPanels: number
  /** Address of the first sum. */
  readonly sums: number
  readonly bytes: number
}

function layOut({ count, length }: Columns, rowCount: number): Layout {
  const panels = Math.ceil(count / PANEL_COLUMNS)
  const points = Math.ceil(length / TURN_POINTS) * TURN_POINTS
  const rowPanels = Math.ceil(rowCount / PANEL_COLUMNS)
  const sums = panels * points * POINT_BYTES
  return { panels, points, rowPanels, sums, bytes: sums + rowPanels * panels * PANEL_SUMS * NUMBER_BYTES }
}

function interleave(column: Float64Array, i: number, { points }: Layout, numbers: Float64Array): void {
  const lane = i % PANEL_COLUMNS
  const first = (i - lane) * points + lane
  for (let point = 0; point < column.length; point++) {
    numbers[first + point * PANEL_COLUMNS] = column[point]!
  }
}

/** Some points of some panels at a time; in between, the sums are kept in memory at full precision. */
function addAll(layout: Layout, addPanels: AddPanels): void {
  for (let point = 0; point < layout.points; point += NEAR_POINTS) {
    const pointEnd = Math.min(point + NEAR_POINTS, layout.points)
    for (let panel = 0; panel < layout.panels; panel += NEAR_PANELS) {
      const panelEnd = Math.min(panel + NEAR_PANELS, layout.panels)
      addNear(layout, addPanels, point, pointEnd, panel, panelEnd)
    }
  }
}

/** Panels that are wholly below the diagonal are skipped. */
function addNear(
  { panels, points, rowPanels, sums }: Layout,
  addPanels: AddPanels,
  point: number,
  pointEnd: number,
  panelFrom: number,
  panelEnd: number,
): void {
  const bytes = (pointEnd - point) * POINT_BYTES
  for (let row = 0; row < rowPanels; row++) {
    const rows = (row * points + point) * POINT_BYTES
    for (let panel = Math.max(panelFrom, row); panel < panelEnd; panel++) {
      const theirs = (panel * points + point) * POINT_BYTES
      addPanels(rows, theirs, rows + bytes, sums + (row * panels + panel) * PANEL_SUMS * NUMBER_BYTES)
    }
  }
}

/** The sums above the diagonal. */
function storeSums(
  { panels, sums }: Layout,
  numbers: Float64Array,
  count: number,
  rowCount: number,
  store: StoreDot,
): void {
  for (let i = 0; i < rowCount; i++) {
    const lane = i % PANEL_COLUMNS
    const first = sums / NUMBER_BYTES + (i - lane) * panels * PANEL_COLUMNS + lane * PANEL_COLUMNS
    for (let j = i + 1; j < count; j++) {
      const column = j % PANEL_COLUMNS
      store(i, j, numbers[first + (j - column) * PANEL_COLUMNS + column]!)
    }
  }
}

/**
 * Adds the products of the columns of two panels, which may be the same, to the sums at `sums`, in the order
 * of the points. The points are those of one panel from address `rows` to before `end`, and as many of the
 * other from `panel`.
 */
type AddPanels = (rows: number, panel: number, end: number, sums: number) => void

let compiled: WebAssembly.Module | null = null

function createAddPanels(memory: WebAssembly.Memory): AddPanels {
  compiled ??= compile({
    parameters: 4,
    results: 0,
    locals: [
      [3, I32],
      [TILE.length + FACTORS.length + 1, V128],
    ],
    code: addPanelsCode(),
  })
  return functionOn(compiled, memory)
}

/**
 * Rows that are multiplied with the other panel at a time: their sums and factors stay in the 15 registers
 * that V8 uses.
 */
const TILE_ROWS = 2

const [rows, panel, end, sums] = [local(0), local(1), local(2), local(3)]
const [sumsEnd, rowPointer, panelPointer] = [local(4), local(5), local(6)]

/** Registers of a point of the panel, of the sums of a tile, and of a number of a row. */
const FACTORS = Array.from({ length: POINT_BYTES / REGISTER_BYTES }, (_, i) => local(7 + i))
const TILE = Array.from({ length: TILE_ROWS * FACTORS.length }, (_, i) => local(7 + FACTORS.length + i))
const value = local(7 + FACTORS.length + TILE.length)

const addPanelsCode = (): number[] => [
  ...sumsEnd.set(i32.add(sums.get, i32.constant(PANEL_SUMS * NUMBER_BYTES))),
  ...loop([...addTile(), ...repeatIf(0, i32.below(sums.get, sumsEnd.get))]),
]

/** Two rows with the whole panel; then the pointers move to the next two. */
const addTile = (): number[] => [
  ...rowPointer.set(rows.get),
  ...panelPointer.set(panel.get),
  ...TILE.flatMap((sum, i) => sum.set(v128.load(sums.get, i * REGISTER_BYTES))),
  ...loop([
    ...Array.from({ length: TURN_POINTS }, (_, point) => addProducts(point * POINT_BYTES)).flat(),
    ...advance(panelPointer, i32.constant(TURN_POINTS * POINT_BYTES)),
    ...advance(rowPointer, i32.constant(TURN_POINTS * POINT_BYTES)),
    ...repeatIf(0, i32.below(rowPointer.get, end.get)),
  ]),
  ...TILE.flatMap((sum, i) => v128.store(sums.get, sum.get, i * REGISTER_BYTES)),
  ...advance(rows, i32.constant(TILE_ROWS * NUMBER_BYTES)),
  ...advance(end, i32.constant(TILE_ROWS * NUMBER_BYTES)),
  ...advance(sums, i32.constant(TILE.length * REGISTER_BYTES)),
]

/** The products of one point: the eight numbers of the panel are loaded once for all rows. */
const addProducts = (offset: number): number[] => [
  ...FACTORS.flatMap((factor, i) => factor.set(v128.load(panelPointer.get, offset + i * REGISTER_BYTES))),
  ...TILE.flatMap((sum, i) => [
    ...(i % FACTORS.length === 0
      ? value.set(v128.load64Twice(rowPointer.get, offset + (i / FACTORS.length) * NUMBER_BYTES))
      : []),
    ...sum.set(f64x2.add(sum.get, f64x2.multiply(value.get, FACTORS[i % FACTORS.length]!.get))),
  ]),
]
