import { Tinypool } from 'tinypool'
import { describeThrown } from '../night/describe-thrown.ts'
import { STALL_MS, threadEnvironment, watchPulses } from '../night/threads.ts'
import type { LiveEntry, LiveReplay, LiveReplayInput, LiveStep, LiveStepInput } from './live-task.ts'

/** Strategy modules on threads of their own: what hangs or ends its thread harms no other, and nothing of the runner. */
export type Stepper = {
  readonly version: (input: LiveEntry) => Promise<string>
  readonly replay: (input: LiveReplayInput) => Promise<LiveReplay>
  readonly step: (input: LiveStepInput) => Promise<LiveStep>
  readonly close: () => Promise<void>
}

export type StepperOptions = {
  readonly threads: number
  /** A clock for measuring, milliseconds. */
  readonly elapsedMs: () => number
  /** A line for the operator. */
  readonly note: (line: string) => void
}

/** Starts the threads. What a task of them throws names its module. */
export function createStepper({ threads, elapsedMs, note }: StepperOptions): Stepper {
  const pool = new Tinypool({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 1,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    env: threadEnvironment(),
  })
  pool.on('error', error =>
    note(`something that a module left running ended a thread: ${describeThrown(error)}`),
  )
  const pulses = new Map<string, Int32Array>()
  const stalls = new Map<string, AbortController>()
  const endWatch = watchPulses(pulses, STALL_MS, elapsedMs, task => stalls.get(task)?.abort())
  let tasks = 0

  const run = async (name: string, input: LiveEntry): Promise<unknown> => {
    const task = String(tasks++)
    const [pulse, stall] = [new Int32Array(new SharedArrayBuffer(4)), new AbortController()]
    pulses.set(task, pulse)
    stalls.set(task, stall)
    try {
      return await pool.run({ ...input, pulse }, { name, signal: stall.signal })
    } catch (error) {
      const isStalled = stall.signal.aborted
      const why = isStalled
        ? `it made no progress for ${STALL_MS / 1_000} s and was ended: look for an endless loop`
        : describeThrown(error)
      throw new Error(`strategies/${input.entry.id}.ts: ${why}`, { cause: error })
    } finally {
      pulses.delete(task)
      stalls.delete(task)
    }
  }
  // The worker's functions of these names return these types.
  return {
    version: input => run('version', input) as Promise<string>,
    replay: input => run('replay', input) as Promise<LiveReplay>,
    step: input => run('step', input) as Promise<LiveStep>,
    async close() {
      endWatch()
      await pool.destroy()
    },
  }
}
