import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Tinypool } from 'tinypool'

/** A strategy that makes no progress for this long will make none: a bar takes microseconds. */
export const STALL_MS = 30_000

/** How often the pulses are read. */
const LOOK_MS = 500

/**
 * Watches the pulses of tasks and calls `onStall` with the name of each that has begun and makes no progress for `stallMs`.
 * A pulse of 0 has not begun; a task that is over is deleted from the map. Returns the function that ends the watch.
 */
export function watchPulses(
  pulses: ReadonlyMap<string, Int32Array>,
  stallMs: number,
  elapsedMs: () => number,
  onStall: (id: string) => void,
): () => void {
  const last = new Map<string, { readonly beats: number; readonly sinceMs: number }>()
  const timer = setInterval(() => {
    const now = elapsedMs()
    for (const [id, pulse] of pulses) {
      const beats = Atomics.load(pulse, 0)
      const before = last.get(id)
      if (beats === 0 || before?.beats !== beats) last.set(id, { beats, sinceMs: now })
      else if (now - before.sinceMs >= stallMs) onStall(id)
    }
  }, LOOK_MS)
  return () => clearInterval(timer)
}

/**
 * The environment of a thread that runs strategy modules, which have no business with our secrets. It names only the folder of
 * compiled modules, which halves the start of a thread; the fence removes it.
 */
function threadEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir() // of this version of Node, below the one that is kept for all
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** Threads of a worker that runs strategy modules. A thread whose task makes no progress is ended, and another one started. */
export type Threads = {
  /**
   * Runs the worker's function of this name, which returns `Result`. Its input gets a `pulse` to beat. Rejects with a
   * StalledError if it makes no progress, and with whatever else ends its thread.
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
  const pulses = new Map<string, Int32Array>()
  const stalls = new Map<string, AbortController>()
  const endWatch = watchPulses(pulses, STALL_MS, elapsedMs, task => stalls.get(task)?.abort())
  let tasks = 0
  return {
    async run(name, input) {
      const task = String(tasks++)
      const [pulse, stall] = [new Int32Array(new SharedArrayBuffer(4)), new AbortController()]
      pulses.set(task, pulse)
      stalls.set(task, stall)
      try {
        return await pool.run({ ...input, pulse }, { name, signal: stall.signal })
      } catch (error) {
        throw stall.signal.aborted ? new StalledError(STALLED, { cause: error }) : error
      } finally {
        pulses.delete(task)
        stalls.delete(task)
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
