// The coordinator of a fleet: cuts the work into parts, waits for the lines of all of them, and checks the workers.
import { versionFolder } from '#core/contract/artifacts.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { partOf } from '#core/dataset/part.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { sha256 } from '#storage/digest.ts'
import { sidOf } from '../published-points.ts'
import type { Point } from '../render-point.ts'
import {
  bookTasks,
  createCount,
  inLanes,
  linesOf,
  type Renderer,
  type RenderOrder,
  sortLines,
  writePoints,
} from '../render-version.ts'
import {
  type Lines,
  listRendered,
  type Plan,
  type PlannedStrategy,
  REQUESTS,
  readEnd,
  readLines,
  savePart,
  savePlan,
} from './run-files.ts'
import { digestOf, type Run, renderPart, renderStrategy, type Worker } from './worker.ts'

/** The jobs of a run: a cache of the work, which may lose all of it. */
export type Jobs = {
  /** Adds a job for each strategy that has none. */
  readonly add: (run: string, ids: readonly string[]) => Promise<void>
  /** The strategies of a run whose jobs failed for good, and why. */
  readonly failures: (run: string) => Promise<readonly { readonly id: string; readonly why: string }[]>
}

export type Fleet = {
  readonly run: string
  readonly code: string
  /** The name of this process. */
  readonly name: string
  readonly renderer: Renderer
  /** Null if workers take static shares. */
  readonly jobs: Jobs | null
  /** If no strategy is finished for so long, the coordinator renders the missing ones itself. */
  readonly waitMs: number
  readonly elapsed: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly note: (line: string) => void
  /** Called at the end with the number of strategies that each worker rendered. */
  readonly finished: (workers: Readonly<Record<string, number>>) => void
}

/** How often the store is asked which strategies are rendered. */
const LOOK_MS = 500

/** How often jobs that were lost are added again. */
const ADD_AGAIN_MS = 10_000

/**
 * Renders a version on a fleet: the files of the book here, those of strategies on workers. Throws if a worker wrote other
 * bytes than another or than this process. The same run may be started again after any end.
 */
export async function renderOnFleet(fleet: Fleet, order: RenderOrder): Promise<Artifact[]> {
  const { store, privateStore } = order
  const worker: Worker = { ...fleet, store, privateStore }
  const beside = createBeside()
  const count = createCount(order, 'render')
  const run = { name: fleet.run, plan: await makePlan(fleet, order, worker) }
  const book: Artifact[][] = []
  const take = (lines: Artifact[]): void => {
    book.push(lines)
    count(lines.length)
  }
  beside.start(renderBook(order, worker, take))
  const points = Map.groupBy(order.points, sidOf)
  const lines = await collectLines({ fleet, points, worker, run, count, beside }).finally(beside.ended)
  beside.assertSound()
  await checkWorkers(worker, run, lines)
  fleet.finished(countWorkers(lines))
  return sortLines([...book, ...[...lines.values()].map(({ artifacts }) => artifacts)])
}

/** Work beside the collecting of lines, which ends if some of it fails. */
function createBeside() {
  const works: Promise<void>[] = []
  const faults: unknown[] = []
  return {
    start(work: Promise<unknown>): void {
      const fail = (error: unknown): void => void faults.push(error)
      works.push(work.then(() => {}, fail))
    },
    /** Throws the first error. */
    assertSound(): void {
      if (faults.length > 0) throw faults[0]
    },
    /** Resolves when all of it has ended, however that was. */
    ended: (): Promise<unknown> => Promise.all(works),
  }
}

const renderBook = (order: RenderOrder, { renderer }: Worker, take: (lines: Artifact[]) => void) =>
  inLanes(bookTasks(order, renderer), renderer.lanes, async ({ run }) =>
    take(await writePoints(order.store, await run())),
  )

/** Stores the parts and then the plan, which is the beginning of the run. */
async function makePlan({ run, code }: Fleet, order: RenderOrder, worker: Worker): Promise<Plan> {
  const { privateStore, snapshot, effort } = order
  const { version } = snapshot.dataset
  const over = await readEnd(privateStore, run)
  if (over !== null)
    throw new Error(`the run ${run} is over, it published ${over}: name another one in --run`)
  const digests = new Map<string, string>()
  await inLanes([...snapshot.strategies.entries()], REQUESTS, async ([position, { id }]) => {
    digests.set(id, await savePart(privateStore, run, encodeSnapshot(partOf(snapshot, position))))
  })
  const strategies = snapshot.strategies.map(({ id }) => ({ id, part: digests.get(id)! }))
  const draft: Plan = { plan_version: 1, version, effort, code, canary: '', strategies }
  const canary = await renderedLines(worker, { name: run, plan: draft }, strategies[0]!)
  const plan = { ...draft, canary: digestOf(canary) }
  if (await savePlan(privateStore, run, plan)) return plan
  throw new Error(
    `the run ${run} has the plan of another build: name another one in --run, or use the code, the book, the --version and the ` +
      '--effort that it was started with',
  )
}

/** The lines of a strategy as this process renders it; the run is under way. */
const renderedLines = async (worker: Worker, run: Run, strategy: PlannedStrategy): Promise<Artifact[]> =>
  linesOf((await renderPart(worker, run, strategy))!)

