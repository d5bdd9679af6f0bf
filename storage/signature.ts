import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { sha256 } from './digest.ts'

/** What signs manifests and pointer entries. The key itself is never printed. */
export type Signer = {
  /** Names the public key: the beginning of the digest of its DER form. */
  readonly keyId: string
  readonly publicKeyPem: string
  /** The Ed25519 signature of the bytes, 64 bytes. */
  readonly sign: (bytes: Uint8Array) => Uint8Array
}

/** A signer from a private key in PEM form. Throws if the text is not an Ed25519 private key. */
export function createSigner(privateKeyPem: string): Signer {
  const key = parseKey(privateKeyPem)
  const publicKey = createPublicKey(key)
  return {
    keyId: keyIdOf(publicKey),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign: bytes => sign(null, bytes, key),
  }
}

function parseKey(pem: string): KeyObject {
  const key = tryParse(pem)
  if (key?.asymmetricKeyType === 'ed25519') return key
  throw new Error(
    'the signing key is not an Ed25519 private key in PEM form: create one with `highwater keys new FILE`',
  )
}

const tryParse = (pem: string): KeyObject | null => {
  try {
    return createPrivateKey(pem)
  } catch {
    return null // the reason would quote the key
  }
}

const KEY_ID_DIGITS = 16

export const fingerprintOf = (publicKey: KeyObject): string =>
  sha256(publicKey.export({ type: 'spki', format: 'der' }))

export const keyIdOf = (publicKey: KeyObject): string => fingerprintOf(publicKey).slice(0, KEY_ID_DIGITS)

/** The Ed25519 public key that a PEM text holds, or null if it holds none. */
export function parsePublicKeyPem(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === 'ed25519' ? key : null
  } catch {
    return null // whatever the reason: the text is none
  }
}

export const isSignedBy = (publicKeyPem: string, bytes: Uint8Array, signature: Uint8Array): boolean =>
  verify(null, bytes, createPublicKey(publicKeyPem), signature)

export const newPrivateKeyPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
