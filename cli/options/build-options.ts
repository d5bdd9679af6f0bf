// The options that `check`, `build` and `nightly` share.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type EpochDay, parseIsoDate, parseIsoInstant } from '#core/calendar.ts'
import { EFFORTS, type Effort } from '#core/contract/effort.ts'
import type { Declarations } from '#static-build/declarations.ts'
import { addFleetOptions, type FleetOptions, toFleetOrder } from '../fleet-options.ts'
import { addSigningOptions, type SigningOptions, toConsent } from '../guard-pointer.ts'
import type { Runtime } from '../runtime.ts'
import { ownRedisFile, readEnvironment, UsageError } from '../settings/environment.ts'
import { addStoreOptions, type StoreOptions, storeUrls } from './store-option.ts'

export type BookOptions = {
  readonly book: string
  readonly asOf?: string
  readonly threads?: string
  readonly allowStale?: boolean
}

/** Which book, and up to which day. */
export const addBookOptions = (command: Command): Command =>
  addThreadsOption(
    command
      .requiredOption('--book <dir>', 'the folder with catalogue.yaml')
      .option(
        '--as-of <date>',
        'the last day of the window, such as 2026-06-30 (default: the last day of the data)',
      )
      .option('--allow-stale', 'accept bars, funding and returns that end more than 36 hours ago'),
  )

/** `--threads`, as every command that computes or renders has it. */
export const addThreadsOption = (command: Command): Command =>
  command.option('--threads <n>', 'worker threads (default: one for each core)')

/** Throws a UsageError for an option that is not valid. */
export const toBookOrder = ({ book, asOf, threads, allowStale }: BookOptions, { cwd, cores }: Runtime) => ({
  book: resolve(cwd, book),
  asOf: parseDay(asOf),
  allowStale: allowStale ?? false,
  threads: parseThreads(threads, cores),
})

export type BuildOptions = BookOptions &
  StoreOptions &
  SigningOptions &
  FleetOptions & {
    readonly [names in 'restate' | 'remove' | 'sameRules' | 'afterLost']?: readonly string[]
  } & {
    readonly version?: string
    readonly effort?: string
    readonly reason?: string
    readonly json?: boolean
  }

/** What to build from, where to publish, and how. */
export const addBuildOptions = (command: Command): Command =>
  addFleetOptions(addSigningOptions(addStoreOptions(addBookOptions(command))))
    .option('--version <instant>', 'name of the version, such as 2026-11-21T00:15:00Z (default: now)')
    .option('--effort <best|good|quick>', 'compression effort (default: BUILD_EFFORT, or good)')
    .option('--restate <id>', 'let these strategies change published history (repeatable, or ID,ID)', collect)
    .option('--remove <id>', 'remove strategies that were published (repeatable, or ID,ID)', collect)
    .option('--same-rules <id>', 'declare that the rules of changed modules are the same', collect)
    .option('--after-lost <version>', 'follow a version that can never be read again', collect)
    .option('--reason <text>', 'why, published with each of the four above')

/** What to build from, where to publish, and as of which day. */
export type BuildOrder = Readonly<ReturnType<typeof toBuildOrder>>

/** Throws a UsageError for an option that is not valid. */
export function toBuildOrder(options: BuildOptions, runtime: Runtime) {
  const { dataFolder, redisUrl, fleetUrl, reporting, operations } = readEnvironment(runtime)
  return {
    ...toBookOrder(options, runtime),
    ...storeUrls(options, runtime),
    /** The dataset version, an ISO instant; null for the moment of the build. */
    version: parseVersion(options.version),
    declared: toDeclarations(options),
    consent: toConsent(options),
    /** The Redis of the live signals, which must equal those of the replay, or our own; null if there is none. */
    live: redisUrl !== null || existsSync(ownRedisFile(dataFolder)) ? { redisUrl, dataFolder } : null,
    /** Where an alert goes if they differ. */
    alertWays: reporting,
    effort: parseEffort(options.effort) ?? operations.buildEffort,
    fleet: toFleetOrder(options, fleetUrl),
  }
}

/** Nothing is declared without a public reason. */
function toDeclarations({ restate, remove, sameRules, afterLost, reason = '' }: BuildOptions): Declarations {
  const isAny = [restate, remove, sameRules, afterLost].some(names => names !== undefined)
  if (isAny !== REASON_FORM.test(reason))
    throw new UsageError(
      '--reason: expected a line of text that every user may read, together with --restate, --remove, --same-rules or ' +
        `--after-lost, got '${reason}'`,
    )
  const namesIn = (given: readonly string[] = []) => new Set(given.flatMap(text => text.split(',')))
  return {
    ...{ restate: namesIn(restate), remove: namesIn(remove) },
    ...{ same_rules: namesIn(sameRules), after_lost: namesIn(afterLost) },
    reason,
  }
}

const REASON_FORM = /^(?=.*\S)\P{Cc}{1,500}$/u

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

function parseEffort(text: string | undefined): Effort | null {
  const effort = EFFORTS.find(each => each === text)
  if (text === undefined || effort !== undefined) return effort ?? null
  throw new UsageError(`--effort: expected ${EFFORTS.join(', ')}, got '${text}'`)
}

/** Throws a UsageError for a number that is not valid. */
export function parseThreads(text: string | undefined, cores: number): number {
  const threads = text === undefined ? threadsFor(cores) : Number(text)
  if (Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS) return threads
  throw new UsageError(`--threads: expected a whole number from 1 to ${MOST_THREADS}, got '${text}'`)
}

/** More threads than this only wait for each other. */
const MOST_THREADS = 64

export const threadsFor = (cores: number): number => Math.min(cores, MOST_THREADS)

/** An option that may be repeated; not a variadic one, which would take the argument that follows it. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
]
