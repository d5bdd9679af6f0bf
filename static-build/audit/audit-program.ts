import { privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { PROGRAM_INDEX, programFileName, programIndex } from '#core/contract/program-files.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { isFault, readPrivate } from './audit-snapshot.ts'
import { type Check, toCheck } from './check.ts'

/** The private files of a version's program, held to their index, and the index to the manifest; null without one. */
export async function auditProgram(
  privateStore: ObjectStore,
  { version, program_sha256 }: Manifest,
): Promise<Check | null> {
  if (program_sha256 === null) return null
  const indexKey = privateKey(version, PROGRAM_INDEX)
  const bytes = await readPrivate(privateStore, indexKey, program_sha256)
  if (isFault(bytes)) return toCheck('program', version, NOT_HAD, [bytes])
  const index = programIndex.safeParse(parseJson(bytes))
  if (!index.success) {
    const object = `${privateStore.url}/${indexKey}`
    const told = `${object} has another form: update the program`
    return toCheck('program', version, NOT_HAD, [{ object, what: 'of another form', told }])
  }
  const { files } = index.data
  const found = await Promise.all(
    files.map(({ name, sha256 }) =>
      readPrivate(privateStore, privateKey(version, programFileName(name)), sha256),
    ),
  )
  const faults = found.filter(isFault)
  return toCheck('program', version, `${files.length + 1} private files of the program`, faults)
}

const NOT_HAD = 'its index cannot be had, so nothing of it was looked at'
