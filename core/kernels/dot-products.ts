import { type AddPanels, createAddPanels, PANEL_COLUMNS, PANEL_SUMS, TURN_POINTS } from './dot-kernel.ts'

/** Receives the dot product of columns `i < j`. */
type StoreDot = (i: number, j: number, dot: number) => void

/** The columns that are multiplied: `column(i)` is asked for once for each `i`, in order, and may reuse its array. */
export type Columns = {
  readonly count: number
  readonly length: number
  readonly column: (i: number) => Float64Array
}

/** Points of a panel that are met before the next ones: two panels of so many stay in the nearest cache of a core. */
const NEAR_POINTS = 192

/** Panels that are met by all rows before the next ones: as many as stay in the second cache. */
const NEAR_PANELS = 16

const PAGE_BYTES = 1 << 16
const NUMBER_BYTES = 8
const POINT_BYTES = PANEL_COLUMNS * NUMBER_BYTES

/**
 * The dot products of the first `rowCount` columns with every column after them: the first rows of the upper triangle
 * of the matrix of all products. A product is the sum over the points in order, to the bit that of a plain loop: it
 * is the same whatever its neighbours, whichever operand comes first, and on every machine.
 *
 * Cost: the columns once more in memory, and eight bytes a cell of the rows; about a seventh of the time of a plain
 * loop, which waits for each sum (bench/results.md). Nearly all of it is two arithmetic operations a cycle.
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
 * The memory: the columns in panels of eight, panel by panel, and behind them the sums of each two panels. The last
 * panel is filled up with columns of zeros, and each panel with points of zeros.
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

/** Near points of near panels at a time: in between, the sums wait in memory with all their bits. */
function addAll(layout: Layout, addPanels: AddPanels): void {
  for (let point = 0; point < layout.points; point += NEAR_POINTS) {
    const pointEnd = Math.min(point + NEAR_POINTS, layout.points)
    for (let panel = 0; panel < layout.panels; panel += NEAR_PANELS) {
      const panelEnd = Math.min(panel + NEAR_PANELS, layout.panels)
      addNear(layout, addPanels, point, pointEnd, panel, panelEnd)
    }
  }
}

/** Panels that are all on the other side of the diagonal are left out. */
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
