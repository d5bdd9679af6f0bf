// Metrics of a worker of a fleet for Prometheus.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import type { Phase } from '#static-build/fleet/run-files.ts'
import type { Handler, Worker } from '#static-build/fleet/worker.ts'

/** From the returns of a day to the proof of a module on bars of a minute. */
const SECONDS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 120]

/** The same worker, measured. `elapsed` is a clock in milliseconds. */
export function measureWorker(worker: Worker, threads: number, elapsed: () => number) {
  const registry = new Registry()
  const registers = [registry]
  const seconds = new Histogram({
    name: 'highwater_worker_task_seconds',
    help: 'Time of a task, from the read of its input to the write of its files, by phase and outcome.',
    labelNames: ['phase', 'outcome'],
    buckets: SECONDS,
    registers,
  })
  const bytes = new Counter({
    name: 'highwater_worker_result_bytes_total',
    help: 'Bytes of the results of tasks, by phase; published files are not in it.',
    labelNames: ['phase'],
    registers,
  })
  new Gauge({
    name: 'highwater_worker_threads',
    help: 'Threads of the worker, with the code that tasks must have.',
    labelNames: ['code'],
    registers,
  }).set({ code: worker.code }, threads)

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
        () => async request =>
          new URL(request.url).pathname === '/metrics'
            ? new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } })
            : new Response('GET /metrics\n', { status: 404 }),
        host,
        port,
      ),
  }
}
