import { z } from 'zod'
import { privateKey } from '#core/contract/artifacts.ts'
import type { CurrentVersion, Manifest } from '#core/contract/manifest.ts'
import {
  PROGRAM_FILES,
  PROGRAM_INDEX,
  type ProgramFile,
  type ProgramRecord,
  programFileName,
  programIndex,
} from '#core/contract/program-files.ts'
import { SNAPSHOT_FILES } from '#core/dataset/snapshot-files.ts'
import { type ProgramData, parseProgramDataFile } from '#core/program/program.ts'
import type { ObjectStore, Stores } from './object-store.ts'
import { parseJson } from './parse-json.ts'
import { readManifest, UnreadableError } from './published-manifest.ts'
import { readPrivateFile } from './snapshot-files.ts'

/** A program as a version published it, with what its page says of that version. */
export type ServedProgram = StoredProgram & { readonly dataset: DatasetFacts }

export type StoredProgram = {
  readonly version: string
  readonly alias: string
  readonly data: ProgramData
  /** Each record as it was published, to the byte. */
  readonly documents: Readonly<Record<ProgramRecord, Uint8Array>>
}

/**
 * The program of a published version, each file checked against its digest; null if the version has none.
 * Throws an UnreadableError if a file is missing, altered or of another form, and a StoreError if a store
 * does not answer.
 */
export const readProgram = async (
  { store, privateStore }: Stores,
  current: CurrentVersion,
): Promise<StoredProgram | null> => readProgramOf(privateStore, await readManifest(store, current))

/** The same for a version with a known manifest. */
export async function readProgramOf(
  privateStore: ObjectStore,
  { version, program_sha256 }: Pick<Manifest, 'version' | 'program_sha256'>,
): Promise<StoredProgram | null> {
  if (program_sha256 === null) return null
  const keyOf = (name: string): string => privateKey(version, name)
  const index = await readDocument(privateStore, keyOf(PROGRAM_INDEX), program_sha256, programIndex)
  const digests = new Map(index.files.map(({ name, sha256 }) => [name, sha256]))
  const read = async (file: ProgramFile) => {
    const bytes = await readPrivateFile(privateStore, keyOf(programFileName(file)), digests.get(file))
    return [file, bytes] as const
  }
  const files = Object.fromEntries(await Promise.all(PROGRAM_FILES.map(read))) as Record<
    ProgramFile,
    Uint8Array
  > // one entry a file
  const { data: dataBytes, ...documents } = files
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
  return readDocument(privateStore, privateKey(version, name), snapshot[name], snapshotFacts)
}

async function readDocument<T>(
  privateStore: ObjectStore,
  key: string,
  digest: string | undefined,
  schema: z.ZodType<T>,
): Promise<T> {
  const document = schema.safeParse(parseJson(await readPrivateFile(privateStore, key, digest)))
  if (document.success) return document.data
  throw otherForm(privateStore, key)
}

const otherForm = ({ url }: ObjectStore, key: string): UnreadableError =>
  new UnreadableError(`${url}/${key} has another form: update the program`)
