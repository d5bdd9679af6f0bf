import type { Command } from 'commander'
import { assertApart } from '#storage/open-store.ts'
import type { Runtime } from '../runtime.ts'
import { createStarted, type Started } from '../services/started.ts'
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

const ALL_EXAMPLES = `
Example:
  highwater serve all`

/** `highwater serve history|signals|all`: serves until a signal ends it. */
export function defineServe(command: Command, runtime: Runtime): void {
  command.addHelpText('after', GROUP_EXAMPLES)
  const add = (name: string, about: string, examples: string, parts: readonly Part[]) =>
    command
      .command(name)
      .description(about)
      .addHelpText('after', examples)
      .action(() => run(runtime, parts))
  add('history', 'the public history service', HISTORY_EXAMPLES, [startHistory])
  add('signals', 'the signals service with deliveries, and the operator interface', SIGNALS_EXAMPLES, [
    startSignals,
  ])
  add('all', 'both in one process', ALL_EXAMPLES, [startHistory, startSignals])
}

/**
 * Loads a part of the system, starts it, and prints its address. `failed` rejects if the part cannot continue.
 */
type Part = (serving: Serving) => Promise<{ readonly failed?: Promise<never> }>

type Serving = {
  readonly runtime: Runtime
  readonly environment: Environment
  readonly started: Started
}

async function run(runtime: Runtime, parts: readonly Part[]): Promise<void> {
  const terminal = runtime.terminal
  const environment = readEnvironment(runtime)
  await assertApart(environment.storeUrl, environment.privateStoreUrl)
  const stopped = runtime.untilStopped() // before the addresses are printed: a signal may follow at once
  const started = createStarted()
  try {
    const ends = [stopped]
    for (const start of parts) {
      const { failed } = await start({ runtime, environment, started })
      if (failed !== undefined) ends.push(failed)
    }
    await Promise.race(ends)
    terminal.note('stopping: running requests end first')
  } finally {
    await started.endAll()
  }
}

async function startHistory({ runtime, environment, started }: Serving) {
  const { terminal } = runtime
  const { serveHistory } = await import('../services/serve-history.ts')
  const service = await serveHistory(environment, runtime, terminal.note)
  started.add(service.stop)
  terminal.print(`history service on ${service.url}`)
  terminal.print(`its metrics on ${service.adminUrl}/metrics`)
  return {}
}

async function startSignals(serving: Serving) {
  const { runtime, environment, started } = serving
  const { terminal } = runtime
  const { runSignals } = await import('../services/run-signals.ts')
  const signals = await runSignals({ runtime, environment, hasDemo: false })
  started.add(signals.stop)
  terminal.print(`signals service on ${signals.url}`)
  terminal.print(`operator interface on ${signals.operatorUrl}/ops`)
  return { failed: signals.failed }
}
