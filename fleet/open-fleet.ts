// The fleet of a build: a worker on threads of this process, its Redis, and its run.
import { hostname } from 'node:os'
import { Redis } from 'ioredis'
import { toCompactInstant } from '#core/calendar.ts'
import type { Effort } from '#core/contract/manifest.ts'
import { countProgress, type Progress } from '#core/progress.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { createRenderer, type RenderOrder } from '#static-build/render-version.ts'
import { messageOf } from '#storage/error-code.ts'
import type { Stores } from '#storage/object-store.ts'
import { createFleetComputer, createTaskComputer } from './compute.ts'
import { type Counts, type Fleet, type PhaseOrder, runPhase } from './coordinate.ts'
import { createJobs } from './queue.ts'
import { renderHandler, renderOnFleet } from './render.ts'
import { endRun, type Phase, saveInput } from './run-files.ts'
import type { Worker } from './worker.ts'

export type FleetOrder = {
  /** Null for the name of the version. */
  readonly run: string | null
  /** Null if workers take static shares. */
  readonly redisUrl: string | null
  readonly waitMs: number
}

type WorkerOrder = Stores & {
  readonly threads: number
  /** Which code it has: see `Plan`. */
  readonly code: string
  readonly elapsed: () => number
}

export function openWorker({ store, privateStore, threads, code, elapsed }: WorkerOrder) {
  const renderer = createRenderer(threads)
  const computer = createTaskComputer({ threads, elapsedMs: elapsed })
  const worker: Worker = {
    name: `${hostname()}:${process.pid}`,
    code,
    privateStore,
    lanes: renderer.lanes,
    handlers: {
      compute: computer.compute,
      correlate: computer.correlate,
      render: renderHandler(renderer, store),
    },
  }
  return {
    worker,
    renderer,
    close: async (): Promise<void> => void (await Promise.all([renderer.close(), computer.close()])),
  }
}

type FleetBuild = WorkerOrder &
  Pick<Fleet, 'now' | 'pause' | 'note'> & {
    readonly version: string
    readonly effort: Effort
    readonly progress: Progress
  }

/** Connects to the Redis of a fleet, if it has one. Rejects if it does not answer. */
export async function openFleet({ run: given, redisUrl, waitMs }: FleetOrder, build: FleetBuild) {
  const { version, effort, progress, privateStore, elapsed, now, pause, note } = build
  const connection = redisUrl === null ? null : await connectFleet(redisUrl, 'coordinator')
  const { worker, renderer, close } = openWorker(build)
  const run = given ?? toCompactInstant(version)
  const jobs = connection === null ? null : createJobs(connection, worker.code, note)
  await jobs?.begin(run)
  const fleet = { ...worker, run, version, effort, jobs, elapsed, now, pause, note }
  let isAlone = false // without any worker in one phase, the next ones wait for none
  const counts: Record<Phase, Counts> = { compute: {}, correlate: {}, render: {} }
  const runOnce = async (order: PhaseOrder): Promise<void> => {
    const workers = await runPhase({ ...fleet, waitMs: isAlone ? 0 : waitMs }, order)
    counts[order.phase] = workers
    isAlone = Object.keys(workers).every(each => each === worker.name)
    const texts = Object.entries(workers).map(([each, count]) => `${each} (${count})`)
    note(`note: ${DONE[order.phase]} by ${texts.join(', ')}`)
  }
  note(`note: run ${run} of code ${worker.code} waits for workers`)
  const end = (published: string | null): Promise<void> =>
    endRun(privateStore, run, published).catch((error: unknown) =>
      note(`warning: files of the run ${run} are left in the private store, for prune: ${messageOf(error)}`),
    )
  return {
    computer: createFleetComputer({
      share: bytes => saveInput(privateStore, run, bytes),
      run: order => runOnce(counted(order, progress)),
    }),
    /** Renders a version; the threads end with it, before all files are read back. */
    render: (order: RenderOrder) => renderOnFleet(runOnce, renderer, order).finally(close),
    /** Ends the run of a version that was published. Returns how many strategies each worker computed and rendered, by its host and process. */
    async end() {
      await end(version)
      return { run, code: worker.code, computed: counts.compute, rendered: counts.render }
    },
    /** Ends the run of a book that was refused: the tasks of its next build are others. */
    abandon: () => end(null),
    async close(): Promise<void> {
      await close()
      await jobs?.close()
      connection?.disconnect()
    },
  }
}

const DONE = { compute: 'computed', correlate: 'correlated', render: 'rendered' } as const

const UNITS = { strategy: 'strategies', block: 'blocks' } as const

function counted(order: PhaseOrder, progress: Progress): PhaseOrder {
  const { phase, tasks, unit, take } = order
  const count = countProgress(progress, phase, tasks.length, UNITS[unit])
  return {
    ...order,
    take: (id, result, by) => {
      take(id, result, by)
      count(1, by)
    },
  }
}

/** A worker waits for a Redis that goes away, a coordinator goes on without it. Rejects with the fix if it does not answer now. */
export async function connectFleet(redisUrl: string, role: 'coordinator' | 'worker'): Promise<Redis> {
  // BullMQ waits for jobs in one command, which takes as long as there are none.
  const redis =
    role === 'coordinator'
      ? connectRedis(redisUrl, () => {}) // every command reports its own error
      : new Redis(redisUrl, { maxRetriesPerRequest: null, lazyConnect: true }).on('error', () => {})
  try {
    await redis.connect()
    return redis
  } catch (cause) {
    redis.disconnect()
    const shown = new URL(redisUrl)
    if (shown.password !== '') shown.password = '***'
    throw new Error(
      `the Redis of the fleet, ${shown.href}, does not answer: start it, or correct --fleet or FLEET_URL`,
      { cause },
    )
  }
}
