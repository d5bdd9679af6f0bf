// The files of a run in the private store: what the coordinator and the workers of a fleet tell each other.
import { z } from 'zod'
import { EFFORTS } from '#core/contract/effort.ts'
import { artifact } from '#core/contract/manifest.ts'
import { SNAPSHOT_FILES, type SnapshotBytes, type SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { inLanes } from '../render-version.ts'

/** What a name of a run may be: it is a segment of keys, and of the names of jobs. */
export const RUN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

/** The folder of all runs in the private store. */
export const RUNS = 'fleet/'

const planKey = (run: string): string => `${RUNS}${run}/plan.json`
const endKey = (run: string): string => `${RUNS}${run}/end.json`
const partKey = (run: string, digest: string): string => `${RUNS}${run}/parts/${digest}`
const linesPrefix = (run: string): string => `${RUNS}${run}/lines/`
const linesKey = (run: string, id: string): string => `${linesPrefix(run)}${id}.json`

const JSON_HEADERS = { content_type: 'application/json' }
const BYTES_HEADERS = { content_type: 'application/octet-stream' }

/** Requests to the store at a time, for small objects. */
export const REQUESTS = 16

const plan = z.object({
  plan_version: z.literal(1),
  /** The dataset version, an ISO instant. */
  version: z.string(),
  effort: z.enum(EFFORTS),
  /** Which code renders: a digest that is equal for equal bytes (`cli/fleet.ts`). */
  code: z.string(),
  /** Digest of the lines of the first strategy, as the coordinator rendered it. */
  canary: z.string(),
  /** In catalogue order, each with the digest of its part. */
  strategies: z.array(z.object({ id: z.string(), part: z.string() })).min(1),
})

export type Plan = z.infer<typeof plan>
export type PlannedStrategy = Plan['strategies'][number]

const lines = z.object({
  /** The name of the worker that rendered the strategy. */
  worker: z.string(),
  artifacts: z.array(artifact),
})

export type Lines = z.infer<typeof lines>

const end = z.object({ version: z.string() })

/** The plan of a run, or null if its coordinator has not written one, or it is over. */
export const readPlan = (privateStore: ObjectStore, run: string): Promise<Plan | null> =>
  readJson(privateStore, planKey(run), plan)

/** False if the run has another plan already. */
export async function savePlan(privateStore: ObjectStore, run: string, plan: Plan): Promise<boolean> {
  const bytes = toJsonBytes(plan)
  if (await privateStore.create(planKey(run), bytes, JSON_HEADERS)) return true
  const there = await privateStore.read(planKey(run))
  return there !== null && sha256(there) === sha256(bytes)
}

/** The version that a run published, or null if it is not over. */
export const readEnd = async (privateStore: ObjectStore, run: string): Promise<string | null> =>
  (await readJson(privateStore, endKey(run), end))?.version ?? null

/** Records that a run has published its version, and removes its other files. */
export async function endRun(privateStore: ObjectStore, run: string, version: string): Promise<void> {
  await privateStore.create(endKey(run), toJsonBytes({ version }), JSON_HEADERS)
  const keys = (await privateStore.list(`${RUNS}${run}/`)).filter(key => key !== endKey(run))
  await inLanes(keys, REQUESTS, key => privateStore.remove(key))
}

/** Stores a part and returns its digest. */
export async function savePart(privateStore: ObjectStore, run: string, part: SnapshotBytes): Promise<string> {
  const bytes = packPart(part)
  const digest = sha256(bytes)
  await privateStore.create(partKey(run, digest), bytes, BYTES_HEADERS)
  return digest
}

/** The part of a strategy, or null if the run is over. Throws if it is missing or damaged. */
export async function readPart(
  privateStore: ObjectStore,
  run: string,
  { id, part }: PlannedStrategy,
): Promise<SnapshotBytes | null> {
  const bytes = await privateStore.read(partKey(run, part))
  if (bytes !== null && sha256(bytes) === part) return unpackPart(bytes)
  if (bytes === null && (await privateStore.has(endKey(run)))) return null
  throw new Error(
    `${privateStore.url}/${partKey(run, part)}, the part of ${id}, is ${bytes === null ? 'missing' : 'damaged'}: remove ` +
      `${RUNS}${run}/ from the private store, and start the build and its workers again`,
  )
}

/** Whether a strategy of a run is rendered. */
export const hasLines = (privateStore: ObjectStore, run: string, id: string): Promise<boolean> =>
  privateStore.has(linesKey(run, id))

/** The ids of the strategies of a run that are rendered. */
export const listRendered = async (privateStore: ObjectStore, run: string): Promise<string[]> =>
  (await privateStore.list(linesPrefix(run))).map(key => key.slice(linesPrefix(run).length, -'.json'.length))

/**
 * Records that all files of a strategy are written. If another worker was faster, its record stays: it wrote the same
 * files. One that comes after the end of the run is removed, because `endRun` may not have seen it.
 */
export async function saveLines(
  privateStore: ObjectStore,
  run: string,
  id: string,
  lines: Lines,
): Promise<void> {
  await privateStore.create(linesKey(run, id), toJsonBytes(lines), JSON_HEADERS)
  if (await privateStore.has(endKey(run))) await privateStore.remove(linesKey(run, id))
}

/** The lines of a strategy. Throws if they are missing or damaged. */
export async function readLines(privateStore: ObjectStore, run: string, id: string): Promise<Lines> {
  const found = await readJson(privateStore, linesKey(run, id), lines)
  if (found !== null) return found
  throw new Error(`${privateStore.url}/${linesKey(run, id)} has gone: start the build again`)
}

async function readJson<T>(store: ObjectStore, key: string, schema: z.ZodType<T>): Promise<T | null> {
  const bytes = await store.read(key)
  if (bytes === null) return null
  const parsed = schema.safeParse(parseJson(bytes))
  if (parsed.success) return parsed.data
  throw new Error(
    `${store.url}/${key} has another form than this code writes: remove it, and start the build and its workers again`,
  )
}

const FILES = Object.keys(SNAPSHOT_FILES) as SnapshotFile[] // keyof of a literal

/** The files of a part as one object: a line with their lengths, then their bytes. */
function packPart(part: SnapshotBytes): Uint8Array {
  const lengths = FILES.map(file => part[file].length).join(' ')
  return Buffer.concat([Buffer.from(`${lengths}\n`), ...FILES.map(file => part[file])])
}

/** The files are copies, so that a thread gets each of them and no more. */
function unpackPart(bytes: Uint8Array): SnapshotBytes {
  let at = bytes.indexOf('\n'.charCodeAt(0)) + 1
  const lengths = new TextDecoder().decode(bytes.subarray(0, at)).split(' ').map(Number)
  const files = FILES.map((file, i) => {
    const own = new Uint8Array(bytes.subarray(at, at + lengths[i]!))
    at += own.length
    return [file, own]
  })
  return Object.fromEntries(files) as SnapshotBytes // one entry a file
}
