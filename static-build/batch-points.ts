import type { SizedPoint } from './published-points.ts'

/** Small enough that threads which share the batches end together. */
const BATCHES_A_THREAD = 64

/** The bytes of a batch are in memory together. */
const MOST_POINTS = 16

/**
 * Points in their order, in batches: one message to a thread costs as much as rendering a small answer, and a large book
 * has thousands. A batch is full with as much work as is fair, so a small book is rendered point by point.
 */
export function batchPoints(points: readonly SizedPoint[], threads: number): SizedPoint[][] {
  const fairCells = points.reduce((sum, { cells }) => sum + cells, 0) / (threads * BATCHES_A_THREAD)
  const batches: SizedPoint[][] = []
  let batch: SizedPoint[] = []
  let cells = 0
  for (const point of points) {
    if (batch.length > 0 && (batch.length === MOST_POINTS || cells + point.cells > fairCells)) {
      batches.push(batch)
      batch = []
      cells = 0
    }
    batch.push(point)
    cells += point.cells
  }
  return batch.length === 0 ? batches : [...batches, batch]
}
