import { Tinypool } from 'tinypool'
import type { Artifact } from '#core/contract/manifest.ts'
import { canonicalPoints, ROUTES } from '#core/contract/routes.ts'
import type { Progress } from '#core/progress.ts'
import { isResource } from '#core/resources/resources.ts'
import type { SnapshotBytes } from '#core/snapshot/snapshot-files.ts'
import type { Point } from './render-point.ts'
import type { RenderTask } from './render-worker.ts'

/** What a static build renders and where to. */
export type RenderOrder = {
  readonly storeUrl: string
  readonly version: string
  readonly strategies: readonly string[]
  readonly snapshot: SnapshotBytes
  readonly threads: number
  readonly progress: Progress
}

/** Renders every resource at every canonical point on worker threads; the lines of the manifest come back by key. */
export async function renderVersion(order: RenderOrder): Promise<Artifact[]> {
  const tasks = toTasks(order)
  const pool = new Tinypool({
    filename: new URL('./render-worker.ts', import.meta.url).href,
    name: 'renderPoints',
    minThreads: order.threads,
    maxThreads: order.threads,
    concurrentTasksPerWorker: 1,
  })
  const total = tasks.reduce((sum, { points }) => sum + points.length, 0)
  let done = 0
  const tell = () => order.progress({ step: 'render', done, total, unit: 'artifacts' })
  tell()
  const run = async (task: RenderTask & { version: string }): Promise<Artifact[]> => {
    const artifacts: Artifact[] = await pool.run(task)
    done += artifacts.length
    tell()
    return artifacts
  }
  try {
    const rendered = await Promise.all(tasks.map(run))
    return rendered.flat().sort((a, b) => (a.key < b.key ? -1 : 1))
  } finally {
    await pool.destroy()
  }
}

/**
 * The points of the whole book one by one and first, because the export is the longest piece of work and must not
 * be the last; then a task for each strategy.
 */
function toTasks({ storeUrl, version, strategies, snapshot }: RenderOrder) {
  const common = { storeUrl, version, snapshot: toShared(snapshot) }
  const ofBook = points(strategies, 'book').map(point => ({ ...common, points: [point] }))
  const ofStrategies = strategies.map(id => ({ ...common, points: points([id], 'strategy') }))
  return [...ofBook.reverse(), ...ofStrategies] // the export stands last in the route table
}

const points = (ids: readonly string[], kind: 'book' | 'strategy'): Point[] =>
  ROUTES.filter(route => route.kind === kind).flatMap(route => {
    const { id } = route
    return isResource(id) ? canonicalPoints(route, ids).map(params => ({ id, params })) : []
  })

/** The same bytes on memory that threads share. */
const toShared = (snapshot: SnapshotBytes): SnapshotBytes => {
  const entries = Object.entries(snapshot).map(([file, bytes]) => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    return [file, shared]
  })
  return Object.fromEntries(entries) as SnapshotBytes // the same keys
}
