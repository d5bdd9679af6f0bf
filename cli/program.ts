import { Command, CommanderError } from 'commander'
import { BookError } from '#pipeline/book/problem.ts'
import project from '../package.json' with { type: 'json' }
import { COMMANDS } from './commands/commands.ts'
import { ENVIRONMENT_HELP } from './environment.ts'
import type { Surroundings } from './surroundings.ts'
import { UsageError } from './usage-error.ts'

/** Exit codes: what cron and systemd see. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const

const HELP = `
Environment:
${ENVIRONMENT_HELP}

Exit codes:
  ${EXIT.done}  done
  ${EXIT.failed}  it failed, and stderr says at what; what was published before stays served
  ${EXIT.usage}  it was called wrongly, or a variable is unfit; nothing was begun

Examples:
  highwater init ./book
  highwater build --book ./book --store file:///tmp/highwater/store
  STORE_URL=file:///tmp/highwater/store highwater serve history
  highwater build --help`

/** Runs the command that `args` name and returns its exit code; an error is told on stderr, never thrown. */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const program = await createProgram(args, surroundings)
    await program.parseAsync(args, { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    surroundings.terminal.note(describe(error))
    return error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

/** A command is loaded where an argument is its name; of the others the program knows what `--help` tells. */
async function createProgram(args: readonly string[], surroundings: Surroundings): Promise<Command> {
  const program = new Command('highwater')
    .description('Publishes the audited history of trading strategies and serves it.')
    .version(project.version)
    .enablePositionalOptions() // `build --version` names a version of the data
    .configureOutput({
      writeOut: text => surroundings.terminal.print(text.trimEnd()),
      writeErr: text => surroundings.terminal.note(text.trimEnd()),
    })
    .exitOverride()
    .showHelpAfterError('(--help lists the options)')
    .addHelpText('after', HELP)
  for (const { name, about, load } of COMMANDS) {
    const command = program.command(name).description(about)
    if (args.includes(name)) (await load())(command, surroundings)
  }
  return program
}

/** What people can act on is told as a sentence; anything else is a fault of ours and keeps its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return `highwater: ${String(error)}`
  const isOurs = error.name === 'TypeError' || error.name === 'RangeError' || error.name === 'ReferenceError'
  if (error instanceof BookError) return error.message
  return isOurs ? `highwater failed: ${error.stack}` : `highwater: ${error.message}`
}
