import { manifestKey } from '#core/contract/artifacts.ts'
import { type CurrentVersion, type Manifest, manifest } from '#core/contract/manifest.ts'
import { sha256 } from './digest.ts'
import type { ObjectStore } from './object-store.ts'
import { parseJson } from './parse-json.ts'

/**
 * A published object that is missing, altered or of another form: the store itself answers, so trying again
 * does not help. An outage is a StoreError, and never this.
 */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

/** The manifest, or what is wrong: `what` completes a sentence that begins with its key. */
type FoundManifest =
  | { readonly fault: null; readonly manifest: Manifest }
  | {
      readonly fault: 'missing' | 'altered' | 'of another form' | 'of another version'
      readonly what: string
    }

/** Reads the manifest that a pointer entry names. Throws a StoreError if the store does not answer. */
export async function findManifest(
  store: Pick<ObjectStore, 'read'>,
  { version, manifest_sha256 }: CurrentVersion,
): Promise<FoundManifest> {
  const bytes = await store.read(manifestKey(version))
  if (bytes === null) return { fault: 'missing', what: 'is missing' }
  if (sha256(bytes) !== manifest_sha256)
    return { fault: 'altered', what: 'is not the one that was published' }
  const parsed = manifest.safeParse(parseJson(bytes))
  if (!parsed.success) {
    return { fault: 'of another form', what: 'has another form: update the program' }
  }
  const of = parsed.data.version
  if (of !== version) return { fault: 'of another version', what: `is that of ${of}` }
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
