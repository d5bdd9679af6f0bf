// Metrics of a worker of a fleet for Prometheus.
import { createMeter, type Series } from '#signals/meter.ts'
import { PHASES, type Phase } from './run-files.ts'
import type { Handler, Worker } from './worker.ts'

/** From the returns of a day to the proof of a module on bars of a minute. */
const SECONDS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 120]

/** The same worker, measured. `elapsed` is a clock in milliseconds. */
export function measureWorker(worker: Worker, threads: number, elapsed: () => number) {
  const series: Series = [[{ code: worker.code }, threads]]
  const ofThreads = 'Threads of the worker, with the code that tasks must have.'
  const meter = createMeter('highwater_worker_', [['threads', ofThreads, () => series]], () => null)
  const seconds = meter.histogram(
    'task_seconds',
    'Time of a task, from the read of its input to the write of its files, by phase and outcome.',
    SECONDS,
    ['phase', 'outcome'],
  )
  const help = 'Bytes of the results of tasks, by phase; published files are not in it.'
  const bytes = meter.counter('result_bytes_total', help, ['phase'])

  const measured = (phase: Phase, handler: Handler): Handler => {
    bytes.inc({ phase }, 0)
    return async (input, context) => {
      const since = elapsed()
      const observe = (outcome: string): void =>
        seconds.observe({ phase, outcome }, (elapsed() - since) / 1_000)
      const fail = (error: unknown): never => {
        observe('failed')
        throw error
      }
      const made = await handler(input, context).catch(fail)
      const write = async (): Promise<void> => {
        await made.write?.().catch(fail)
        observe('done')
        bytes.inc({ phase }, made.bytes.length)
      }
      return { ...made, write }
    }
  }
  const handlers = Object.fromEntries(
    PHASES.map(phase => [phase, measured(phase, worker.handlers[phase])]),
  ) as Worker['handlers'] // one entry a phase
  return { worker: { ...worker, handlers }, meter }
}
