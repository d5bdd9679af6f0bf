import { Tinypool } from 'tinypool'
import type { Effort } from '#core/contract/effort.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import type { SnapshotBytes } from '#core/dataset/snapshot-files.ts'
import type { Progress } from '#core/progress.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { batchPoints } from './batch-points.ts'
import { inLanes } from './in-lanes.ts'
import type { SizedPoint } from './published-points.ts'
import type { RenderedPoint } from './render-point.ts'
import type { RenderTask } from './render-worker.ts'
import { writePoint } from './write-point.ts'

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
 * Batches that wait for a disk or a network while the threads render the next ones. Enough to keep two cores busy on a
 * slow disk; bounded, because their bytes are in memory.
 */
const BATCHES_IN_WRITING = 8

/**
 * Renders every point on threads and writes its files from this one, whose event loop is free to; the lines of the
 * manifest come back by key, in whatever order the work ended.
 */
export async function renderVersion(order: RenderOrder): Promise<Artifact[]> {
  const { store, version, points, effort, threads } = order
  const snapshot = toShared(order.snapshot)
  const pool = createPool(threads)
  const tell = createCounter(order.progress, points.length)
  try {
    const artifacts = await inLanes(
      batchPoints(points, threads),
      threads + BATCHES_IN_WRITING,
      async batch => {
        const task: RenderTask = { version, snapshot, points: batch, effort }
        const rendered: RenderedPoint[] = await pool.run(task)
        for (const point of rendered) {
          await writePoint(store, point)
          tell()
        }
        return rendered.map(({ artifact }) => artifact)
      },
    )
    return artifacts.flat().sort((a, b) => (a.key < b.key ? -1 : 1))
  } finally {
    await pool.destroy()
  }
}

const createPool = (threads: number): Tinypool =>
  new Tinypool({
    filename: new URL('./render-worker.ts', import.meta.url).href,
    name: 'runTask',
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
  })

/** Tells that nothing is done, and one more at every call. */
function createCounter(progress: Progress, total: number): () => void {
  let done = 0
  const tell = () => progress({ step: 'render', done, total, unit: 'artifacts' })
  tell()
  return () => {
    done++
    tell()
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
