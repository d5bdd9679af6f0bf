// The coordinator of a fleet: gives the tasks of a phase to workers, collects their results, and checks the workers.
import { toIsoInstant } from '#core/calendar.ts'
import type { Effort } from '#core/contract/manifest.ts'
import { inLanes } from '#static-build/render-version.ts'
import { sha256 } from '#storage/digest.ts'
import { messageOf } from '#storage/error-code.ts'
import { saveFleetProgress } from '#storage/fleet-progress.ts'
import type { Jobs } from './queue.ts'
import {
  listDone,
  type Phase,
  type Plan,
  REQUESTS,
  type Result,
  readEnd,
  readResult,
  saveInput,
  savePlan,
  type Task,
} from './run-files.ts'
import { doTask, makeTask, type Run, type Worker } from './worker.ts'

/** A coordinator does tasks, too: the first of each phase, those that it checks, and those that nobody else does. */
export type Fleet = Worker & {
  readonly run: string
  readonly version: string
  readonly effort: Effort
  /** A cache of the work, which may lose all of it; null if workers take static shares. */
  readonly jobs: Pick<Jobs, 'add' | 'failures'> | null
  /** If no task is finished for so long, the coordinator does the missing ones itself. */
  readonly waitMs: number
  readonly elapsed: () => number
  readonly now: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly note: (line: string) => void
}

export type PhaseOrder = {
  readonly phase: Phase
  /** What a task is called in messages. */
  readonly unit: 'strategy' | 'block'
  readonly tasks: readonly { readonly id: string; readonly input: () => Uint8Array }[]
  /** Takes each result when it is there, in any order; throws if it cannot be one. `by` follows what a progress bar counts. */
  readonly take: (id: string, result: Result, by: string) => void
  /** Work of this process beside, whose failure ends the phase. It begins when workers can: before, they would wait for the canary. */
  readonly beside?: () => Promise<unknown>
}

/** How many tasks of a phase each worker has done. */
export type Counts = Readonly<Record<string, number>>

const LOOK_MS = 500

/** How often jobs that were lost are added again. */
const ADD_AGAIN_MS = 10_000

/**
 * Does the tasks of a phase on workers. Throws if a worker made other bytes than another or than this process. The same phase
 * may be started again after any end.
 */
export async function runPhase(fleet: Fleet, order: PhaseOrder): Promise<Counts> {
  const { privateStore, run: name } = fleet
  const { phase, beside } = order
  const run = { privateStore, run: name, phase, plan: await makePlan(fleet, order) }
  const background = createBackground()
  if (beside !== undefined) background.start(beside())
  const done = await collect(fleet, order, run, background).finally(background.ended)
  background.assertSound()
  await checkWorkers(fleet, order, run, done)
  return countWorkers(done)
}

type Background = ReturnType<typeof createBackground>

/** Work beside the collecting of results, which ends if some of it fails. */
function createBackground() {
  const works: Promise<unknown>[] = []
  const faults: unknown[] = []
  return {
    start(work: Promise<unknown>): void {
      works.push(work.catch((error: unknown) => faults.push(error)))
    },
    assertSound(): void {
      if (faults.length > 0) throw faults[0]
    },
    /** Resolves when all of it has ended, however that was. */
    ended: (): Promise<unknown> => Promise.all(works),
  }
}

/** Stores the inputs and then the plan, with which the phase begins. */
async function makePlan(fleet: Fleet, { phase, tasks: ordered }: PhaseOrder): Promise<Plan> {
  const { run, code, version, effort, privateStore } = fleet
  const end = await readEnd(privateStore, run)
  if (end !== null)
    throw new Error(
      `the run ${run} is over, it published ${end.version ?? 'nothing'}: name another one in --run`,
    )
  const tasks = await inLanes(ordered, REQUESTS, async ({ id, input }) => ({
    id,
    input: await saveInput(privateStore, run, input()),
  }))
  const draft: Plan = { plan_version: 2, version, effort, code, canary: '', tasks }
  const place = { privateStore, run, phase }
  const canary = await makeTask(fleet, { ...place, plan: draft }, tasks[0]!)
  const plan = { ...draft, canary: sha256(canary.bytes) }
  if (await savePlan(place, plan)) return plan
  throw new Error(
    `the run ${run} has the plan of another build: name another one in --run, or use the code, the book, the --version and the ` +
      '--effort that it was started with',
  )
}

type Done = { readonly worker: string; readonly digest: string }

