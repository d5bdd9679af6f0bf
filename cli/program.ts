import { Command, CommanderError } from 'commander'
import { messageOf, remedied } from '#storage/error-code.ts'
import project from '../package.json' with { type: 'json' }
import type { Define } from './options/command.ts'
import { EXIT, ExitError, type Runtime, UsageError } from './runtime.ts'

/** What each command is for, in the order of `--help`. */
const COMMANDS = {
  run: 'serve history, signals and the operator interface; build the sample book if nothing is published',
  init: 'write a commented starter book that builds without changes',
  import: 'bring bars, ledgers or returns from elsewhere into a book',
  check: 'validate a book without publishing it',
  preview: 'show the figures of a book beside the published ones, and serve them on the side',
  build: 'compute the dataset of a book and publish it as a version',
  worker: 'render strategies for a build that another machine coordinates',
  nightly: 'import data, build, publish, verify and report, for a nightly job',
  serve: 'serve the published history, the live signals, or both',
  nginx: 'write the configuration of nginx for this installation, with HTTPS if it has a certificate',
  live: 'run the strategies of a book live, bar by bar, and fire their signals',
  versions: 'list the published versions, newest first',
  rollback: 'serve an older version again; nothing is deleted',
  refresh: 'extend the expiry of the served version, if no new version was published',
  'verify-store': 'check every published file against its checksum',
  'verify-remote': 'check the log, the signatures and the files that a service publishes',
  'verify-live': 'check the sealed live signals that a service publishes, and what follows from them',
  diff: 'show what one version appends to another, what it changes, and why',
  prune: 'remove old versions (requests for them get 410)',
  ops: 'manage signals, clients and deliveries',
  seals: 'show the state of the sealer, or begin a new chain of seals',
  doctor: 'look at everything that an installation needs, and say what to do',
  keys: 'manage the keys that sign publications',
  sample: 'write the sample book: eight strategies on synthetic prices',
} as const

/** A command is loaded when it runs: loading all of them takes half a second. */
const LOAD: Readonly<Record<keyof typeof COMMANDS, () => Promise<Define>>> = {
  run: async () => (await import('./commands/run.ts')).defineRun,
  init: async () => (await import('./commands/new-book.ts')).defineInit,
  import: async () => (await import('./commands/import.ts')).defineImport,
  check: async () => (await import('./commands/check.ts')).defineCheck,
  preview: async () => (await import('./commands/preview.ts')).definePreview,
  build: async () => (await import('./commands/build.ts')).defineBuild,
  worker: async () => (await import('./commands/worker.ts')).defineWorker,
  nightly: async () => (await import('./commands/nightly.ts')).defineNightly,
  serve: async () => (await import('./commands/serve.ts')).defineServe,
  nginx: async () => (await import('./commands/nginx.ts')).defineNginx,
  live: async () => (await import('./commands/live.ts')).defineLive,
  versions: async () => (await import('./commands/versions.ts')).defineVersions,
  rollback: async () => (await import('./commands/versions.ts')).defineRollback,
  refresh: async () => (await import('./commands/versions.ts')).defineRefresh,
  'verify-store': async () => (await import('./commands/verify.ts')).defineVerifyStore,
  'verify-remote': async () => (await import('./commands/verify.ts')).defineVerifyRemote,
  'verify-live': async () => (await import('./commands/verify-live.ts')).defineVerifyLive,
  diff: async () => (await import('./commands/diff.ts')).defineDiff,
  prune: async () => (await import('./commands/versions.ts')).definePrune,
  seals: async () => (await import('./commands/seals.ts')).defineSeals,
  doctor: async () => (await import('./commands/doctor.ts')).defineDoctor,
  ops: async () => (await import('./commands/ops/ops.ts')).defineOps,
  keys: async () => (await import('./commands/keys.ts')).defineKeys,
  sample: async () => (await import('./commands/new-book.ts')).defineSample,
}

/** The settings take their time to load, and only the help of the whole program names them. */
async function helpText(): Promise<string> {
  const { ENVIRONMENT_HELP } = await import('./settings/environment.ts')
  const { SETTINGS_NAME, SETTINGS_VARIABLE } = await import('./settings/settings-file.ts')
  return `
Environment:
${ENVIRONMENT_HELP}

The same names in ${SETTINGS_NAME} in the working folder, or in the file that ${SETTINGS_VARIABLE} names, set what no variable sets.

Exit codes:
  ${EXIT.done}  success
  ${EXIT.failed}  failure: stderr has the reason, and the version that was served stays served
  ${EXIT.usage}  wrong usage, or an invalid environment variable; nothing was started

Examples:
  highwater init ./book
  highwater build --book ./book --store file:///tmp/highwater/store
  STORE_URL=file:///tmp/highwater/store highwater serve history
  highwater build --help`
}

/** Runs a command and returns its exit code. Never throws: errors are printed on stderr. */
export async function runCommand(args: readonly string[], runtime: Runtime): Promise<number> {
  try {
    const program = await createProgram(args, await withSettings(args, runtime))
    await program.parseAsync(args, { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof ExitError) return error.code
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    runtime.terminal.note(describe(error))
    return error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

/** The help needs no settings, and `doctor` reports what is wrong with them. */
async function withSettings(args: readonly string[], runtime: Runtime): Promise<Runtime> {
  if (['doctor', undefined].includes(calledCommand(args)) || args.includes('--help')) return runtime
  const { mergeSettings, readSettingsFile } = await import('./settings/settings-file.ts')
  const { values } = await readSettingsFile(runtime)
  return { ...runtime, env: mergeSettings(runtime.env, values) }
}

/** The command that is called, or that `help` is asked about: the options before it have no values. */
export function calledCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter(arg => !arg.startsWith('-'))
  return first === 'help' ? second : first
}

/** Only the command that is called is loaded; `--help` needs no more than the descriptions of the others. */
async function createProgram(args: readonly string[], runtime: Runtime): Promise<Command> {
  const program = new Command('highwater')
    .description('Publishes the recomputable history of trading strategies and serves it.')
    .version(project.version)
    .enablePositionalOptions() // `build --version` names a version of the data
    .configureOutput({
      writeOut: text => runtime.terminal.print(text.trimEnd()),
      writeErr: text => runtime.terminal.note(text.trimEnd()),
    })
    .exitOverride()
    .showHelpAfterError('(--help lists the options)')
  const called = calledCommand(args)
  if (called === undefined && !args.includes('--version')) program.addHelpText('after', await helpText())
  for (const [name, about] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(about)
    if (name === called) (await LOAD[name as keyof typeof COMMANDS]())(command, runtime)
  }
  return program
}

/** Expected errors are printed as a sentence; any other error is a bug of ours and keeps its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return `highwater: ${String(error)}`
  if (error.name === 'BookError') return error.message // each problem with its place, as an editor finds it
  const isOurs = ['TypeError', 'RangeError', 'ReferenceError'].includes(error.name)
  return isOurs ? `highwater failed: ${error.stack}` : `highwater: ${messageOf(remedied(error))}`
}
