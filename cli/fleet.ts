// The fleet of a build: which code it has, its Redis, and its run.
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { toCompactInstant } from '#core/calendar.ts'
import type { Effort } from '#core/contract/effort.ts'
import type { Progress } from '#core/progress.ts'
import { createComputer, type TaskRunner } from '#pipeline/night/fleet-tasks.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { byWorkers, createBackground, type Fleet, runPhase } from '#static-build/fleet/coordinate.ts'
import { createJobs } from '#static-build/fleet/queue.ts'
import { renderHandler, renderOnFleet } from '#static-build/fleet/render.ts'
import { endRun, type Phase, saveInput } from '#static-build/fleet/run-files.ts'
import type { Handler, Worker } from '#static-build/fleet/worker.ts'
import { createRenderer, type RenderOrder } from '#static-build/render-version.ts'
import { sha256 } from '#storage/digest.ts'
import { messageOf } from '#storage/error-code.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readLockfile } from './build/describe-code.ts'
import type { FleetOrder, FleetRecord } from './fleet-options.ts'
import type { Runtime } from './runtime.ts'
import { passwordsIn } from './services/redis-url.ts'

type Stores = { readonly store: ObjectStore; readonly privateStore: ObjectStore }

/** A worker on threads of this process. */
export async function openWorker({ store, privateStore }: Stores, threads: number, runtime: Runtime) {
  const renderer = createRenderer(threads)
  const computer = createComputer({ threads, elapsedMs: runtime.elapsed })
  const handlerOf =
    (work: (typeof computer)['compute' | 'correlate']): Handler =>
    async (input, { read }) => ({ bytes: await work(input, read), write: async () => {} })
  const worker: Worker = {
    name: `${hostname()}:${process.pid}`,
    code: await fleetCode(runtime.root),
    privateStore,
    lanes: renderer.lanes,
    handlers: {
      compute: handlerOf(computer.compute),
      correlate: handlerOf(computer.correlate),
      render: renderHandler(renderer, store),
    },
  }
  return {
    worker,
    renderer,
    close: async (): Promise<void> => void (await Promise.all([renderer.close(), computer.close()])),
  }
}

/** What a build does with its fleet. */
export type OpenFleet = Awaited<ReturnType<typeof openFleet>>

type FleetBuild = Stores & {
  readonly version: string
  readonly effort: Effort
  readonly threads: number
  readonly progress: Progress
}

/** Connects to the Redis of a fleet, if it has one. Rejects if it does not answer. */
export async function openFleet(
  { run, redisUrl, waitMs }: FleetOrder,
  { version, effort, threads, progress, ...stores }: FleetBuild,
  runtime: Runtime,
) {
  const { elapsed, now, pause, terminal } = runtime
  const connection = redisUrl === null ? null : await connectFleet(redisUrl, 'coordinator')
  const { worker, renderer, close } = await openWorker(stores, threads, runtime)
  const name = run ?? toCompactInstant(version)
  const queue = connection === null ? null : createJobs(connection, worker.code, terminal.note)
  await queue?.begin(name)
  const own = { run: name, version, effort, jobs: queue?.jobs ?? null }
  let isAlone = false // without any worker in one phase, the next ones wait for none
  const fleetNow = (): Fleet => {
    const patience = { waitMs: isAlone ? 0 : waitMs, elapsed, now, pause, note: terminal.note }
    return { ...worker, ...own, ...patience }
  }
  const counts: Record<Phase, Readonly<Record<string, number>>> = { compute: {}, correlate: {}, render: {} }
  const onDone = (phase: Phase, workers: Readonly<Record<string, number>>): void => {
    counts[phase] = workers
    isAlone = Object.keys(workers).every(each => each === worker.name)
    const texts = Object.entries(workers).map(([each, count]) => `${each} (${count})`)
    terminal.note(`note: ${PAST[phase]} by ${texts.join(', ')}`)
  }
  terminal.note(`note: run ${name} of code ${worker.code} waits for workers`)
  const compute: TaskRunner = {
    share: bytes => saveInput(stores.privateStore, name, bytes),
    async run(phase, tasks, take) {
      const unit = phase === 'compute' ? 'strategy' : 'block'
      const units = phase === 'compute' ? 'strategies' : 'blocks'
      let done = 0
      const seen = new Set<string>()
      const report = () =>
        progress({ step: phase, done, total: tasks.length, unit: `${units}${byWorkers(seen)}` })
      report()
      const workers = await runPhase(fleetNow(), {
        ...{ phase, unit, tasks, background: createBackground() },
        take: (id, result) => {
          take(id, result.bytes)
          seen.add(result.worker)
          done++
          report()
        },
      })
      onDone(phase, workers)
    },
  }
  const end = (published: string | null): Promise<void> =>
    endRun(stores.privateStore, name, published).catch((error: unknown) =>
      terminal.note(
        `warning: files of the run ${name} are left in the private store, for prune: ${messageOf(error)}`,
      ),
    )
  return {
    compute,
    /** Renders a version; the threads end with it, before all files are read back. */
    render: (order: RenderOrder) =>
      renderOnFleet(fleetNow(), renderer, order, workers => onDone('render', workers)).finally(close),
    /** Ends the run of a version that was published, and returns its record for the report of the build. */
    async end(): Promise<FleetRecord> {
      await end(version)
      return { run: name, code: worker.code, computed: counts.compute, rendered: counts.render }
    },
    /** Ends the run of a book that was refused: the tasks of its next build are others. */
    abandon: () => end(null),
    async close(): Promise<void> {
      await close()
      await queue?.close()
      connection?.disconnect()
    },
  }
}

const PAST: Readonly<Record<Phase, string>> = {
  compute: 'computed',
  correlate: 'correlated',
  render: 'rendered',
}

/**
 * Connects to the Redis of a fleet: a worker waits for it if it goes away, a coordinator goes on without it. Rejects with
 * the fix if it does not answer now.
 */
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
    const shown = passwordsIn(redisUrl).reduce(
      (url, secret) => (secret ? url.replaceAll(secret, '***') : url),
      redisUrl,
    )
    throw new Error(
      `the Redis of the fleet, ${shown}, does not answer: start it, or correct --fleet or FLEET_URL`,
      { cause },
    )
  }
}

/** What decides the result of a task, below the folder of the project. */
const SOURCES = '{core,pages,pipeline,static-build,storage}/**/*.{ts,js,css,json}'

/**
 * A digest that is equal if the same sources, packages, Node, compressors and architecture compute and render: processes of
 * equal code make equal bytes.
 */
export async function fleetCode(root: string): Promise<string> {
  const paths = globSync(SOURCES, { cwd: root }).sort()
  const files = await Promise.all(paths.map(async path => [path, sha256(await readFile(join(root, path)))]))
  const lockfile = await readLockfile(root)
  const runs = [...RUN_BY.map(name => process.versions[name]), process.arch]
  const text = JSON.stringify({ files, lockfile: lockfile && sha256(lockfile), runs })
  return sha256(text).slice(0, CODE_DIGITS)
}

const CODE_DIGITS = 16
const RUN_BY = ['node', 'zlib', 'brotli'] as const
