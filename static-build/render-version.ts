import { Tinypool } from 'tinypool'
import type { Effort } from '#core/contract/effort.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import type { SnapshotBytes } from '#core/dataset/snapshot-files.ts'
import type { Progress } from '#core/progress.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { writeOnce } from '#storage/write-once.ts'
import type { SizedPoint } from './published-points.ts'
import type { RenderedPoint } from './render-point.ts'
import type { RenderTask } from './render-worker.ts'

/** What a static build renders and where to. */
export type RenderOrder = {
  readonly store: ObjectStore
  readonly version: string
  /** In the order of the work: the largest first. */
  readonly points: readonly SizedPoint[]
  readonly snapshot: SnapshotBytes
  readonly effort: Effort
  readonly threads: number
  readonly progress: Progress
}

/**
 * Batches that wait for a disk or a network while the threads render the next ones. Enough to keep two cores
 * busy on a slow disk; bounded, because their bytes are in memory.
 */
const BATCHES_IN_WRITING = 8

/**
 * Renders every point on threads and writes its files from this one, whose event loop is free to; the lines
 * of the manifest come back by key, in whatever order the work ended.
 */
export async function renderVersion(order: RenderOrder): Promise<Artifact[]> {
  const { store, version, points, effort, threads } = order
  const snapshot = toShared(order.snapshot)
  const pool = new Tinypool({
    filename: new URL('./render-worker.ts', import.meta.url).href,
    name: 'runTask',
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
  })
  let done = 0
  const count = () =>
    order.progress({ step: 'render', done: done++, total: points.length, unit: 'artifacts' })
  count() // none yet
  try {
    const artifacts = await inLanes(
      batchPoints(points, threads),
      threads + BATCHES_IN_WRITING,
      async batch => {
        const task: RenderTask = { version, snapshot, points: batch, effort }
        const rendered: RenderedPoint[] = await pool.run(task)
        for (const point of rendered) {
          await writePoint(store, point)
          count()
        }
        return rendered.map(({ artifact }) => artifact)
      },
    )
    return artifacts.flat().sort((a, b) => (a.key < b.key ? -1 : 1))
  } finally {
    await pool.destroy()
  }
}

/** The same bytes on memory that threads share. */
const toShared = (snapshot: SnapshotBytes): SnapshotBytes => {
  const entries = Object.entries(snapshot).map(([file, bytes]) => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    return [file, shared]
  })
  return Object.fromEntries(entries) as SnapshotBytes // the same keys
}

/** Small enough that threads which share the batches end together. */
const BATCHES_A_THREAD = 64

/** The bytes of a batch are in memory together. */
const MOST_POINTS = 16

/**
 * Points in their order, in batches: one message to a thread costs as much as rendering a small answer, and a
 * large book has thousands. A batch is full with as much work as is fair, so a small book goes point by
 * point.
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

/**
 * Runs `run` on every item in order, on at most `lanes` at a time, and returns the results in the order in
 * which they came. After a failure no new item is started; the running ones end, then the first error is
 * thrown.
 */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const failures: unknown[] = []
  const rest = items.values() // shared: each lane takes the next
  const drive = async (): Promise<void> => {
    for (const item of rest) {
      if (failures.length > 0) return
      try {
        results.push(await run(item))
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, drive))
  if (failures.length > 0) throw failures[0]
  return results
}

/**
 * Writes the files of a point, at the same time: each is flushed by itself, and a store flushes several
 * together in the time of one. The manifest is written after all points, so their order does not matter.
 * Resolves or rejects when all of them have ended.
 */
export async function writePoint(store: ObjectStore, { files }: RenderedPoint): Promise<void> {
  const writes = await Promise.allSettled(
    files.map(({ key, bytes, headers }) => writeOnce(store, key, bytes, headers)),
  )
  for (const write of writes) if (write.status === 'rejected') throw write.reason
}
