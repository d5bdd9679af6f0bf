// Rendering on a fleet: a task is a strategy, its input the part of the snapshot that its files are made from, and its result
// the lines of its files in the manifest.
import { z } from 'zod'
import { type Artifact, artifact } from '#core/contract/manifest.ts'
import { partOf } from '#core/dataset/part.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { countProgress } from '#core/progress.ts'
import { sidOf, strategyFolder } from '#static-build/render-point.ts'
import {
  bookTasks,
  inLanes,
  linesOf,
  type Renderer,
  type RenderOrder,
  sortLines,
  writePoints,
} from '#static-build/render-version.ts'
import { parseJson, toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { PhaseOrder } from './coordinate.ts'
import { pack, unpack } from './pack.ts'
import type { Handler } from './worker.ts'

export const renderHandler =
  (renderer: Renderer, store: ObjectStore): Handler =>
  async (input, { plan }) => {
    const rendered = await renderer.part({ part: unpack<Snapshot>(input), effort: plan.effort })
    return {
      bytes: toJsonBytes(linesOf(rendered)),
      write: () => writePoints(store, rendered),
    }
  }

/** Renders a version on a fleet: the files of the book here, those of strategies on workers. */
export async function renderOnFleet(
  run: (order: PhaseOrder) => Promise<unknown>,
  renderer: Renderer,
  order: RenderOrder,
): Promise<Artifact[]> {
  const { snapshot, store, progress } = order
  const count = countProgress(progress, 'render', order.points.length, 'artifacts')
  const lines: Artifact[][] = []
  let workers = ''
  const add = (more: Artifact[]): void => {
    lines.push(more)
    count(more.length, workers)
  }
  const points = Map.groupBy(order.points, sidOf)
  const { large, small } = bookTasks(order, renderer)
  await run({
    phase: 'render',
    unit: 'strategy',
    tasks: snapshot.strategies.map(({ id }, position) => ({
      id,
      input: () => pack(partOf(snapshot, position)),
    })),
    take: (id, { worker, bytes }, by) => {
      const found = z.array(artifact).parse(parseJson(bytes))
      const folder = `${strategyFolder(snapshot.dataset.version, id)}/`
      assertComplete(worker, found, folder, points.get(id)!.length)
      workers = by
      add(found)
    },
    beside: () =>
      inLanes([...large, ...small], renderer.lanes, async task =>
        add(await writePoints(store, await task())),
      ),
  })
  return sortLines(lines)
}

/** A line of each file of the strategy, and of no other. */
function assertComplete(worker: string, artifacts: readonly Artifact[], folder: string, count: number): void {
  const keys = new Set(artifacts.map(({ key }) => key).filter(key => key.startsWith(folder)))
  if (keys.size === count && artifacts.length === count) return
  throw new Error(
    `the worker ${worker} recorded ${keys.size} of the ${count} files in ${folder}: nothing was published; take it out of the ` +
      'fleet, and build under a new --run and a new --version',
  )
}
