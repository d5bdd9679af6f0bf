// Metrics of a worker of a fleet for Prometheus.
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { createMeter } from '#signals/meter.ts'
import type { Phase } from '#static-build/fleet/run-files.ts'
import type { Handler, Worker } from '#static-build/fleet/worker.ts'

/** From the returns of a day to the proof of a module on bars of a minute. */
const SECONDS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 120]

/** The same worker, measured. `elapsed` is a clock in milliseconds. */
export function measureWorker(worker: Worker, threads: number, elapsed: () => number) {
  const meter = createMeter()
  const seconds = meter.histogram(
    'highwater_worker_task_seconds',
    'Time of a task, from the read of its input to the write of its files, by phase and outcome.',
    SECONDS,
    ['phase', 'outcome'],
  )
  const bytes = meter.counter(
    'highwater_worker_result_bytes_total',
    'Bytes of the results of tasks, by phase; published files are not in it.',
    ['phase'],
  )
  const help = 'Threads of the worker, with the code that tasks must have.'
  meter.gauge('highwater_worker_threads', help, () => [[{ code: worker.code }, threads]])

  const measured = (phase: Phase, handler: Handler): Handler => {
    bytes.inc({ phase }, 0)
    const timed = async <Value>(work: () => Promise<Value>): Promise<[Value, number]> => {
      const since = elapsed()
      try {
        return [await work(), elapsed() - since]
      } catch (error) {
        seconds.observe({ phase, outcome: 'failed' }, (elapsed() - since) / 1_000)
        throw error
      }
    }
    return async (input, context) => {
      const [made, madeMs] = await timed(() => handler(input, context))
      const write = async (): Promise<void> => {
        const [, writtenMs] = await timed(made.write)
        seconds.observe({ phase, outcome: 'done' }, (madeMs + writtenMs) / 1_000)
        bytes.inc({ phase }, made.bytes.length)
      }
      return { ...made, write }
    }
  }
  const { compute, correlate, render } = worker.handlers
  return {
    worker: {
      ...worker,
      handlers: {
        compute: measured('compute', compute),
        correlate: measured('correlate', correlate),
        render: measured('render', render),
      },
    },
    /** Serves `/metrics`. Rejects with a sentence if the port is taken. */
    serve: (host: string, port: number): Promise<RunningServer> =>
      startServer(
        () => async request => {
          if (new URL(request.url).pathname !== '/metrics')
            return new Response('GET /metrics\n', { status: 404 })
          const { contentType, text } = await meter.read()
          return new Response(text, { headers: { 'content-type': contentType } })
        },
        host,
        port,
      ),
  }
}
