// Jobs of a fleet on BullMQ. A job names a task of a run; its result is in the store.
import { DelayedError, type Job, Worker as JobWorker, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { messageOf } from '#storage/error-code.ts'
import type { Phase } from './run-files.ts'
import { doTask, joinRun, OtherCodeError, type Run, type Worker } from './worker.ts'

type JobData = { readonly run: string; readonly phase: Phase; readonly id: string }

/** Workers of other code never see these jobs. */
const queueOf = (code: string): string => `hw-build-${code}`

/** A job is tried again after a failure that may pass, such as a store that refuses. */
const JOB = { attempts: 3, backoff: { type: 'fixed', delay: 1_000 }, removeOnComplete: true } as const

const LOT = 1_000

export type Jobs = ReturnType<typeof createJobs>

/** The jobs of the coordinator. A Redis that does not answer is noted; what nobody finishes then, the coordinator does. */
export function createJobs(connection: Redis, code: string, note: (line: string) => void) {
  // Without the question for the version: an answer that is late once would refuse every later command.
  const queue = new Queue<JobData>(queueOf(code), { connection, skipVersionCheck: true })
  queue.on('error', () => {}) // every command reports its own error
  let isAway = false
  const ask = async <T>(command: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      const answer = await command()
      isAway = false
      return answer
    } catch (error) {
      if (!isAway) note(`warning: the Redis of the fleet does not answer: ${messageOf(error)}`)
      isAway = true
      return otherwise
    }
  }
  return {
    /** Removes the failed jobs of a run, which is started again. */
    begin: (run: string) =>
      ask(async () => {
        for (const job of await queue.getFailed()) if (job.data.run === run) await job.remove()
      }, undefined),
    /** Adds a job for each task that has none. */
    add: (run: string, phase: Phase, ids: readonly string[]) =>
      ask(async () => {
        const opts = (id: string) => ({ ...JOB, jobId: `${run}-${phase}-${id}` })
        const jobs = ids.map(id => ({ name: id, data: { run, phase, id }, opts: opts(id) }))
        for (let from = 0; from < jobs.length; from += LOT) await queue.addBulk(jobs.slice(from, from + LOT))
      }, undefined),
    /** The tasks of a phase whose jobs failed for good, and why. */
    failures: (run: string, phase: Phase) =>
      ask(async () => {
        const failed = await queue.getFailed()
        const own = failed.filter(({ data }) => data.run === run && data.phase === phase)
        return own.map(({ data, failedReason }) => ({ id: data.id, why: failedReason }))
      }, []),
    close: () => queue.close(),
  }
}

/** How long a worker may be silent, which leaves room for a machine that is busy, and how often that is looked at. */
export type Patience = { readonly lockMs: number; readonly lookMs: number }

const keyOf = (run: string, phase: Phase): string => `${run}/${phase}`

/** A job whose worker fell silent is given to another one. One that ends three workers is at fault itself, and fails. */
const MOST_SILENCES = 2

/** Plans that a worker remembers; two coordinators may have the same workers. */
const MOST_RUNS = 4

/** Does tasks of all runs of this code until it is stopped. `failed` rejects if it makes other bytes than a coordinator. */
export function serveJobs(
  worker: Worker,
  connection: Redis,
  { lockMs, lookMs }: Patience = { lockMs: 15_000, lookMs: 5_000 },
) {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // avoids an unhandled rejection
  const working = new Set<Promise<void>>()
  const runs = new LRUCache<string, Promise<Run | null>>({ max: MOST_RUNS })
  const work = async ({ run: name, phase, id }: JobData): Promise<void> => {
    const joining = runs.get(keyOf(name, phase)) ?? joinRun(worker, name, phase)
    runs.set(keyOf(name, phase), joining)
    const run = await joining
    const task = run?.plan.tasks.find(each => each.id === id) // none if the run is over
    if (run !== null && task !== undefined) await doTask(worker, run, task)
  }
  const process = async (job: Job<JobData>, token?: string): Promise<void> => {
    const done = work(job.data)
    working.add(done)
    try {
      await done
    } catch (error) {
      if (!(error instanceof OtherCodeError)) {
        runs.delete(keyOf(job.data.run, job.data.phase)) // another try reads the plan again
        throw error
      }
      await jobs.pause(true)
      await job.moveToDelayed(job.timestamp, token).finally(() => reject(error)) // for others, at once
      throw new DelayedError()
    } finally {
      working.delete(done)
    }
  }
  const duplicates = recordDuplicates(connection)
  const jobs = new JobWorker<JobData>(queueOf(worker.code), process, {
    connection,
    concurrency: worker.lanes,
    lockDuration: lockMs,
    stalledInterval: lookMs,
    maxStalledCount: MOST_SILENCES,
  })
  jobs.on('error', () => {}) // it reconnects by itself
  return {
    failed,
    /** Ends after the tasks under way. BullMQ itself would wait for ever for a connection that is between two attempts. */
    async close(): Promise<void> {
      await jobs.pause(true)
      await Promise.allSettled(working)
      await jobs.close(true)
      for (const each of duplicates) each.on('connect', () => each.disconnect()).disconnect()
    },
  }
}

/**
 * The connections that BullMQ makes of this one to wait for jobs. It may connect one again while it closes, if it was frozen
 * before; the process would never end.
 */
function recordDuplicates(connection: Redis): readonly Redis[] {
  const made: Redis[] = []
  const duplicate = connection.duplicate.bind(connection)
  connection.duplicate = more => {
    const copy = duplicate(more)
    made.push(copy)
    return copy
  }
  return made
}
