import { privateKey } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import { type Check, type Fault, toCheck } from './check.ts'

/**
 * Checks the private snapshot of a version against the digests in its manifest. If the private store was not
 * named and has no file of the version, only a copy of the public store is audited: a note.
 */
export async function auditSnapshot(
  privateStore: ObjectStore,
  { version, snapshot }: Manifest,
  isNamed: boolean,
): Promise<Check> {
  const files = Object.entries(snapshot)
  const found = await Promise.all(
    files.map(([name, digest]) => readPrivate(privateStore, privateKey(version, name), digest)),
  )
  const faults = found.filter(isFault)
  const isAbsent = files.length > 0 && faults.length === files.length && faults.every(isAway)
  if (isNamed || !isAbsent) return toCheck('snapshot', version, `${files.length} private files`, faults)
  const note = `the snapshot of ${version} is not in ${privateStore.url}, and was not looked at: name its store with --private-store`
  return toCheck('snapshot', version, 'not looked at', [], [note])
}

const isAway = ({ what }: Fault): boolean => what === 'missing' || what === 'unreadable'

export const isFault = (found: Uint8Array | Fault): found is Fault => !(found instanceof Uint8Array)

/** Checks a private file: its bytes, or what is wrong with it. */
export async function readPrivate(
  store: ObjectStore,
  key: string,
  digest: string,
): Promise<Uint8Array | Fault> {
  const object = `${store.url}/${key}`
  try {
    const bytes = await store.read(key)
    if (bytes === null) return { object, what: 'missing', told: `${object} is missing` }
    if (sha256(bytes) === digest) return bytes
    return {
      object,
      what: 'altered',
      told: `${object} is altered: its digest is not the one in the manifest`,
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { object, what: 'unreadable', told: error.message }
  }
}
