// The options that `check`, `build` and `nightly` share.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { parseIsoDate, parseIsoInstant } from '#core/calendar.ts'
import { EFFORTS } from '#core/contract/manifest.ts'
import type { FleetOrder } from '#fleet/open-fleet.ts'
import { RUN_NAME, readPlan } from '#fleet/run-files.ts'
import type { Declarations } from '#static-build/declarations.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { ownRedisFile, redisAddress } from '../settings/environment.ts'
import { readBy, text, wholeNumber } from '../settings/text.ts'
import { flag, type OptionsOf, option, repeated, required } from './command.ts'
import { readSettings, SIGNING_OPTIONS, type SigningConsent, STORE_OPTIONS } from './store-option.ts'

/** More threads than this only wait for each other. */
const MOST_THREADS = 64

export const threadsFor = (cores: number): number => Math.min(cores, MOST_THREADS)

export const THREADS = {
  threads: option(
    '<n>',
    'worker threads (default: one for each core)',
    wholeNumber(1, MOST_THREADS, `a whole number from 1 to ${MOST_THREADS}`),
  ),
}

export const BOOK_OPTIONS = {
  book: required('<dir>', 'the folder with catalogue.yaml', text),
  asOf: option(
    '<date>',
    'the last day of the window, such as 2026-06-30 (default: the last day of the data)',
    readBy(parseIsoDate, 'a date such as 2026-06-30'),
  ),
  allowStale: flag('accept bars, funding and returns that end more than 36 hours ago'),
  ...THREADS,
}

type BookOptions = Partial<OptionsOf<typeof BOOK_OPTIONS>> & { readonly book: string }

export const toBookOrder = (
  { book, asOf, allowStale = false, threads }: BookOptions,
  { cwd, cores }: Runtime,
) => ({ book: resolve(cwd, book), asOf: asOf ?? null, allowStale, threads: threads ?? threadsFor(cores) })

/** Seconds without a finished task after which the coordinator does what is missing. */
const DEFAULT_WAIT_S = 60
const LONGEST_WAIT_S = 86_400

export const runName = text.regex(RUN_NAME).describe("up to 64 letters, digits, '.', '_' and '-'")

/** Seconds from 0. */
export const seconds = (expected: string, most = Number.POSITIVE_INFINITY) =>
  readBy(given => (Number(given) >= 0 && Number(given) <= most ? Number(given) : null), expected)

const FLEET_OPTIONS = {
  run: option('<name>', 'build on workers that are started with the same --run', runName),
  fleet: option(
    '<redis-url>',
    'build on workers that take jobs from this Redis (default: FLEET_URL)',
    redisAddress,
  ),
  fleetWait: option(
    '<seconds>',
    `go on without workers if none finishes a task for so long (default: ${DEFAULT_WAIT_S})`,
    seconds(`seconds from 0 to ${LONGEST_WAIT_S}`, LONGEST_WAIT_S),
  ),
}

/** Null if the build has no fleet. */
function toFleetOrder(
  { run, fleet, fleetWait = DEFAULT_WAIT_S }: Partial<OptionsOf<typeof FLEET_OPTIONS>>,
  fleetUrl: string | null,
): FleetOrder | null {
  const redisUrl = fleet ?? (run === undefined ? fleetUrl : null)
  if (run === undefined && redisUrl === null) return null
  return { run: run ?? null, redisUrl, waitMs: 1_000 * fleetWait }
}

/** The version that a run was started with, or null if it has no plan. */
export const plannedVersion = async (
  privateStore: ObjectStore,
  fleet: FleetOrder | null,
): Promise<string | null> =>
  fleet?.run == null
    ? null
    : ((await readPlan({ privateStore, run: fleet.run, phase: 'compute' }))?.version ?? null)

export const BUILD_OPTIONS = {
  ...BOOK_OPTIONS,
  ...STORE_OPTIONS,
  ...SIGNING_OPTIONS,
  ...FLEET_OPTIONS,
  version: option(
    '<instant>',
    'name of the version, such as 2026-11-21T00:15:00Z (default: now)',
    text.refine(given => parseIsoInstant(given) !== null).describe('an instant such as 2026-11-21T00:15:00Z'),
  ),
  effort: option(
    '<best|good|quick>',
    'compression effort (default: BUILD_EFFORT, or good)',
    z.enum(EFFORTS).describe(EFFORTS.join(', ')),
  ),
  restate: repeated('<id>', 'let these strategies change published history (repeatable, or ID,ID)'),
  remove: repeated('<id>', 'remove strategies that were published (repeatable, or ID,ID)'),
  sameRules: repeated('<id>', 'declare that the rules of changed modules are the same'),
  afterLost: repeated('<version>', 'follow a version that can never be read again'),
  reason: option('<text>', 'why, published with each of the four above'),
}

type BuildOptions = Partial<OptionsOf<typeof BUILD_OPTIONS>> & BookOptions

export type BuildOrder = Readonly<ReturnType<typeof toBuildOrder>>

/** Throws a UsageError for options that are not valid together. */
export function toBuildOrder(options: BuildOptions, runtime: Runtime) {
  const settings = readSettings(options, runtime)
  const consent: SigningConsent = options
  return {
    ...toBookOrder(options, runtime),
    settings,
    /** The dataset version, an ISO instant; null for the moment of the build. */
    version: options.version ?? null,
    declared: toDeclarations(options),
    consent,
    /** Whether there may be live signals now, which must equal those of the replay. */
    hasLive: () => settings.REDIS_URL !== null || existsSync(ownRedisFile(settings.DATA_FOLDER)),
    effort: options.effort ?? settings.BUILD_EFFORT,
    fleet: toFleetOrder(options, settings.FLEET_URL),
  }
}

/** Nothing is declared without a public reason. */
function toDeclarations({ restate, remove, sameRules, afterLost, reason = '' }: BuildOptions): Declarations {
  const isAny = [restate, remove, sameRules, afterLost].some(names => names !== undefined)
  if (isAny !== /^(?=.*\S)\P{Cc}{1,500}$/u.test(reason))
    throw new UsageError(
      '--reason: expected a line of text that every user may read, together with --restate, --remove, --same-rules or ' +
        `--after-lost, got '${reason}'`,
    )
  const namesIn = (given: readonly string[] = []) => new Set(given.flatMap(names => names.split(',')))
  return {
    ...{ restate: namesIn(restate), remove: namesIn(remove) },
    ...{ same_rules: namesIn(sameRules), after_lost: namesIn(afterLost) },
    reason,
  }
}
