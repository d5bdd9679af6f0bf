import type { FleetOrder } from '#fleet/open-fleet.ts'
import { RUN_NAME, readPlan } from '#fleet/run-files.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { redisAddress } from '../settings/environment.ts'
import { readBy, text } from '../settings/text.ts'
import { type OptionsOf, option } from './command.ts'

/** Seconds without a finished task after which the coordinator does what is missing. */
const DEFAULT_WAIT_S = 60
const LONGEST_WAIT_S = 86_400

export const runName = text.regex(RUN_NAME).describe("up to 64 letters, digits, '.', '_' and '-'")

/** Seconds from 0. */
export const seconds = (expected: string, most = Number.POSITIVE_INFINITY) =>
  readBy(given => (Number(given) >= 0 && Number(given) <= most ? Number(given) : null), expected)

export const FLEET_OPTIONS = {
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

type FleetOptions = OptionsOf<typeof FLEET_OPTIONS>

/** Null if the build has no fleet. */
export function toFleetOrder(
  { run, fleet, fleetWait = DEFAULT_WAIT_S }: FleetOptions,
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
