import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sealKey } from '#core/contract/seals.ts'
import { OTHER_BYTES_REMEDY } from '#storage/object-store.ts'
import { assertApart, openStore } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readSeal } from '#storage/seals/chain.ts'
import { createSigner } from '#storage/signature.ts'
import { toBuildOrder } from '../options/build-options.ts'
import { define, flag } from '../options/command.ts'
import { openStores } from '../options/store-option.ts'
import type { Terminal } from '../print/terminal.ts'
import type { Runtime } from '../runtime.ts'
import type { RunningSignals } from '../services/run-signals.ts'
import { serveUntilStopped } from '../services/started.ts'
import { type Environment, readEnvironment } from '../settings/environment.ts'
import { isLoopback, readSecrets } from '../settings/generated-secrets.ts'

const OPTIONS = { historyOnly: flag('serve the history only; needs no Redis') }

export const defineRun = define(OPTIONS, '\nExample:\n  highwater run', async ({ historyOnly }, runtime) => {
  const { env, terminal } = runtime
  const environment = readEnvironment(runtime)
  await assertApart(environment.STORE_URL, environment.PRIVATE_STORE_URL)
  const { HOST, SIGNALS_PORT } = environment
  // An address that others do not reach, or a port that is not known yet, is in no page.
  const hasAddress = !historyOnly && isLoopback(HOST) && SIGNALS_PORT !== 0
  await publishSampleOnce(environment, runtime, hasAddress ? `http://${HOST}:${SIGNALS_PORT}/program` : null)
  const isSimulated = await leaveSimulation(environment, runtime, historyOnly)
  // Only now: until then a signal ends the process at once, as it does a build.
  await serveUntilStopped(runtime, async started => {
    const { serveHistory } = await import('../services/serve-history.ts') // loaded only if it is needed
    // On a terminal only warnings are logged, unless LOG_LEVEL is set.
    const quiet: Environment = env.LOG_LEVEL ? environment : { ...environment, LOG_LEVEL: 'warn' }
    const history = await serveHistory(quiet, runtime, terminal.note)
    let signals: RunningSignals | null = null
    started.add(() => Promise.all([history.stop(), signals?.stop()])) // their drains run side by side
    const hasDemo = isLoopback(environment.HOST) && environment.REDIS_URL === null
    if (!historyOnly) {
      const { runSignals } = await import('../services/run-signals.ts')
      const linked = { ...environment, HISTORY_BASE_URL: environment.HISTORY_BASE_URL ?? history.url }
      signals = await runSignals({ environment: linked, runtime, hasDemo })
    }
    printExamples(history.url, signals, isSimulated, terminal)
    return signals === null ? [] : [signals.failed]
  })
})

function printExamples(
  url: string,
  signals: RunningSignals | null,
  isSimulated: boolean,
  { print }: Terminal,
): void {
  print(`open ${url}/ in a browser: the book, a fact sheet of each strategy, and the guides`)
  print(`history service on ${url}`)
  if (signals !== null) {
    print(`signals service on ${signals.url}`)
    print(`operator interface on ${signals.operatorUrl}/ops`)
    print(`Redis on ${signals.redisAddress}`)
  }
  if (isSimulated)
    print('the live record of the sample is simulated: nobody traded, and everybody has the key of its seals')
  print('')
  print('try:')
  print(`  curl ${url}/v1/strategies`)
  print(`  curl '${url}/v1/strategies/alder/stats?risk_pct=0.01'`)
  print(`  curl '${url}/v1/export?format=csv'`)
  if (isSimulated) print(`  curl ${url}/v1/strategies/cedar/live`)
  if (signals?.hasProgram) for (const line of programCommands(signals)) print(`  ${line}`)
  if (signals?.demo) {
    print(`  curl -H 'X-API-Key: ${signals.demo.token}' ${signals.url}/v1/whoami`)
    if (signals.demo.hasReceiver)
      print(`  npx highwater ops test ${signals.demo.client}    and see what its receiver prints here`)
  }
  print(`  ${url}/openapi.json describes every endpoint; Ctrl-C stops everything`)
}

const SIMULATION = '{"equity_usd":10000,"contribution_cadence_bars":30}'

/** Commands for the accumulation program, public and with the demo key. */
const programCommands = ({ url, demo }: RunningSignals): string[] => [
  `curl ${url}/v1/program/preview`,
  `curl -H 'Content-Type: application/json' -d '${SIMULATION}' ${url}/v1/program/preview/simulate`,
  ...(demo === null ? [] : [`curl -H 'X-API-Key: ${demo.token}' ${url}/v1/program/basket`]),
]

/** Whether the chain of seals begins with the simulated weeks; a signals service goes on after them. */
async function leaveSimulation(environment: Environment, runtime: Runtime, historyOnly = false) {
  const stores = await openStores(environment)
  const first = await readSeal(key => stores.store.read(key), sealKey(1))
  if (first === null) return false
  const { leaveSimulatedWeeks, SIMULATED_ORIGIN } = await import('../build/simulated-live.ts')
  if (first.seal.origin !== SIMULATED_ORIGIN) return false
  if (historyOnly) return true
  const { sealKey: key, sealSecret: secret } = await readSecrets(environment, runtime.drawBytes)
  await leaveSimulatedWeeks(stores, { signer: createSigner(key), secret, nowMs: runtime.now() })
  return true
}

/** Builds and publishes the sample book if nothing is published. Only the first run loads the code of a build. */
async function publishSampleOnce(settings: Environment, runtime: Runtime, programUrl: string | null) {
  const { STORE_URL, PRIVATE_STORE_URL, s3 } = settings
  if ((await readHead(await openStore(STORE_URL, s3))) !== null) return
  runtime.terminal.note(`nothing is published in ${STORE_URL}: building the sample book there`)
  const { SAMPLE_AS_OF, SAMPLE_VERSION, writeSampleBook } = await import(
    '#pipeline/sample/write-sample-book.ts'
  )
  const { buildVersion } = await import('../build/build-version.ts')
  const { sealSimulatedWeeks } = await import('../build/simulated-live.ts')
  // A new folder: two processes that start at the same time must not write into each other's book.
  const book = await mkdtemp(join(tmpdir(), 'highwater-sample-'))
  const dated = { book, version: SAMPLE_VERSION, asOf: SAMPLE_AS_OF }
  const order = { ...toBuildOrder(dated, runtime), hasLive: () => false, fleet: null }
  try {
    const market = await writeSampleBook(book, programUrl)
    await sealSimulatedWeeks(await openStores(settings), market)
    await buildVersion(order, runtime)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes(OTHER_BYTES_REMEDY)) throw error
    // The sample always has the same version, so files of another version of the code must be removed.
    const remedy =
      `the store has a sample that another version of the code began to build: remove ${STORE_URL} and ${PRIVATE_STORE_URL} ` +
      '(`make clean` does if they are in .data), and run the command again'
    throw new Error(error.message.replace(OTHER_BYTES_REMEDY, remedy), { cause: error })
  } finally {
    await rm(book, { recursive: true, force: true })
  }
}
