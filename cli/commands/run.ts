import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { NOTHING_DECLARED } from '#static-build/declarations.ts'
import { assertApart, openStore } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { OTHER_BYTES_REMEDY } from '#storage/write-once.ts'
import { NO_CONSENT } from '../guard-pointer.ts'
import { threadsFor } from '../options/build-options.ts'
import type { Terminal } from '../print/terminal.ts'
import type { Runtime } from '../runtime.ts'
import type { RunningSignals } from '../services/run-signals.ts'
import type { HistoryService } from '../services/serve-history.ts'
import { type Environment, readEnvironment } from '../settings/environment.ts'
import { isLoopback } from '../settings/generated-secrets.ts'

/** `highwater run`: the whole system on this machine, with the sample book if nothing is published yet. */
export function defineRun(command: Command, runtime: Runtime): void {
  command
    .option('--history-only', 'serve the history only; needs no Redis')
    .addHelpText('after', '\nExample:\n  highwater run')
    .action((options: { readonly historyOnly?: boolean }) => run(runtime, options.historyOnly ?? false))
}

async function run(runtime: Runtime, historyOnly: boolean): Promise<void> {
  const { env } = runtime
  const terminal = runtime.terminal
  const environment = readEnvironment(runtime)
  await assertApart(environment.storeUrl, environment.privateStoreUrl)
  await publishSampleOnce(environment, runtime)
  const stopped = runtime.untilStopped() // only now: until then a signal ends the process at once, as it does a build
  const { serveHistory } = await import('../services/serve-history.ts') // loaded only if it is needed
  const history = await serveHistory(forPeople(environment, env), runtime, terminal.note)
  const signals = historyOnly ? null : await startSignals(environment, runtime, history)
  printExamples(history.url, signals, terminal)
  try {
    await Promise.race(signals === null ? [stopped] : [stopped, signals.failed])
    terminal.note('stopping: running requests end first')
  } finally {
    await Promise.all([history.stop(), signals?.stop()])
  }
}

/** On a terminal only warnings are logged, unless LOG_LEVEL is set. */
const forPeople = (environment: Environment, { LOG_LEVEL }: NodeJS.ProcessEnv): Environment =>
  LOG_LEVEL ? environment : { ...environment, reporting: { ...environment.reporting, logLevel: 'warn' } }

/** If the signals cannot start, the history service is stopped too. */
async function startSignals(
  environment: Environment,
  runtime: Runtime,
  history: HistoryService,
): Promise<RunningSignals> {
  const hasDemo = isLoopback(environment.host) && environment.redisUrl === null
  try {
    const { runSignals } = await import('../services/run-signals.ts')
    return await runSignals({ environment, runtime, hasDemo })
  } catch (error) {
    await history.stop()
    throw error
  }
}

async function publishSampleOnce(environment: Environment, runtime: Runtime): Promise<void> {
  const store = await openStore(environment.storeUrl, environment.s3)
  if ((await readHead(store)) !== null) return
  runtime.terminal.note(`nothing is published in ${environment.storeUrl}: building the sample book there`)
  await publishSample(environment, runtime)
}

function printExamples(url: string, signals: RunningSignals | null, { print }: Terminal): void {
  print(`open ${url}/ in a browser: the book, a fact sheet of each strategy, and the guides`)
  print(`history service on ${url}`)
  if (signals !== null) {
    print(`signals service on ${signals.url}`)
    print(`operator interface on ${signals.operatorUrl}/ops`)
    print(`Redis on ${signals.redisAddress}`)
  }
  print('')
  print('try:')
  print(`  curl ${url}/v1/strategies`)
  print(`  curl '${url}/v1/strategies/alder/stats?risk_pct=0.01'`)
  print(`  curl '${url}/v1/export?format=csv'`)
  if (signals?.hasProgram) for (const line of programCommands(signals)) print(`  ${line}`)
  if (signals?.demo) {
    print(`  curl -H 'X-API-Key: ${signals.demo.token}' ${signals.url}/v1/whoami`)
    if (signals.demo.hasReceiver)
      print(`  npx highwater ops test ${signals.demo.client}    and see what its receiver prints here`)
  }
  print(`  ${url}/openapi.json describes every endpoint; Ctrl-C stops everything`)
}

/** Commands for the accumulation program, public and with the demo key. */
const programCommands = ({ url, demo }: RunningSignals): string[] => [
  `curl ${url}/v1/program/preview`,
  `curl -H 'Content-Type: application/json' -d '${SIMULATION}' ${url}/v1/program/preview/simulate`,
  ...(demo === null ? [] : [`curl -H 'X-API-Key: ${demo.token}' ${url}/v1/program/basket`]),
]

const SIMULATION = '{"equity_usd":10000,"contribution_cadence_bars":30}'

/** Builds and publishes the sample book. Only the first run loads the code of a build. */
async function publishSample(environment: Environment, runtime: Runtime): Promise<void> {
  const { SAMPLE_AS_OF, SAMPLE_VERSION, writeSampleBook } = await import(
    '#pipeline/sample/write-sample-book.ts'
  )
  const { buildVersion } = await import('../build/build-version.ts')
  // A new folder: two processes that start at the same time must not write into each other's book.
  const book = await mkdtemp(join(tmpdir(), 'highwater-sample-'))
  const { storeUrl, privateStoreUrl, s3, reporting, operations } = environment
  const order = {
    ...{ book, storeUrl, privateStoreUrl, s3, version: SAMPLE_VERSION, asOf: SAMPLE_AS_OF },
    ...{ allowStale: false, declared: NOTHING_DECLARED, consent: NO_CONSENT },
    live: null, // the sample has no live signals
    fleet: null,
    alertWays: reporting,
    threads: threadsFor(runtime.cores),
    effort: operations.buildEffort,
  }
  try {
    await writeSampleBook(book)
    await buildVersion(order, runtime)
  } catch (error) {
    throw withRemedy(error, environment)
  } finally {
    await rm(book, { recursive: true, force: true })
  }
}

/** The sample always has the same version, so files of another version of the code must be removed. */
function withRemedy(error: unknown, { storeUrl, privateStoreUrl }: Environment): unknown {
  if (!(error instanceof Error) || !error.message.includes(OTHER_BYTES_REMEDY)) return error
  const remedy =
    `the store has a sample that another version of the code began to build: remove ${storeUrl} and ${privateStoreUrl} ` +
    '(`make clean` does if they are in .data), and run the command again'
  return new Error(error.message.replace(OTHER_BYTES_REMEDY, remedy), { cause: error })
}
