import { startServer } from '#api/service/http-server.ts'
import { connectFleet, openWorker } from '#fleet/open-fleet.ts'
import { serveJobs } from '#fleet/queue.ts'
import { PHASES, type Phase, readEnd } from '#fleet/run-files.ts'
import { doShare, joinRun, type Run, type Share, type Worker } from '#fleet/worker.ts'
import { measureWorker } from '#fleet/worker-metrics.ts'
import { fleetCode } from '../build/describe-code.ts'
import { runName, seconds, THREADS, threadsFor } from '../options/build-options.ts'
import { define, type OptionsOf, option } from '../options/command.ts'
import { openStores, readSettings, STORE_OPTIONS } from '../options/store-option.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { type Environment, port, redisAddress } from '../settings/environment.ts'
import { readBy } from '../settings/text.ts'

const ABOUT = `
A worker computes and renders strategies of a build that another machine coordinates. It needs the same release and Node as the build, and
both stores, but neither the book nor the signing key. It takes jobs from a Redis until it is stopped, or, with --run and
--share, one of n equal shares of one build, then what other shares left undone, and ends.

Examples:
  highwater worker --fleet redis://10.0.0.5:6379 --store s3://bucket/highwater
  highwater worker --run nightly-17 --share 3/8`

/** A book of ten thousand strategies is computed in this time. */
const DEFAULT_WAIT_S = 3_600
const LOOK_MS = 1_000

const OPTIONS = {
  ...STORE_OPTIONS,
  ...THREADS,
  fleet: option('<redis-url>', 'take jobs from this Redis (default: FLEET_URL)', redisAddress),
  run: option('<name>', 'the run whose share is done: the --run of the build', runName),
  share: option('<k/n>', 'the share: k from 1 to n', readBy(toShare, 'k/n such as 3/8, with k from 1 to n')),
  wait: option(
    '<seconds>',
    `how long the build may take to begin the run (default: ${DEFAULT_WAIT_S})`,
    seconds('seconds'),
  ),
  metricsPort: option('<port>', 'serve /metrics for Prometheus there, on HOST', port),
}

type Options = OptionsOf<typeof OPTIONS>

export const defineWorker = define(OPTIONS, ABOUT, runWorker)

async function runWorker(options: Options, runtime: Runtime): Promise<void> {
  const { elapsed, root, terminal } = runtime
  const settings = readSettings(options, runtime)
  const order = toWorkerOrder(options, settings)
  const threads = options.threads ?? threadsFor(runtime.cores)
  const stores = await openStores(settings)
  const opened = openWorker({ ...stores, threads, code: await fleetCode(root), elapsed })
  const { worker, meter } = measureWorker(opened.worker, threads, elapsed)
  const { metricsPort } = options
  const metrics = metricsPort === undefined ? null : await serve(meter, settings.HOST, metricsPort)
  if (metrics !== null) terminal.note(`metrics on ${metrics.url}/metrics`)
  try {
    if ('share' in order) await workOnShare(worker, order, runtime)
    else await workOnJobs(worker, order.redisUrl, runtime)
  } finally {
    await metrics?.close()
    await opened.close()
  }
}

/** Serves `/metrics`. Rejects with a sentence if the port is taken. */
const serve = (meter: ReturnType<typeof measureWorker>['meter'], host: string, port: number) =>
  startServer(
    () => async request => {
      if (new URL(request.url).pathname !== '/metrics') return new Response('GET /metrics\n', { status: 404 })
      const { contentType, text } = await meter.read()
      return new Response(text, { headers: { 'content-type': contentType } })
    },
    host,
    port,
  )

type ShareOrder = { readonly run: string; readonly share: Share; readonly waitMs: number }

/** Throws a UsageError for options that are not valid together. */
function toWorkerOrder(
  { fleet, run, share, wait = DEFAULT_WAIT_S }: Options,
  { FLEET_URL }: Environment,
): ShareOrder | { readonly redisUrl: string } {
  if (run !== undefined && share !== undefined) return { run, share, waitMs: 1_000 * wait }
  if (run !== undefined || share !== undefined) throw new UsageError('--run and --share are used together')
  const redisUrl = fleet ?? FLEET_URL
  if (redisUrl !== null) return { redisUrl }
  throw new UsageError('expected --fleet with the address of a Redis, or --run and --share')
}

/** Null for a text that is no share. */
function toShare(text: string): Share | null {
  const [, k, n] = /^([1-9]\d{0,4})\/([1-9]\d{0,4})$/.exec(text) ?? []
  const share = { index: Number(k) - 1, of: Number(n) }
  return k !== undefined && share.index < share.of ? share : null
}

async function workOnShare(worker: Worker, { run: name, share, waitMs }: ShareOrder, runtime: Runtime) {
  const { note, print } = runtime.terminal
  for (const phase of PHASES) {
    const run = await untilBegun(worker, name, phase, waitMs, runtime)
    if (run === null) return print(`the run ${name} is over`)
    await doShare(worker, run, share, runtime.pause)
    note(`every task of the run ${name} is done (${phase})`)
  }
  print(`every strategy of the run ${name} is rendered`)
}

/** A phase of the run once it has a plan; null if the run is over. Rejects if there is none in time. */
async function untilBegun(
  worker: Worker,
  name: string,
  phase: Phase,
  waitMs: number,
  { elapsed, pause, terminal }: Runtime,
): Promise<Run | null> {
  const untilMs = elapsed() + waitMs
  for (let tries = 0; ; tries++) {
    const run = await joinRun(worker, name, phase)
    if (run !== null || (await readEnd(worker.privateStore, name)) !== null) return run
    if (elapsed() >= untilMs)
      throw new Error(
        `no build has begun the run ${name} (${phase}) in ${worker.privateStore.url} for ${waitMs / 1_000} s: start \`highwater build --run ` +
          `${name}\` on the same stores`,
      )
    if (tries === 0) terminal.note(`waiting for the run ${name} (${phase})`)
    await pause(LOOK_MS)
  }
}

async function workOnJobs(worker: Worker, redisUrl: string, { terminal, untilStopped }: Runtime) {
  const connection = await connectFleet(redisUrl, 'worker')
  const service = serveJobs(worker, connection)
  const stopped = untilStopped() // a signal may follow the line below at once
  try {
    terminal.print(`worker ${worker.name} of code ${worker.code} takes jobs`)
    await Promise.race([stopped, service.failed])
  } finally {
    await service.close()
    connection.disconnect()
  }
}
