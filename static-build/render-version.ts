import pMap, { pMapSkip } from 'p-map'
import { Tinypool } from 'tinypool'
import { manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import type { Artifact, Effort } from '#core/contract/manifest.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import type { SnapshotBytes } from '#core/dataset/snapshot-files.ts'
import { countProgress, type Progress } from '#core/progress.ts'
import { beginBatch } from '#storage/folder-batch.ts'
import { type ObjectStore, writeOnce } from '#storage/object-store.ts'
import { type Point, type RenderedPoint, sidOf } from './render-point.ts'
import type { BookTask, PartTask, StrategyTask } from './render-worker.ts'

export type RenderOrder = {
  readonly store: ObjectStore
  readonly points: readonly Point[]
  readonly snapshot: Snapshot
  /** The same snapshot, encoded, on memory that threads share. */
  readonly bytes: SnapshotBytes
  readonly effort: Effort
  readonly threads: number
  readonly progress: Progress
}

/** Tasks that wait for a disk or a network while the threads render: enough for two cores and a slow disk, few in memory. */
const TASKS_IN_WRITING = 8

/**
 * Renders every point on threads; the lines of the manifest come back by key, in whatever order the work ended. In a
 * folder the threads write the folder of each strategy, because nobody reads it before the manifest is there. All other files
 * are written from this thread, whose event loop is free to.
 */
export async function renderVersion(order: RenderOrder): Promise<Artifact[]> {
  const { store, snapshot } = order
  const { version } = snapshot.dataset
  const renderer = createRenderer(order.threads)
  try {
    const isThere = await store.has(manifestKey(version))
    const endBatch = isThere ? null : await beginBatch(store, versionFolder(version))
    const count = countProgress(order.progress, 'render', order.points.length, 'artifacts')
    const { large, small } = bookTasks(order, renderer)
    const whole = { version, snapshot: order.bytes, effort: order.effort, placeIn: endBatch && store.url }
    const own = snapshot.strategies.map((_, position) => () => renderer.strategy({ ...whole, position }))
    const tasks = [...large, ...own, ...small]
    const artifacts = await inLanes(tasks, renderer.lanes, async run => {
      const lines = await writePoints(store, await run())
      count(lines.length)
      return lines
    })
    await endBatch?.()
    return sortLines(artifacts)
  } finally {
    await renderer.close()
  }
}

export type Renderer = ReturnType<typeof createRenderer>

/** Threads that render: of a build, or of a worker of a fleet. */
export function createRenderer(threads: number) {
  const pool = new Tinypool({
    filename: new URL('./render-worker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
  })
  return {
    /** Tasks at a time that keep the threads busy while files are written. */
    lanes: threads + TASKS_IN_WRITING,
    strategy: (task: StrategyTask): Promise<RenderedPoint[]> => pool.run(task, { name: 'renderStrategy' }),
    part: (task: PartTask): Promise<RenderedPoint[]> => pool.run(task, { name: 'renderPart' }),
    book: (task: BookTask): Promise<RenderedPoint[]> => pool.run(task, { name: 'renderBook' }),
    close: () => pool.destroy(),
  }
}

/** Answers that grow with the book. */
const isLarge = (point: Point): boolean =>
  point.kind === 'answer' && (point.id === 'export' || point.id === 'correlation')

/** A task for each point that is about the book. The large ones go first: threads end together if the last pieces are small. */
export function bookTasks({ points, snapshot: { dataset }, bytes, effort }: RenderOrder, renderer: Renderer) {
  const ofBook = points.filter(point => sidOf(point) === '')
  const { large = [], small = [] } = Object.groupBy(ofBook, point => (isLarge(point) ? 'large' : 'small'))
  const whole = { version: dataset.version, snapshot: bytes, effort }
  const toTask = (point: Point) => () => renderer.book({ ...whole, point })
  return { large: large.map(toTask), small: small.map(toTask) }
}

export const sortLines = (artifacts: readonly (readonly Artifact[])[]): Artifact[] =>
  artifacts.flat().sort((a, b) => (a.key < b.key ? -1 : 1))

/**
 * Runs `run` on every item, on at most `lanes` at a time, which begin in order. After a failure no new item is started; the
 * running ones end, then the error of the first item that failed is thrown: which one that is does not depend on load.
 */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const failures = new Map<number, unknown>()
  const attempt = async (item: Item, index: number) => {
    try {
      return failures.size > 0 ? pMapSkip : await run(item)
    } catch (error) {
      failures.set(index, error)
      return pMapSkip
    }
  }
  const results = await pMap(items, attempt, { concurrency: lanes })
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()))
  return results
}

/**
 * Writes the files of points at the same time, and returns their lines of the manifest. Each is flushed by itself, and a
 * store flushes several together in the time of one. The manifest is written after all points, so their order does not
 * matter. Resolves or rejects when all of them have ended.
 */
export async function writePoints(store: ObjectStore, rendered: readonly RenderedPoint[]) {
  const files = rendered.flatMap(point => point.files)
  await inLanes(files, Infinity, ({ key, bytes, headers }) => writeOnce(store, key, bytes, headers))
  return linesOf(rendered)
}

export const linesOf = (rendered: readonly RenderedPoint[]): Artifact[] =>
  rendered.map(({ artifact }) => artifact)
