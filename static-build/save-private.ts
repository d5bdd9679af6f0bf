import { z } from 'zod'
import { privateKey } from '#core/contract/artifacts.ts'
import type { Entered } from '#core/dataset/entered.ts'
import {
  renderBasket,
  renderDeploys,
  renderManifest,
  renderPerformance,
  renderPreview,
} from '#core/dataset/resources/program/records.ts'
import { SNAPSHOT_FILES, type SnapshotBytes, type SnapshotFile } from '#core/dataset/snapshot-files.ts'
import { type ProgramData, toProgramDataFile } from '#core/program/program.ts'
import { sha256 } from '#storage/digest.ts'
import { PRIVATE_JSON, parseJson, toAnswerBytes, toJsonBytes } from '#storage/json-bytes.ts'
import { type ObjectStore, writeOnce } from '#storage/object-store.ts'
import {
  PROGRAM_FILES,
  PROGRAM_FORMAT,
  PROGRAM_INDEX,
  type ProgramFile,
  type ProgramIndex,
  programFileName,
} from '#storage/published-files.ts'
import type { Signer } from '#storage/signature.ts'

const ARROW_HEADERS = { content_type: 'application/vnd.apache.arrow.file' }

/** Returns the digest. */
async function save(store: ObjectStore, key: string, bytes: Uint8Array, headers = PRIVATE_JSON) {
  await writeOnce(store, key, bytes, headers)
  return sha256(bytes)
}

/** Writes what is private of a version, and returns what its manifest says of that. */
export async function savePrivate(
  privateStore: ObjectStore,
  { version, entered }: Entered,
  bytes: SnapshotBytes,
  { inputs, program, signer }: PrivateRecords,
) {
  if (entered !== null) await saveEntryTime(privateStore, version, entered)
  const digests = await saveSnapshot(privateStore, version, bytes)
  const commitments = {
    inputs_sha256: await saveInputs(privateStore, version, inputs, signer),
    program_sha256: await saveProgram(privateStore, version, program, signer),
  }
  return { digests, commitments }
}

type PrivateRecords = {
  readonly inputs: object
  readonly program: ProgramData | null
  readonly signer: Signer | null
}

/** Written before anything else of a version, so that its build can be continued. */
export const saveEntryTime = (privateStore: ObjectStore, version: string, entered: string): Promise<string> =>
  save(privateStore, privateKey(version, ENTRY_TIME), toJsonBytes({ entered }))

/** The start of a build that began to write a version; null if none did, or its name was the truth. */
export async function readEntryTime(privateStore: ObjectStore, version: string): Promise<string | null> {
  const bytes = await privateStore.read(privateKey(version, ENTRY_TIME))
  return bytes === null ? null : z.object({ entered: z.string() }).parse(parseJson(bytes)).entered
}

const ENTRY_TIME = 'entered.json'

/** Writes the files of a snapshot to the private store and returns the digest of each, by file name. */
export async function saveSnapshot(privateStore: ObjectStore, version: string, bytes: SnapshotBytes) {
  const digests: Record<string, string> = {}
  for (const [file, name] of Object.entries(SNAPSHOT_FILES) as [SnapshotFile, string][]) {
    const headers = file === 'document' ? PRIVATE_JSON : ARROW_HEADERS
    digests[name] = await save(privateStore, privateKey(version, name), bytes[file], headers)
  }
  return digests
}

/**
 * Writes the files of a program to the private store, last their index, and returns its digest; null if there
 * is no program. The index is salted like the record of the inputs, because a basket follows from prices that
 * everybody has and from a handful of parameters that can be guessed. Without a signing key there is no salt,
 * and the digest binds all the same.
 */
async function saveProgram(
  privateStore: ObjectStore,
  version: string,
  program: ProgramData | null,
  signer: Signer | null,
): Promise<string | null> {
  if (program === null) return null
  const documents = programDocuments(program, version)
  const files: ProgramIndex['files'] = []
  for (const name of PROGRAM_FILES) {
    const bytes = toAnswerBytes(documents[name])
    const digest = await save(privateStore, privateKey(version, programFileName(name)), bytes)
    files.push({ name, bytes: bytes.length, sha256: digest })
  }
  const { alias } = program.plan
  const salt = signer && saltOf(signer, 'program', version)
  const index = toJsonBytes({ format_version: PROGRAM_FORMAT, alias, salt, files } satisfies ProgramIndex)
  return save(privateStore, privateKey(version, PROGRAM_INDEX), index)
}

/** Everything that is stored of a program: its data, and the records that leave as they are. */
export function programDocuments(data: ProgramData, version: string): Readonly<Record<ProgramFile, object>> {
  const { reference_equity_usd: equity_usd, contribution_cadence_bars } = data.plan
  return {
    data: toProgramDataFile(data),
    preview: renderPreview(data),
    manifest: renderManifest(data, version),
    basket: renderBasket(data, 'reference', { equity_usd, contribution_cadence_bars }),
    deploys: renderDeploys(data),
    'performance-dca': renderPerformance(data, 'dca'),
    'performance-hodl': renderPerformance(data, 'hodl'),
    'performance-lump_sum': renderPerformance(data, 'lump_sum'),
  }
}

/**
 * Writes the private record of what a version was made of: the same for every build of the same book. The
 * digest that is returned commits the operator to it in public: anyone who sees the record later can check
 * that it is the same. The salt in it keeps anybody from trying guesses; it follows from the signing key, so
 * that a build that was killed makes it again. Null without a key, because then there is no salt.
 */
export async function saveInputs(
  privateStore: ObjectStore,
  version: string,
  inputs: object,
  signer: Signer | null,
): Promise<string | null> {
  const salt = signer && saltOf(signer, 'inputs', version)
  const bytes = toJsonBytes({ version, salt, ...inputs })
  const digest = await save(privateStore, privateKey(version, 'inputs.json'), bytes)
  return salt === null ? null : digest
}

/**
 * Keeps anybody from trying guesses at the digest of a private record. Nobody without the key can make this
 * signature, and it reveals nothing about the key. No document begins like its text.
 */
const saltOf = (signer: Signer, record: 'inputs' | 'program', version: string): string =>
  sha256(signer.sign(new TextEncoder().encode(`salt of the ${record} of ${version}`)))