async function collect(fleet: Fleet, order: PhaseOrder, run: Run, background: Background) {
  const missing = new Map(run.plan.tasks.map(task => [task.id, task]))
  const done = new Map<string, Done>()
  const workers = new Set<string>()
  const share = createSharing(fleet, order.unit, run, background)
  const report = createReport(fleet, run)
  for (;;) {
    background.assertSound()
    const found = (await listDone(run)).filter(id => missing.delete(id))
    await inLanes(found, REQUESTS, async id => {
      const result = await readResult(run, id)
      workers.add(result.worker)
      order.take(id, result, ` by ${workers.size} ${workers.size === 1 ? 'worker' : 'workers'}`)
      done.set(id, { worker: result.worker, digest: sha256(result.bytes) })
    })
    await report(done, found.length > 0)
    if (missing.size === 0) return done
    await share(missing, found.length > 0)
    await fleet.pause(LOOK_MS)
  }
}

const REPORT_MS = 2_000

/** Stores how far a phase is, for the operator. A store that refuses it does not end the build. */
function createReport({ version, elapsed, now, note }: Fleet, { privateStore, run, phase, plan }: Run) {
  let progressed_at = toIsoInstant(now())
  let nextMs = elapsed()
  return async (done: ReadonlyMap<string, Done>, isProgress: boolean): Promise<void> => {
    if (isProgress) progressed_at = toIsoInstant(now())
    if (elapsed() < nextMs) return
    nextMs = elapsed() + REPORT_MS
    const counts = { done: done.size, total: plan.tasks.length, workers: countWorkers(done) }
    const progress = { run, dataset_version: version, phase, ...counts, progressed_at }
    await saveFleetProgress(privateStore, progress).catch((error: unknown) =>
      note(`warning: the progress of the run ${run} was not stored: ${messageOf(error)}`),
    )
  }
}

/**
 * What the coordinator does about missing tasks each time that it looks: it adds their jobs, again if they were lost, and if
 * no task was finished for too long it does all of them itself, from the end, where no worker has begun.
 */
function createSharing(fleet: Fleet, unit: string, run: Run, background: Background) {
  const { elapsed, waitMs, jobs } = fleet
  const { run: name, phase } = run
  let finishedMs = elapsed()
  let addMs = elapsed()
  let isHelping = false
  return async (missing: ReadonlyMap<string, Task>, isProgress: boolean): Promise<void> => {
    const now = elapsed()
    if (isProgress) finishedMs = now
    if (!isHelping && now - finishedMs >= waitMs) {
      isHelping = true
      fleet.note(
        `note: no worker with code ${fleet.code} finished a ${unit} for ${waitMs / 1_000} s (${phase}): this machine does ` +
          `the other ${missing.size}`,
      )
      const help = (task: Task) => doTask(fleet, run, task)
      background.start(inLanes([...missing.values()].reverse(), fleet.lanes, help))
    }
    if (jobs === null) return
    if (now >= addMs) {
      addMs = now + ADD_AGAIN_MS
      await jobs.add(name, phase, [...missing.keys()])
    }
    const [first, ...others] = await jobs.failures(name, phase)
    if (first === undefined) return
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    throw new Error(
      `no worker could ${phase} the ${unit} ${first.id}${more}: ${first.why}; nothing was published; the same command continues ` +
        `the run ${name}`,
    )
  }
}

/** Of all tasks this share is done again, beside one of each worker. */
const CHECKED_SHARE = 0.01

/** Does some tasks again and compares. Which ones follows from the version and their names, so that no worker decides it. */
async function checkWorkers(fleet: Fleet, { unit }: PhaseOrder, run: Run, done: ReadonlyMap<string, Done>) {
  const { version, tasks } = run.plan
  const drawn = tasks
    .map(task => ({ task, draw: sha256(`${version} ${task.id}`) }))
    .toSorted((a, b) => (a.draw < b.draw ? -1 : 1))
    .map(({ task }) => task)
  const ofEach = Map.groupBy(drawn, ({ id }) => done.get(id)!.worker)
  ofEach.delete(fleet.name)
  const checked = new Set([
    ...[...ofEach.values()].map(([first]) => first!),
    ...drawn.slice(0, Math.ceil(CHECKED_SHARE * drawn.length)),
  ])
  await inLanes([...checked], fleet.lanes, async task => {
    const { worker, digest } = done.get(task.id)!
    if (sha256((await makeTask(fleet, run, task)).bytes) === digest) return
    throw new Error(
      `the worker ${worker} made other bytes of the ${unit} ${task.id} than this machine (${run.phase}): nothing was published; find ` +
        'out which of the two is wrong, and build under a new --run and a new --version',
    )
  })
}

function countWorkers(done: ReadonlyMap<string, Done>): Counts {
  const of = Map.groupBy(done.values(), ({ worker }) => worker)
  return Object.fromEntries([...of].map(([name, each]) => [name, each.length]))
}
