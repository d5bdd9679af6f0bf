import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { KEYS_KEY, type PublicKeys, publicKeys } from '#core/contract/file-routes.ts'
import { sha256 } from './digest.ts'
import { readDocument, toJsonBytes } from './json-bytes.ts'
import type { ObjectStore } from './object-store.ts'

/** What signs manifests and pointer entries. The key itself is never printed. */
export type Signer = ReturnType<typeof createSigner>

/** A signer from a private key in PEM form. Throws if the text is not an Ed25519 private key. */
export function createSigner(privateKeyPem: string) {
  const key = parseKey(privateKeyPem)
  const publicKey = createPublicKey(key)
  return {
    keyId: keyIdOf(publicKey),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    rawPublicKey: rawKeyOf(publicKey),
    /** The Ed25519 signature of the bytes, 64 bytes. */
    sign: (bytes: Uint8Array): Uint8Array => sign(null, bytes, key),
  }
}

/** The 32 bytes of a public key, which are the last of its DER form. */
export const rawKeyOf = (publicKey: KeyObject): Uint8Array =>
  publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)

function parseKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // The reason would quote the key.
  }
  throw new Error(
    'the signing key is not an Ed25519 private key in PEM form: create one with `highwater keys new FILE`',
  )
}

const fingerprintOf = (publicKey: KeyObject): string =>
  sha256(publicKey.export({ type: 'spki', format: 'der' }))

const keyIdOf = (publicKey: KeyObject): string => fingerprintOf(publicKey).slice(0, 16)

/** A public key with its names; null if a PEM text holds no Ed25519 public key. */
export function parsePublicKey(pem: string) {
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType !== 'ed25519') return null
    return { id: keyIdOf(key), fingerprint: fingerprintOf(key), pem }
  } catch {
    return null // whatever the reason: the text is none
  }
}

export const isSignedBy = (publicKeyPem: string, bytes: Uint8Array, signature: Uint8Array): boolean =>
  verify(null, bytes, createPublicKey(publicKeyPem), signature)

export const newPrivateKeyPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** The published keys, oldest first; none if nothing was signed. Throws if the object is damaged, or a key has another's name. */
export async function readKeys(store: ObjectStore): Promise<PublicKeys['keys']> {
  const found = await readDocument(store, KEYS_KEY, publicKeys)
  if (found === null) return []
  if (found?.keys.every(isKey)) return found.keys
  throw new Error(
    `${store.url}/${KEYS_KEY} is no list of Ed25519 public keys with their ids: restore it from a copy, and run the ` +
      'command again',
  )
}

const isKey = ({ id, public_key_pem }: PublicKeys['keys'][number]): boolean =>
  parsePublicKey(public_key_pem)?.id === id

/**
 * Makes sure that the public key of a signer is among those that are published. Keys are added and never
 * dropped: an old signature has to be verifiable for as long as its version is. To be called by one process
 * at a time, because two that read the same list would each write it without the key of the other: a process
 * that appends to the log holds its lock.
 */
export async function publishKey(store: ObjectStore, { keyId, publicKeyPem }: Signer): Promise<void> {
  const known = await readKeys(store)
  if (known.some(({ id }) => id === keyId)) return
  const added = { id: keyId, algorithm: 'Ed25519' as const, public_key_pem: publicKeyPem }
  await store.replace(KEYS_KEY, toJsonBytes({ keys: [...known, added] } satisfies PublicKeys), {
    content_type: 'application/json; charset=utf-8',
    cache_control: 'max-age=3600',
  })
}
