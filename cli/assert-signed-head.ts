import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { POINTER_PREFIX, pointerKey, signatureKey } from '#core/contract/pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type LoggedEntry, readLog } from '#storage/pointer-log.ts'
import { readKeys } from '#storage/public-keys.ts'
import { isSignedBy, type Signer } from '#storage/signature.ts'
import type { SigningConsent } from './signing-options.ts'

/**
 * Who signs an entry vouches for the chain that ends in it. So whoever moves the pointer looks first at the entry that
 * it follows, and at its own key: a signature that no published key made, one that is missing although older entries have
 * theirs, a key that nobody has seen, and no key at all where the newest entry is signed are each refused, unless the
 * operator said so. To be called under the lock of the store, before anything is written.
 */
export async function assertSignedHead(
  store: ObjectStore,
  signer: Signer | null,
  consent: SigningConsent,
): Promise<void> {
  const log = await readLog(store)
  const head = log.at(-1)
  if (signer === null) {
    if (head !== undefined && !consent.allowUnsigned) await assertUnsigned(store, head)
    return
  }
  const keys = await readKeys(store)
  const isKnown = keys.length === 0 || keys.some(({ id }) => id === signer.keyId)
  if (!isKnown && !consent.allowNewKey) throw new Error(unknownKey(store, signer, keys))
  if (head === undefined || consent.vouchForHead) return
  const pems = [signer.publicKeyPem, ...keys.map(key => key.public_key_pem)]
  const fault = await faultOf(store, log, head, pems)
  if (fault !== null) throw new Error(notVouchedFor(store, head, fault))
}

/** A job that lost its environment would end the signatures of a log without anybody noticing. */
async function assertUnsigned(store: ObjectStore, { entry, sha256 }: LoggedEntry): Promise<void> {
  if ((await store.read(signatureKey(sha256))) === null) return
  throw new Error(
    `${nameOf(store, entry.seq)} is signed, and SIGNING_KEY_FILE names no key: nothing was published; set it to the ` +
      'file of the key, or end the signatures with --allow-unsigned, which every subscriber who verifies will see as a fault',
  )
}

/** What is wrong with the signature of the newest entry; null where nothing is. */
async function faultOf(
  store: ObjectStore,
  log: readonly LoggedEntry[],
  { entry, sha256 }: LoggedEntry,
  pems: readonly string[],
): Promise<string | null> {
  const signature = await store.read(signatureKey(sha256))
  if (signature === null) {
    return (await isAnySigned(store, log)) ? 'has no signature, and older ones have' : null
  }
  const bytes = await store.read(pointerKey(entry.seq))
  const isSigned = bytes !== null && pems.some(pem => isSignedBy(pem, bytes, signature))
  return isSigned ? null : 'has a signature that none of the published keys made'
}

async function isAnySigned(store: ObjectStore, log: readonly LoggedEntry[]): Promise<boolean> {
  const signatures = new Set(await store.list(`${POINTER_PREFIX}signatures/`))
  return log.some(({ sha256 }) => signatures.has(signatureKey(sha256)))
}

const nameOf = (store: ObjectStore, seq: number): string => `${store.url}/${pointerKey(seq)}`

const unknownKey = (
  store: ObjectStore,
  { keyId }: Signer,
  keys: readonly { readonly id: string }[],
): string =>
  `the key ${keyId} that SIGNING_KEY_FILE names is none of those that ${store.url}/${KEYS_KEY} publishes ` +
  `(${keys.map(({ id }) => id).join(', ')}): nothing was published; name the right file, or publish the key beside the ` +
  'others with --new-key, and tell subscribers its fingerprint'

const notVouchedFor = (store: ObjectStore, { entry }: LoggedEntry, what: string): string =>
  `${nameOf(store, entry.seq)} (${entry.action} ${entry.version}) ${what}: nothing was published; find out who wrote it, ` +
  'and restore its signature from a copy, or confirm it with `highwater refresh --vouch-for-head` if it is yours, or take ' +
  `it out of ${POINTER_PREFIX} if it is not`
