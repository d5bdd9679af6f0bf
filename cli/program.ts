import { Command, CommanderError } from 'commander'
import { BookError } from '#pipeline/book/problem.ts'
import project from '../package.json' with { type: 'json' }
import { addBuild } from './commands/build.ts'
import { addDiff } from './commands/diff.ts'
import { addInit } from './commands/init.ts'
import { addKeys } from './commands/keys.ts'
import { addLive } from './commands/live.ts'
import { addNightly } from './commands/nightly.ts'
import { addOps } from './commands/ops/ops.ts'
import { addPrune } from './commands/prune.ts'
import { addPurge } from './commands/purge.ts'
import { addRefresh, addRollback } from './commands/rollback.ts'
import { addRun } from './commands/run.ts'
import { addSample } from './commands/sample.ts'
import { addServe } from './commands/serve.ts'
import { addVerifyRemote } from './commands/verify-remote.ts'
import { addVerifyStore } from './commands/verify-store.ts'
import { addVersions } from './commands/versions.ts'
import { ENVIRONMENT_HELP } from './environment.ts'
import type { Surroundings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** Exit codes: what cron and systemd see. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const

/** Runs the command that `args` name and returns its exit code; an error is told on stderr, never thrown. */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const terminal = openOnce(surroundings.terminal)
  const program = createProgram({ ...surroundings, terminal })
  try {
    await program.parseAsync(args, { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    terminal(false).note(describe(error))
    return error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

/** One terminal a command: an error is told by the one whose bar it interrupts. */
function openOnce(open: Surroundings['terminal']): Surroundings['terminal'] {
  let opened: Terminal | null = null
  return json => {
    opened ??= open(json)
    return opened
  }
}

/** In the order of `--help`. */
const COMMANDS = [
  addRun,
  addInit,
  addBuild,
  addNightly,
  addServe,
  addLive,
  addVersions,
  addRollback,
  addRefresh,
  addPurge,
  addVerifyStore,
  addVerifyRemote,
  addDiff,
  addPrune,
  addOps,
  addKeys,
  addSample,
]

function createProgram(surroundings: Surroundings): Command {
  const program = new Command('highwater')
    .description('Publishes the audited history of trading strategies and serves it.')
    .version(project.version)
    .enablePositionalOptions() // `build --version` names a version of the data
    .configureOutput({
      writeOut: text => surroundings.terminal(false).print(text.trimEnd()),
      writeErr: text => surroundings.terminal(false).note(text.trimEnd()),
    })
    .exitOverride()
    .showHelpAfterError('(--help lists the options)')
    .addHelpText('after', `\nEnvironment:\n${ENVIRONMENT_HELP}`)
  for (const add of COMMANDS) add(program, surroundings)
  return program
}

/** What people can act on is told as a sentence; anything else is a fault of ours and keeps its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return `highwater: ${String(error)}`
  const isOurs = error.name === 'TypeError' || error.name === 'RangeError' || error.name === 'ReferenceError'
  if (error instanceof BookError) return error.message
  return isOurs ? `highwater failed: ${error.stack}` : `highwater: ${error.message}`
}
