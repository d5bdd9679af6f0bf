// What each stored object is held to before anybody is told to keep it for ever: the pointer log, which is in memory.
import { manifestKey } from '#core/contract/artifacts.ts'
import { type FileRoute, KEYS_KEY } from '#core/contract/file-routes.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { publicKeys } from '#core/contract/public-keys.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { findManifest } from '#storage/published-manifest.ts'
import { isSignedBy } from '#storage/signature.ts'
import { findPublication, type History } from './history.ts'

/** Whether some bytes are those that were published. */
type Prove = (bytes: Uint8Array, store: ObjectStore) => boolean | Promise<boolean>

/** How the object of a route is proven; null where nothing is known to hold it to, or it may change. */
export function proofOf({ proof }: FileRoute, variable: string, history: History | null): Prove | null {
  if (proof === null || history === null) return null
  if (proof === 'entry') return ofEntry(Number(variable), history)
  if (proof === 'signature of entry') return ofEntrySignature(variable, history)
  const publication = findPublication(history, variable)
  if (proof === 'manifest') return bytes => sha256(bytes) === publication.manifest_sha256
  if (proof === 'signature of manifest') {
    return (bytes, store) => isSignature(store, manifestKey(publication.version), bytes)
  }
  return async (bytes, store) => {
    const found = await findManifest(store, publication)
    return found.fault === null && found.manifest.documents[proof] === sha256(bytes)
  }
}

/** An entry that was appended a moment ago is not known yet. */
function ofEntry(seq: number, { log }: History): Prove | null {
  const known = log[seq - 1]
  return known === undefined ? null : bytes => sha256(bytes) === known.sha256
}

function ofEntrySignature(digest: string, { log }: History): Prove | null {
  const signed = log.find(entry => entry.sha256 === digest)
  return signed === undefined
    ? null
    : (bytes, store) => isSignature(store, pointerKey(signed.entry.seq), bytes)
}

/** Whether one of the published keys has signed an object. */
async function isSignature(store: ObjectStore, key: string, signature: Uint8Array): Promise<boolean> {
  const [signed, keys] = [await store.read(key), await store.read(KEYS_KEY)]
  const known = publicKeys.safeParse(keys === null ? null : parseJson(keys))
  if (signed === null || !known.success) return false
  return known.data.keys.some(({ public_key_pem }) => isSignedBy(public_key_pem, signed, signature))
}