type Collecting = {
  readonly fleet: Fleet
  /** Those of each strategy. */
  readonly points: ReadonlyMap<string, readonly Point[]>
  readonly worker: Worker
  readonly run: Run
  readonly count: (more: number) => void
  readonly beside: ReturnType<typeof createBeside>
}

type Missing = Map<string, PlannedStrategy>

/** Waits until every strategy is rendered, and returns the lines of each. */
async function collectLines(collecting: Collecting): Promise<ReadonlyMap<string, Lines>> {
  const { fleet, run, beside } = collecting
  const missing: Missing = new Map(run.plan.strategies.map(strategy => [strategy.id, strategy]))
  const lines = new Map<string, Lines>()
  const share = createSharing(collecting)
  for (;;) {
    beside.assertSound()
    const found = await findLines(collecting, missing)
    for (const [id, of] of found) lines.set(id, of)
    if (missing.size === 0) return lines
    await share(missing, found.size > 0)
    await fleet.pause(LOOK_MS)
  }
}

/** The lines of strategies that were missing and are not any more. */
async function findLines({ points, worker, run, count }: Collecting, missing: Missing) {
  const { privateStore } = worker
  const rendered = (await listRendered(privateStore, run.name)).filter(id => missing.delete(id))
  const found = await inLanes(rendered, REQUESTS, async id => {
    const lines = await readLines(privateStore, run.name, id)
    assertComplete(lines, `${versionFolder(run.plan.version)}/strategies/${id}/`, points.get(id)!.length)
    count(lines.artifacts.length)
    return [id, lines] as const
  })
  return new Map(found)
}

/**
 * What the coordinator does about missing strategies each time that it looks: it adds their jobs, again if they were lost,
 * and if no strategy was finished for too long it renders all of them itself, from the end, where no worker has begun.
 */
function createSharing({ fleet, worker, run, beside }: Collecting) {
  const { elapsed, waitMs, jobs } = fleet
  let finishedMs = elapsed()
  let addMs = elapsed()
  let isHelping = false
  return async (missing: Missing, isProgress: boolean): Promise<void> => {
    const now = elapsed()
    if (isProgress) finishedMs = now
    if (!isHelping && now - finishedMs >= waitMs) {
      isHelping = true
      noteHelp(fleet, missing.size)
      const render = (strategy: PlannedStrategy) => renderStrategy(worker, run, strategy)
      beside.start(inLanes([...missing.values()].reverse(), worker.renderer.lanes, render))
    }
    if (jobs === null) return
    if (now >= addMs) {
      addMs = now + ADD_AGAIN_MS
      await jobs.add(run.name, [...missing.keys()])
    }
    assertNoFailure(await jobs.failures(run.name), run)
  }
}

const noteHelp = ({ note, waitMs, code }: Fleet, missing: number): void =>
  note(
    `note: no worker with code ${code} finished a strategy for ${waitMs / 1_000} s: this machine renders the other ${missing}`,
  )

function assertNoFailure([first, ...others]: Awaited<ReturnType<Jobs['failures']>>, { name }: Run): void {
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` (and ${others.length} other strategies)`
  throw new Error(
    `no worker could render ${first.id}${more}: ${first.why}; nothing was published; the same command continues the run ${name}`,
  )
}

/** A line of each file of the strategy, and of no other. */
function assertComplete({ worker, artifacts }: Lines, folder: string, count: number): void {
  const keys = new Set(artifacts.map(({ key }) => key).filter(key => key.startsWith(folder)))
  if (keys.size === count && artifacts.length === count) return
  throw new Error(
    `the worker ${worker} recorded ${keys.size} of the ${count} files in ${folder}: nothing was published; take it out of the ` +
      'fleet, and build under a new --version',
  )
}

/** Of all strategies this share is rendered again, beside one of each worker. */
const CHECKED_SHARE = 0.01

/**
 * Renders some strategies again and compares their lines. Which ones follows from the version and their names, so that no
 * worker decides it.
 */
async function checkWorkers(worker: Worker, run: Run, lines: ReadonlyMap<string, Lines>): Promise<void> {
  const { version, strategies } = run.plan
  const drawn = strategies
    .map(strategy => ({ strategy, draw: sha256(new TextEncoder().encode(`${version} ${strategy.id}`)) }))
    .toSorted((a, b) => (a.draw < b.draw ? -1 : 1))
    .map(({ strategy }) => strategy)
  const ofEach = Map.groupBy(drawn, ({ id }) => lines.get(id)!.worker)
  ofEach.delete(worker.name)
  const checked = new Set([
    ...[...ofEach.values()].map(([first]) => first!),
    ...drawn.slice(0, Math.ceil(CHECKED_SHARE * drawn.length)),
  ])
  await inLanes([...checked], worker.renderer.lanes, async strategy => {
    const found = lines.get(strategy.id)!
    if (digestOf(await renderedLines(worker, run, strategy)) === digestOf(found.artifacts)) return
    throw new Error(
      `the worker ${found.worker} rendered ${strategy.id} to other bytes than this machine: nothing was published; find out which ` +
        `of the two is wrong, remove ${versionFolder(version)}/ from the store, and build under a new --version`,
    )
  })
}

function countWorkers(lines: ReadonlyMap<string, Lines>): Readonly<Record<string, number>> {
  const of = Map.groupBy(lines.values(), ({ worker }) => worker)
  return Object.fromEntries([...of].map(([name, each]) => [name, each.length]))
}
