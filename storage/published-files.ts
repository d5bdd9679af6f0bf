// What is read back of a published version, each file checked against its digest: manifest, snapshot, program.
import { z } from 'zod'
import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { type CurrentVersion, type Manifest, manifest } from '#core/contract/manifest.ts'
import { textOrNull } from '#core/contract/payloads/field.ts'
import { SNAPSHOT_FILES, type SnapshotBytes, type SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { type ProgramData, parseProgramDataFile } from '#core/program/program.ts'
import { sha256 } from './digest.ts'
import { parseJson } from './json-bytes.ts'
import { sha256InTurns } from './measure.ts'
import type { ObjectStore } from './object-store.ts'

// The files of a program in the private store. A version's manifest names their index by its digest, the
// index each file.

/** The records that leave through the signals service as they are stored. */
export const PROGRAM_RECORDS = [
  'preview',
  'manifest',
  'basket',
  'deploys',
  'performance-dca',
  'performance-hodl',
  'performance-lump_sum',
] as const
type ProgramRecord = (typeof PROGRAM_RECORDS)[number]

/** Beside the records: what simulations and personal baskets are computed from. */
export const PROGRAM_FILES = ['data', ...PROGRAM_RECORDS] as const
export type ProgramFile = (typeof PROGRAM_FILES)[number]

export const PROGRAM_INDEX = 'program/index.json'

/** `program/basket.json`: the name of a file of a program among the private files of its version. */
export const programFileName = (file: ProgramFile): string => `program/${file}.json`

export const PROGRAM_FORMAT = 1

export const programIndex = z.object({
  format_version: z.literal(PROGRAM_FORMAT),
  alias: z.string(),
  salt: textOrNull(
    'Keeps anybody from trying guesses at the digest of this index; null where nothing is signed.',
  ),
  files: z.array(z.object({ name: z.enum(PROGRAM_FILES), bytes: z.int(), sha256: z.string() })),
})

export type ProgramIndex = z.infer<typeof programIndex>

/** A published object is missing, altered or of another form: trying again does not help. An outage is a StoreError instead. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

/**
 * The manifest that a pointer entry names, or what is wrong: `what` completes a sentence that begins with its key. Throws a
 * StoreError if the store does not answer.
 */
export async function findManifest(
  store: Pick<ObjectStore, 'read'>,
  { version, manifest_sha256 }: CurrentVersion,
) {
  const isWrong = <Fault extends string>(fault: Fault, what: string) => ({ fault, what })
  const bytes = await store.read(manifestKey(version))
  if (bytes === null) return isWrong('missing', 'is missing')
  if (sha256(bytes) !== manifest_sha256) return isWrong('altered', 'is not the one that was published')
  const parsed = manifest.safeParse(parseJson(bytes))
  if (!parsed.success) return isWrong('of another form', 'has another form: update the program')
  const of = parsed.data.version
  if (of !== version) return isWrong('of another version', `is that of ${of}`)
  return { fault: null, manifest: parsed.data }
}

/** The same for callers that need it. Throws an UnreadableError with the remedy. */
export async function readManifest(store: ObjectStore, current: CurrentVersion): Promise<Manifest> {
  const found = await findManifest(store, current)
  if (found.fault === null) return found.manifest
  throw new UnreadableError(
    `${store.url}/${manifestKey(current.version)} ${found.what}; restore it from a copy, or roll back to another ` +
      'version',
  )
}

/** That of `without` is not read, and empty. Throws an UnreadableError for a missing or altered one, a StoreError for an outage. */
export async function readSnapshotFiles(
  privateStore: ObjectStore,
  { version, snapshot }: Pick<Manifest, 'version' | 'snapshot'>,
  without: SnapshotFile | null = null,
): Promise<SnapshotBytes> {
  const read = async ([file, name]: [string, string]) => {
    if (file === without) return [file, new Uint8Array()] as const
    const bytes = await readPrivateFile(privateStore, privateKey(version, name), snapshot[name])
    return [file, bytes] as const
  }
  const files = await Promise.all(Object.entries(SNAPSHOT_FILES).map(read))
  return Object.fromEntries(files) as SnapshotBytes // one entry a file
}

/** Throws an UnreadableError if the file is missing or altered, and a StoreError if the store does not answer. */
async function readPrivateFile(privateStore: ObjectStore, key: string, digest: string | undefined) {
  const bytes = await privateStore.read(key)
  if (bytes !== null && (await sha256InTurns(bytes)) === digest) return bytes
  const what = bytes === null ? 'is missing' : 'is not the file that was published'
  throw new UnreadableError(
    `${privateStore.url}/${key} ${what}: restore it from a copy, or name the private store that has it`,
  )
}

/** A program as a version published it, with what its page says of that version. */
export type ServedProgram = StoredProgram & { readonly dataset: DatasetFacts }

export type StoredProgram = {
  readonly version: string
  readonly alias: string
  readonly data: ProgramData
  /** Each record as it was published, to the byte. */
  readonly documents: Readonly<Record<ProgramRecord, Uint8Array>>
}

/** Null without a program. Throws an UnreadableError for a missing, altered or other file, a StoreError if the store is away. */
export async function readProgram(
  privateStore: ObjectStore,
  { version, program_sha256 }: Pick<Manifest, 'version' | 'program_sha256'>,
): Promise<StoredProgram | null> {
  if (program_sha256 === null) return null
  const keyOf = (name: string): string => privateKey(version, name)
  const index = await readChecked(privateStore, keyOf(PROGRAM_INDEX), programIndex, program_sha256)
  const digests = new Map(index.files.map(({ name, sha256 }) => [name, sha256]))
  const read = async (file: ProgramFile) => {
    const bytes = await readPrivateFile(privateStore, keyOf(programFileName(file)), digests.get(file))
    return [file, bytes] as const
  }
  const files = Object.fromEntries(await Promise.all(PROGRAM_FILES.map(read)))
  const { data: dataBytes, ...documents } = files as Record<ProgramFile, Uint8Array> // one entry a file
  const data = parseProgramDataFile(parseJson(dataBytes))
  if (data === null || data.plan.alias !== index.alias)
    throw otherForm(privateStore, keyOf(programFileName('data')))
  return { version, alias: index.alias, data, documents }
}

const datasetFacts = z.object({
  name: z.string(),
  version: z.string(),
  disclaimer: z.string(),
  methodology_url: z.string(),
  public_url: z.string().nullable().default(null),
  synthetic: z.boolean().default(false),
  embargo_days: z.number().default(0),
})
export type DatasetFacts = Readonly<z.infer<typeof datasetFacts>>

const snapshotFacts = z.object({
  dataset: datasetFacts,
  strategies: z.array(z.object({ id: z.string(), base_risk_pct: z.number() })),
})

/** What the private snapshot of a version says of it as a whole and of each strategy. Throws as `readProgram` does. */
export async function readSnapshotFacts(
  privateStore: ObjectStore,
  { version, snapshot }: Pick<Manifest, 'version' | 'snapshot'>,
): Promise<z.infer<typeof snapshotFacts>> {
  const name = SNAPSHOT_FILES.document
  return readChecked(privateStore, privateKey(version, name), snapshotFacts, snapshot[name])
}

async function readChecked<T>(privateStore: ObjectStore, key: string, schema: z.ZodType<T>, digest?: string) {
  const document = schema.safeParse(parseJson(await readPrivateFile(privateStore, key, digest)))
  if (document.success) return document.data
  throw otherForm(privateStore, key)
}

const otherForm = ({ url }: ObjectStore, key: string): UnreadableError =>
  new UnreadableError(`${url}/${key} has another form: update the program`)
