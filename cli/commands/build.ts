import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type EpochDay, parseIsoDate, parseIsoInstant } from '#core/calendar.ts'
import { printSummary, toSummary } from '../build-summary.ts'
import { type BuildOrder, buildVersion } from '../build-version.ts'
import { dataFolder } from '../data-folder.ts'
import { parseEnvironment } from '../environment.ts'
import { followPointer } from '../follow-pointer.ts'
import { addSigningOptions, type SigningOptions, toConsent } from '../signing-options.ts'
import { addStoreOptions, type StoreOptions, storeUrls } from '../store-option.ts'
import type { Surroundings } from '../surroundings.ts'
import { MOST_THREADS, threadsFor } from '../threads.ts'
import { UsageError } from '../usage-error.ts'

type Options = StoreOptions &
  SigningOptions & {
    readonly book: string
    readonly version?: string
    readonly asOf?: string
    readonly threads?: string
    readonly allowStale?: boolean
    readonly allowRestatement?: boolean
    readonly json?: boolean
  }

const EXAMPLES = `
Examples:
  highwater build --book ./book --store file:///var/lib/highwater
  highwater build --book ./book --store file:///tmp/past --as-of 2026-06-30 --version 2026-07-01T00:15:00Z`

/** `highwater build`: computes and publishes. */
export function addBuild(program: Command, surroundings: Surroundings): void {
  const command = program
    .command('build')
    .description('compute the dataset of a book and publish it as a version')
    .requiredOption('--book <dir>', 'the folder with catalogue.yaml')
  addSigningOptions(addStoreOptions(command))
    .option('--version <instant>', 'name of the version, as 2026-11-21T00:15:00Z (default: now)')
    .option('--as-of <date>', 'build the past: the last day of the window, as 2026-06-30')
    .option('--threads <n>', 'worker threads (default: one a core)')
    .option('--allow-stale', 'accept bars and returns that end more than 36 hours ago')
    .option('--allow-restatement', 'alter published history, or follow what is lost, and tell every user so')
    .option('--json', 'print the summary as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => runBuild(options, surroundings))
}

async function runBuild(options: Options, surroundings: Surroundings): Promise<void> {
  const json = options.json ?? false
  const terminal = surroundings.terminal(json)
  const order = toOrder(options, surroundings)
  const summary = toSummary(await buildVersion(order, surroundings, terminal))
  if (json) terminal.json(summary)
  else printSummary(summary, terminal)
  await followPointer(order, surroundings, terminal)
}

function toOrder(options: Options, surroundings: Surroundings): BuildOrder {
  const { env, root } = surroundings
  const { redisUrl, signals } = parseEnvironment(env, dataFolder(root, env))
  return {
    book: resolve(surroundings.cwd, options.book),
    ...storeUrls(options, surroundings),
    version: parseVersion(options.version),
    asOf: parseDay(options.asOf),
    allowStale: options.allowStale ?? false,
    allowRestatement: options.allowRestatement ?? false,
    consent: toConsent(options),
    redisUrl,
    alertWays: signals,
    threads: parseThreads(options.threads, surroundings.cores),
  }
}

function parseVersion(text: string | undefined): string | null {
  if (text === undefined) return null
  if (parseIsoInstant(text) === null)
    throw new UsageError(`--version: expected an instant such as 2026-11-21T00:15:00Z, got '${text}'`)
  return text
}

function parseDay(text: string | undefined): EpochDay | null {
  if (text === undefined) return null
  const day = parseIsoDate(text)
  if (day === null) throw new UsageError(`--as-of: expected a date such as 2026-06-30, got '${text}'`)
  return day
}

function parseThreads(text: string | undefined, cores: number): number {
  const threads = text === undefined ? threadsFor(cores) : Number(text)
  if (Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS) return threads
  throw new UsageError(`--threads: expected a whole number from 1 to ${MOST_THREADS}, got '${text}'`)
}
