// How far the builds on a fleet are that are under way, in the private store: coordinators write it, the operator's page shows it.
import { z } from 'zod'
import { readDocument, replaceDocument } from './json-bytes.ts'
import type { ObjectStore } from './object-store.ts'

/** The folder of all runs in the private store: what is in it, `fleet/run-files.ts` says. */
export const RUNS = 'fleet/'

/** Apart from the files of runs, which are many: listing these is cheap. */
export const FLEET_PROGRESS = 'fleet-progress/'

const keyOf = (run: string): string => `${FLEET_PROGRESS}${run}.json`

export const fleetProgress = z
  .object({
    run: z.string().describe('Name of the run.'),
    dataset_version: z.string().describe('The version that it will publish.'),
    phase: z.string().describe('What it does now: `compute`, `correlate` or `render`.'),
    done: z.int().describe('Tasks of the phase that are done.'),
    total: z.int().describe('All tasks of the phase.'),
    workers: z
      .record(z.string(), z.int())
      .describe('Tasks of the phase that each worker has done, by its host and process.'),
    progressed_at: z
      .string()
      .describe('When the coordinator last saw that a task was done, or began the phase: a UTC instant.'),
  })
  .meta({ id: 'FleetProgress' })

export type FleetProgress = z.infer<typeof fleetProgress>

export const saveFleetProgress = (privateStore: ObjectStore, progress: FleetProgress): Promise<void> =>
  replaceDocument(privateStore, keyOf(progress.run), progress)

export const removeFleetProgress = (privateStore: ObjectStore, run: string): Promise<void> =>
  privateStore.remove(keyOf(run))

/** The builds that are under way, or were killed and not continued. */
export async function listFleetProgress(privateStore: ObjectStore): Promise<FleetProgress[]> {
  const keys = await privateStore.list(FLEET_PROGRESS)
  const found = await Promise.all(keys.map(key => readDocument(privateStore, key, fleetProgress)))
  return found.filter(each => each != null)
}
