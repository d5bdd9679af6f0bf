import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Tinypool } from 'tinypool'

/** A strategy that makes no progress for this long will make none: a bar takes microseconds. */
export const STALL_MS = 30_000

/** How often the pulses are read. */
const LOOK_MS = 500

/**
 * Watches the pulses of tasks and calls `onStall` with each task that has begun and makes no progress for
 * `stallMs`. A pulse of 0 has not begun; a finished task is deleted from the map. Returns the function that
 * ends the watch.
 */
export function watchPulses<Task>(
  pulses: ReadonlyMap<Task, Int32Array>,
  stallMs: number,
  elapsedMs: () => number,
  onStall: (task: Task) => void,
): () => void {
  let last = new Map<Task, { readonly beats: number; readonly sinceMs: number }>()
  const timer = setInterval(() => {
    const now = elapsedMs()
    const before = last
    last = new Map() // of the tasks that still run
    for (const [task, pulse] of pulses) {
      const beats = Atomics.load(pulse, 0)
      const seen = before.get(task)
      const isSame = beats > 0 && seen?.beats === beats
      last.set(task, isSame ? seen : { beats, sinceMs: now })
      if (isSame && now - seen.sinceMs >= stallMs) onStall(task)
    }
  }, LOOK_MS)
  return () => clearInterval(timer)
}

/**
 * The environment of a thread that runs strategy modules, which must not see our secrets. It names only the
 * folder of compiled modules, which halves the start of a thread; the fence removes it.
 */
function threadEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir() // of this version of Node, below the one that is kept for all
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** Threads of a worker that runs strategy modules. If a task makes no progress, its thread is replaced. */
export type Threads = {
  /**
   * Runs the worker's function of this name, which returns `Result`. Its input gets a `pulse` to beat.
   * Rejects with a StalledError if it makes no progress, and with whatever else ends its thread.
   */
  readonly run: <Result>(name: string, input: object) => Promise<Result>
  readonly close: () => Promise<void>
}

export type ThreadOptions = {
  readonly threads: number
  /** A clock for measuring, milliseconds. */
  readonly elapsedMs: () => number
}

export class StalledError extends Error {}

/** An error that ends an idle thread goes to `onStray`: without a listener it would end the process. */
export function createThreads(
  worker: URL,
  { threads, elapsedMs }: ThreadOptions,
  onStray: (error: unknown) => void,
): Threads {
  const pool = new Tinypool({
    filename: worker.href,
    minThreads: 1,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    env: threadEnvironment(),
  })
  pool.on('error', onStray)
  const pulses = new Map<AbortController, Int32Array>()
  const endWatch = watchPulses(pulses, STALL_MS, elapsedMs, stall => stall.abort())
  return {
    async run(name, input) {
      const [pulse, stall] = [new Int32Array(new SharedArrayBuffer(4)), new AbortController()]
      pulses.set(stall, pulse)
      try {
        return await pool.run({ ...input, pulse }, { name, signal: stall.signal })
      } catch (error) {
        throw stall.signal.aborted ? new StalledError(STALLED, { cause: error }) : error
      } finally {
        pulses.delete(stall)
      }
    },
    async close() {
      endWatch()
      await pool.destroy()
    },
  }
}

const STALLED =
  `it made no progress for ${STALL_MS / 1000} s and was ended: look for an endless loop, or a wait for something that ` +
  'never comes'
