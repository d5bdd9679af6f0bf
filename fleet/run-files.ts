// The files of a run in the private store: the tasks that a coordinator gives to workers, and their results.
import pMap from 'p-map'
import { z } from 'zod'
import { EFFORTS } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { RUNS, removeFleetProgress } from '#storage/fleet-progress.ts'
import { PRIVATE_JSON, parseJson, readSound, toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'

/** What a run does, in this order. */
export const PHASES = ['compute', 'correlate', 'render'] as const
export type Phase = (typeof PHASES)[number]

/** What a name of a run may be: it is a segment of keys, and of the names of jobs. */
export const RUN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

/** Where a phase of a run is stored. */
export type Place = { readonly privateStore: ObjectStore; readonly run: string; readonly phase: Phase }

const planKey = ({ run, phase }: Place): string => `${RUNS}${run}/${phase}/plan.json`
const endKey = (run: string): string => `${RUNS}${run}/end.json`
const inputKey = (run: string, digest: string): string => `${RUNS}${run}/inputs/${digest}`
const resultKey = ({ run, phase }: Place, id: string): string => `${RUNS}${run}/${phase}/results/${id}`

const BYTES_HEADERS = { content_type: 'application/octet-stream' }

/** Requests to the store at a time, for small objects. */
export const REQUESTS = 16

const plan = z.object({
  plan_version: z.literal(2),
  /** The dataset version, an ISO instant. */
  version: z.string(),
  effort: z.enum(EFFORTS),
  /** Which code computes and renders: a digest that is equal for equal results (`cli/build/describe-code.ts`). */
  code: z.string(),
  /** Digest of the result of the first task, as the coordinator made it. */
  canary: z.string(),
  /** Each with the digest of its input. */
  tasks: z.array(z.object({ id: z.string(), input: z.string() })).min(1),
})

export type Plan = z.infer<typeof plan>
export type Task = Plan['tasks'][number]

export type Result = { readonly worker: string; readonly bytes: Uint8Array }

/** A run is over while it is worked on. */
export class RunOverError extends Error {
  override readonly name = 'RunOverError'
}

const OTHER_FORM =
  'has another form than this code writes: remove it, and start the build and its workers again'

/** The plan of a phase, or null if its coordinator has not written one, or the run is over. */
export const readPlan = (place: Place): Promise<Plan | null> =>
  readSound(place.privateStore, planKey(place), plan, OTHER_FORM)

/** False if the phase has another plan already. */
export async function savePlan(place: Place, plan: Plan): Promise<boolean> {
  const bytes = toJsonBytes(plan)
  if (await place.privateStore.create(planKey(place), bytes, PRIVATE_JSON)) return true
  const there = await place.privateStore.read(planKey(place))
  return there !== null && sha256(there) === sha256(bytes)
}

const end = z.object({ version: z.string().nullable() })

/** How a run ended: with the version that it published, null if that is none; null if it is not over. */
export const readEnd = (privateStore: ObjectStore, run: string): Promise<z.infer<typeof end> | null> =>
  readSound(privateStore, endKey(run), end, OTHER_FORM)

/** Records how a run ended, and removes its other files. */
export async function endRun(privateStore: ObjectStore, run: string, version: string | null): Promise<void> {
  await privateStore.create(endKey(run), toJsonBytes({ version }), PRIVATE_JSON)
  await removeFleetProgress(privateStore, run)
  const keys = (await privateStore.list(`${RUNS}${run}/`)).filter(key => key !== endKey(run))
  await pMap(keys, key => privateStore.remove(key), { concurrency: REQUESTS })
}

export async function saveInput(privateStore: ObjectStore, run: string, bytes: Uint8Array): Promise<string> {
  const digest = sha256(bytes)
  await privateStore.create(inputKey(run, digest), bytes, BYTES_HEADERS)
  return digest
}

/** An input by its digest. Throws a RunOverError if the run is over, and an error if the input is missing or damaged. */
export async function readInput({ privateStore, run }: Place, digest: string): Promise<Uint8Array> {
  const bytes = await privateStore.read(inputKey(run, digest))
  if (bytes !== null && sha256(bytes) === digest) return bytes
  if (bytes === null && (await privateStore.has(endKey(run))))
    throw new RunOverError(`the run ${run} is over`)
  throw new Error(
    `${privateStore.url}/${inputKey(run, digest)}, an input of the run ${run}, is ${bytes === null ? 'missing' : 'damaged'}: ` +
      `remove ${RUNS}${run}/ from the private store, and start the build and its workers again`,
  )
}

export const hasResult = (place: Place, id: string): Promise<boolean> =>
  place.privateStore.has(resultKey(place, id))

export const listDone = async (place: Place): Promise<string[]> =>
  (await place.privateStore.list(resultKey(place, ''))).map(key => key.slice(resultKey(place, '').length))

/**
 * Stores the result of a task. If another worker was faster, its result stays, and must be the same: else it throws, and names both. One
 * that comes after the end of the run is removed, because `endRun` may not have seen it.
 */
export async function saveResult(place: Place, id: string, { worker, bytes }: Result): Promise<void> {
  const { privateStore, run, phase } = place
  const head = new TextEncoder().encode(`${JSON.stringify({ worker, sha256: sha256(bytes) })}\n`)
  const isNew = await privateStore.create(resultKey(place, id), Buffer.concat([head, bytes]), BYTES_HEADERS)
  if (await privateStore.has(endKey(run))) return privateStore.remove(resultKey(place, id))
  if (isNew) return
  const first = await readResult(place, id)
  if (sha256(first.bytes) === sha256(bytes)) return
  throw new Error(
    `the workers ${first.worker} and ${worker} have made other bytes of ${id} (${phase}): find out which of the two is wrong, and ` +
      'build under a new --run and a new --version',
  )
}

const head = z.object({ worker: z.string(), sha256: z.string() })

/** The result of a task that is done. Throws if it is missing or damaged. */
export async function readResult(place: Place, id: string): Promise<Result> {
  const { privateStore } = place
  const found = await privateStore.read(resultKey(place, id))
  const lineEnd = (found?.indexOf('\n'.charCodeAt(0)) ?? -1) + 1
  const said = head.safeParse(found && parseJson(found.subarray(0, lineEnd))).data
  const bytes = found?.subarray(lineEnd)
  if (bytes !== undefined && said !== undefined && sha256(bytes) === said.sha256)
    return { worker: said.worker, bytes }
  throw new Error(
    `${privateStore.url}/${resultKey(place, id)} is ${found === null ? 'missing' : 'damaged'}: remove it, and start the build again`,
  )
}
