import { assertApart } from '#storage/open-store.ts'
import { define, group } from '../options/command.ts'
import type { Runtime } from '../runtime.ts'
import { type Started, serveUntilStopped } from '../services/started.ts'
import { type Environment, readEnvironment } from '../settings/environment.ts'

const GROUP_EXAMPLES = `
Examples:
  highwater serve history
  highwater serve all`

const HISTORY_EXAMPLES = `
Examples:
  highwater serve history
  STORE_URL=file:///var/lib/highwater HISTORY_PORT=9000 highwater serve history`

const SIGNALS_EXAMPLES = `
If REDIS_URL is not set, it starts a local Redis with its data in DATA_FOLDER.

Examples:
  highwater serve signals
  REDIS_URL=redis://127.0.0.1:6379 SIGNALS_PORT=9001 highwater serve signals`

export const defineServe = group(GROUP_EXAMPLES, {
  history: [
    'the public history service',
    define({}, HISTORY_EXAMPLES, (_, runtime) => run(runtime, startHistory)),
  ],
  signals: [
    'the signals service with deliveries, and the operator interface',
    define({}, SIGNALS_EXAMPLES, (_, runtime) => run(runtime, startSignals)),
  ],
  all: [
    'both in one process',
    define({}, '\nExample:\n  highwater serve all', (_, runtime) => run(runtime, startHistory, startSignals)),
  ],
})

/** Loads a part of the system, starts it, and prints its address. Resolves with what rejects if it cannot continue. */
type Part = (
  environment: Environment,
  runtime: Runtime,
  started: Started,
) => Promise<readonly Promise<never>[]>

async function run(runtime: Runtime, ...parts: readonly Part[]): Promise<void> {
  const environment = readEnvironment(runtime)
  await assertApart(environment.STORE_URL, environment.PRIVATE_STORE_URL)
  await serveUntilStopped(runtime, async started => {
    const failures: Promise<never>[] = []
    for (const start of parts) failures.push(...(await start(environment, runtime, started)))
    return failures
  })
}

const startHistory: Part = async (environment, runtime, started) => {
  const { print, note } = runtime.terminal
  const { serveHistory } = await import('../services/serve-history.ts')
  const service = await serveHistory(environment, runtime, note)
  started.add(service.stop)
  print(`history service on ${service.url}`)
  print(`its metrics on ${service.adminUrl}/metrics`)
  return []
}

const startSignals: Part = async (environment, runtime, started) => {
  const { print } = runtime.terminal
  const { runSignals } = await import('../services/run-signals.ts')
  const { url, operatorUrl, failed, stop } = await runSignals({ environment, runtime, hasDemo: false })
  started.add(stop)
  print(`signals service on ${url}`)
  print(`operator interface on ${operatorUrl}/ops`)
  return [failed]
}
