import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { publicKeys } from '#core/contract/public-keys.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type LoggedEntry, readLog } from '#storage/pointer-log.ts'
import { isSignedBy, type Signer } from '#storage/signature.ts'

/**
 * Who signs an entry vouches for the chain that ends in it. So a build that signs looks at the entry that it follows:
 * one whose signature is wrong, or missing although an older entry has one, was not written by a publisher who had the
 * key. The own key counts, and every published one, because keys change.
 */
export async function assertSignedHead(store: ObjectStore, signer: Signer | null): Promise<void> {
  if (signer === null) return
  const log = await readLog(store)
  const head = log.at(-1)
  if (head === undefined) return
  const signature = await store.read(signatureKey(head.sha256))
  if (signature === null) {
    if (await isAnySigned(store, log))
      throw new Error(sentence(store, head, 'has no signature, and older ones have'))
    return
  }
  const bytes = await store.read(pointerKey(head.entry.seq))
  const pems = [signer.publicKeyPem, ...(await publishedPems(store))]
  if (bytes !== null && pems.some(pem => isSignedBy(pem, bytes, signature))) return
  throw new Error(sentence(store, head, 'has a signature that none of the published keys made'))
}

const sentence = (store: ObjectStore, { entry }: LoggedEntry, what: string): string =>
  `${store.url}/${pointerKey(entry.seq)} (${entry.action} ${entry.version}) ${what}: nothing was published; find out ` +
  'who wrote it, restore its signature from a copy, or sign it anew with `highwater refresh` if it is yours'

async function isAnySigned(store: ObjectStore, log: readonly LoggedEntry[]): Promise<boolean> {
  for (const { sha256 } of log) if ((await store.read(signatureKey(sha256))) !== null) return true
  return false
}

async function publishedPems(store: ObjectStore): Promise<readonly string[]> {
  const bytes = await store.read(KEYS_KEY)
  if (bytes === null) return []
  return publicKeys.parse(JSON.parse(new TextDecoder().decode(bytes))).keys.map(key => key.public_key_pem)
}
