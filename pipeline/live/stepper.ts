import { describeThrown } from '../night/describe-thrown.ts'
import { createThreads, type ThreadOptions } from '../night/threads.ts'
import type { LiveEntry, LiveReplay, LiveReplayInput, LiveStep, LiveStepInput } from './live-task.ts'

/** Strategy modules on threads of their own: one that hangs or ends its thread harms nothing else. */
export type Stepper = ReturnType<typeof createStepper>

/** Starts the threads; `note` prints a line for the operator. What a task throws names its module. */
export function createStepper(options: ThreadOptions, note: (line: string) => void) {
  const worker = new URL('./worker.ts', import.meta.url)
  const threads = createThreads(worker, options, error =>
    note(`something that a module left running ended a thread: ${describeThrown(error)}`),
  )
  const run = <Result>(name: string, input: LiveEntry): Promise<Result> =>
    threads.run<Result>(name, input).catch((error: unknown) => {
      throw new Error(`strategies/${input.entry.id}.ts: ${describeThrown(error)}`, { cause: error })
    })
  return {
    version: (input: LiveEntry) => run<string>('version', input),
    replay: (input: LiveReplayInput) => run<LiveReplay>('replay', input),
    step: (input: LiveStepInput) => run<LiveStep>('step', input),
    close: threads.close,
  }
}
