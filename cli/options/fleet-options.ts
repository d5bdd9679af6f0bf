// The options of a build on a fleet.
import type { FleetOrder } from '#fleet/open-fleet.ts'
import { RUN_NAME, readPlan } from '#fleet/run-files.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { UsageError } from '../exit.ts'
import { text } from '../settings/text.ts'
import { type OptionsOf, option } from './option.ts'

/** Seconds without a finished task after which the coordinator does what is missing. */
const DEFAULT_WAIT_S = 60
const LONGEST_WAIT_S = 86_400

/** As every command that builds has them. */
export const FLEET_OPTIONS = {
  run: option('<name>', 'build on workers that are started with the same --run', text),
  fleet: option('<redis-url>', 'build on workers that take jobs from this Redis (default: FLEET_URL)', text),
  fleetWait: option(
    '<seconds>',
    `go on without workers if none finishes a task for so long (default: ${DEFAULT_WAIT_S})`,
    text,
  ),
}

type FleetOptions = OptionsOf<typeof FLEET_OPTIONS>

/** Null if the build has no fleet. Throws a UsageError for an option that is not valid. */
export function toFleetOrder(
  { run, fleet, fleetWait }: FleetOptions,
  fleetUrl: string | null,
): FleetOrder | null {
  const redisUrl = toRedisUrl(fleet) ?? (run === undefined ? fleetUrl : null)
  const seconds = Number(fleetWait ?? DEFAULT_WAIT_S)
  if (!(seconds >= 0 && seconds <= LONGEST_WAIT_S)) {
    throw new UsageError(`--fleet-wait: expected seconds from 0 to ${LONGEST_WAIT_S}, got '${fleetWait}'`)
  }
  if (run === undefined && redisUrl === null) return null
  return { run: run === undefined ? null : toRunName(run), redisUrl, waitMs: 1_000 * seconds }
}

/** Throws a UsageError for a name that cannot be one of a run. */
export function toRunName(run: string): string {
  if (RUN_NAME.test(run)) return run
  throw new UsageError(`--run: expected up to 64 letters, digits, '.', '_' and '-', got '${run}'`)
}

/** Throws a UsageError for a text that is no address of a Redis. */
export function toRedisUrl(url: string | undefined): string | null {
  if (url === undefined) return null
  if (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) return url
  throw new UsageError('--fleet: expected the address of a Redis, such as redis://10.0.0.5:6379')
}

/** The version that a run was started with, or null if it has no plan. */
export const plannedVersion = async (
  privateStore: ObjectStore,
  fleet: FleetOrder | null,
): Promise<string | null> =>
  fleet?.run == null
    ? null
    : ((await readPlan({ privateStore, run: fleet.run, phase: 'compute' }))?.version ?? null)
